"""The graders of waza as checks and expectations."""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from warnings import catch_warnings

from scoregate.kernel.types.skill_findings import show
from scoregate.kernel.types.skill_formats.case_graders import CaseGraders
from scoregate.kernel.types.skill_formats.fields import CaseReader, Fields
from scoregate.kernel.types.skill_formats.place import CasesPlace

_ABOVE = ("type", "name", "config")
_UNUSED = ("weight", "model", "description")
_TEXT = {
    "contains": ("contains", {"ignore_case": True}),
    "not_contains": ("contains", {"ignore_case": True, "negated": True}),
    "contains_cs": ("contains", {}),
    "not_contains_cs": ("contains", {"negated": True}),
    "regex_match": ("matches", {}),
    "regex_not_match": ("matches", {"negated": True}),
}
_SEQUENCES = {
    "exact_match": "exact",
    "in_order_match": "in_order",
    "any_order_match": "superset",
    "in_order": "in_order",
    "any_order": "superset",
}
_TOOL = ("tool", "command_pattern", "skill_pattern", "path_pattern")
_FIXTURES = "fixtures"
# What an assertion of `code` may use. waza also has `transcript`, `errors`, `outcome` and `tool_calls`.
_NAMES = {"output", "duration_ms", "len", "any", "all", "re", "str", "int", "float", "bool", "list", "dict"}
_PROMPT = (
    "The output satisfies these instructions for a grader. Where they ask for a call of set_waza_grade_pass, it is "
    "satisfied; where they ask for set_waza_grade_fail, it is not. The instructions: "
)


class WazaGraders:
    """Reads the graders of a file of waza."""

    def __init__(self, reader: CaseReader, place: CasesPlace) -> None:
        """Start.

        Args:
            reader: collects problems, and the files that graders use.
            place: where the file of cases is.
        """
        self._reader = reader
        self._place = place

    def read(self, parent: Fields, graders: CaseGraders) -> None:
        """Read the field `graders` of a mapping."""
        for fields in parent.read_items("graders"):
            name = fields.read_text("name") or ""
            kind = fields.read_text("type", required=True) or ""
            label = f"grader {name:.80}" if name else f"grader {kind:.80}"
            fields.check(("script", "rubric", "assertions", *_ABOVE), _UNUSED)
            graders.refuse_fields(fields, f"{label}: ", ("script", "rubric", "assertions"))
            if kind not in _KINDS:
                if kind:
                    graders.refuse(fields, label, f"scoregate can't measure graders of type {show(kind)}")
                continue
            config = fields.read_fields("config")
            if config is None:
                graders.refuse(fields, label, "it has no config")
                continue
            before = len(graders.graders) + len(graders.expectations) + len(graders.unsupported)
            known, read = _KINDS[kind]
            graders.refuse_unknown(config, label, known)
            read(self, config, label, graders)
            if len(graders.graders) + len(graders.expectations) + len(graders.unsupported) == before:
                graders.refuse(fields, label, "it checks nothing")

    def _read_text(self, config: Fields, label: str, graders: CaseGraders) -> None:
        for name, (kind, options) in _TEXT.items():
            for _, text in config.read_lines(name):
                shown = f"{label}: {name} {show(text)}"
                if kind == "matches":
                    graders.add_pattern(shown, kind, config, text, **options)
                else:
                    graders.add(shown, kind, config.line, text=text, **options)

    def _read_file(self, config: Fields, label: str, graders: CaseGraders) -> None:
        for name, negated in (("must_exist", {}), ("must_not_exist", {"negated": True})):
            for line, path in config.read_lines(name):
                if config.check_path(line, path):
                    graders.add(f"{label}: {name} {show(path)}", "file_exists", line, path=path, **negated)
        for each in config.read_items("content_patterns"):
            graders.refuse_unknown(each, label, ("path", "must_match", "must_not_match"))
            file = each.read_text("path", required=True)
            if file is None or not each.check_path(each.line, file):
                continue
            graders.add(f"{label}: {show(file)} exists", "file_exists", each.line, path=file, is_regular=True)
            for name, negated in (("must_match", {}), ("must_not_match", {"negated": True})):
                for text in each.read_texts(name):
                    shown = f"{label}: {show(file)} {name} {show(text)}"
                    graders.add_pattern(shown, "file_contains", each, text, path=file, **negated)

    def _read_diff(self, config: Fields, label: str, graders: CaseGraders) -> None:
        folder = config.read_text("context_dir") or _FIXTURES
        for each in config.read_items("expected_files"):
            graders.refuse_unknown(each, label, ("path", "snapshot", "contains"))
            file = each.read_text("path", required=True)
            if file is None or not each.check_path(each.line, file):
                continue
            graders.add(f"{label}: {show(file)} exists", "file_exists", each.line, path=file, is_regular=True)
            if snapshot := each.read_text("snapshot"):
                source = self._find_file(each, "snapshot", folder, snapshot)
                if source is not None:
                    shown = f"{label}: {show(file)} equals {show(snapshot)}"
                    graders.add(shown, "file_equals", each.line, path=file, source=source)
            for text in each.read_texts("contains"):
                # As in a diff: a line with `-` is one that must be gone.
                negated = {"negated": True} if text.startswith("-") else {}
                shown = f"{label}: {show(file)} contains {show(text)}"
                fragment = text[1:] if text[0] in "+-" else text
                graders.add(shown, "file_contains", each.line, path=file, text=fragment, **negated)

    def _find_file(self, fields: Fields, name: str, folder: str, value: str) -> str | None:
        """A file next to the cases, which the agent must not see. If there is none, it is a problem."""
        source = self._place.find_source(self._place.join(folder), value)
        if source is None:
            fields.add(fields.find_line(name), f"the file {show(value)} is not in the skill")
            return None
        try:
            self._place.read(source)
        except ValueError as error:
            fields.add(fields.find_line(name), f"the file {show(value)}: {error}")
            return None
        self._reader.files.append(source)
        return source

    def _read_code(self, config: Fields, label: str, graders: CaseGraders) -> None:
        language = config.read_text("language") or "python"
        if language != "python":
            graders.refuse(config, label, f"scoregate can't measure assertions in {show(language)}")
            return
        for line, text in config.read_lines("assertions"):
            if why := _explain_assertion(text):
                graders.refuse(config, label, f"assertion {show(text)}: {why}", line)
            else:
                graders.add(f"{label}: {show(text)}", "python", line, expression=text)

    def _read_program(self, config: Fields, label: str, graders: CaseGraders) -> None:
        command, timeout = config.read_text("command", required=True), config.read_number("timeout")
        if command is None:
            return
        words = [command, *config.read_texts("args")]
        for word in words:
            script = self._place.find_source(self._place.folder, word)
            if script is not None and os.path.isfile(self._place.root / script):  # noqa: PTH113 - also of names that are too long
                # A script may have helpers and expected results next to it.
                above = str(PurePosixPath(script).parent)
                self._reader.files.append(script if above in (self._place.folder, self._place.skill) else above)
        folder, limit = self._place.folder, timeout or 30
        graders.add(label, "program", config.line, command=words, folder=folder, timeout=limit)

    def _read_behavior(self, config: Fields, label: str, graders: CaseGraders) -> None:
        add_behavior(config, f"{label}: ", graders)

    def _read_actions(self, config: Fields, label: str, graders: CaseGraders) -> None:
        self._add_sequence(config, label, graders, "tool_calls", ("matching_mode", "expected_actions"))

    def _read_skills(self, config: Fields, label: str, graders: CaseGraders) -> None:
        extra = config.read_flag("allow_extra")
        self._add_sequence(config, label, graders, "skills", ("mode", "required_skills"), is_exact=extra is False)

    def _add_sequence(
        self,
        config: Fields,
        label: str,
        graders: CaseGraders,
        kind: str,
        names: tuple[str, str],
        *,
        is_exact: bool = False,
    ) -> None:
        given, expected = config.read_text(names[0], required=True), config.read_texts(names[1])
        if given is None:
            return
        mode = _SEQUENCES.get(given)
        if mode is None:
            graders.refuse(config, label, f"scoregate doesn't know the {names[0]} {show(given)}")
        elif expected:
            stricter = {"in_order": "exact", "superset": "any_order"} if is_exact else {}
            graders.add(label, kind, config.line, expected=expected, mode=stricter.get(mode, mode))

    def _read_tools(self, config: Fields, label: str, graders: CaseGraders) -> None:
        for name, negated in (("expect_tools", {}), ("reject_tools", {"negated": True})):
            for each in config.read_items(name):
                graders.refuse_unknown(each, label, _TOOL)
                patterns = {key: each.read_text(key, required=key == "tool") for key in _TOOL}
                if patterns["tool"] is None:
                    continue
                given = {key: text for key, text in patterns.items() if text is not None}
                shown = f"{label}: {name} {' '.join(given.values()):.200}"
                checked = CaseGraders()  # apart: without one of its patterns, a constraint would match more
                for text in given.values():
                    checked.add_pattern(shown, "", each, text)
                graders.unsupported += checked.unsupported
                if not checked.unsupported:
                    graders.add(shown, "tool_matches", each.line, patterns=given, **negated)

    def _read_schema(self, config: Fields, label: str, graders: CaseGraders) -> None:
        schema, file = config.read_plain("schema"), config.read_text("schema_file")
        if schema is None and file is not None:
            source = self._find_file(config, "schema_file", os.curdir, file)
            if source is None:
                return
            try:
                schema = json.loads(self._place.read(source))
            except (ValueError, RecursionError) as error:
                config.add(config.find_line("schema_file"), f"the schema {show(file)} is not JSON: {error!s:.200}")
                return
        if isinstance(schema, dict):
            graders.add(label, "json_schema", config.line, schema=schema)
        else:
            config.add(config.line, f"{label} needs a schema, which is an object")

    def _read_prompt(self, config: Fields, label: str, graders: CaseGraders) -> None:
        if config.read_flag("continue_session"):
            graders.refuse(config, label, "scoregate's judge doesn't see the session (continue_session)")
        elif (mode := config.read_text("mode") or "independent") != "independent":
            graders.refuse(config, label, f"scoregate can't grade with mode {show(mode)}")
        elif text := config.read_text("prompt", required=True):
            graders.expectations.append(f"{_PROMPT}{text}")


def add_behavior(fields: Fields, label: str, graders: CaseGraders) -> None:
    """Add the limits and tools of a grader `behavior`, or of `expected.behavior`."""
    most = fields.read_number("max_tool_calls")
    if most is not None:
        graders.add(f"{label}max_tool_calls {most}", "max_tool_calls", fields.find_line("max_tool_calls"), most=most)
    for name in ("max_duration_ms", "max_response_time_ms"):
        limit = fields.read_number(name)
        if limit is not None:
            graders.add(f"{label}{name} {limit}", "duration", fields.find_line(name), most_ms=limit)
    for line, tool in fields.read_lines("required_tools"):
        graders.add(f"{label}required_tools {tool}", "called", line, tool=tool)
    for line, tool in fields.read_lines("forbidden_tools"):
        graders.add(f"{label}forbidden_tools {tool}", "called", line, tool=tool, negated=True)
    graders.refuse_fields(fields, label, ("max_tokens", "max_iterations"))


BEHAVIOR = (
    "max_tool_calls",
    "max_tokens",
    "max_iterations",
    "max_duration_ms",
    "max_response_time_ms",
    "required_tools",
    "forbidden_tools",
)


def _explain_assertion(text: str) -> str:
    """Why an assertion of `code` can't run; empty if it can."""
    try:
        with catch_warnings(action="ignore"):  # such as for an unknown escape sequence
            tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "it is not an expression of Python"
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    own = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    unknown = ", ".join(sorted(names - own - _NAMES))
    return f"scoregate has no {unknown:.80}; it has output and duration_ms" if unknown else ""


_Read = Callable[[WazaGraders, Fields, str, CaseGraders], None]
_KINDS: Mapping[str, tuple[tuple[str, ...], _Read]] = {
    "text": (tuple(_TEXT), WazaGraders._read_text),
    "file": (("must_exist", "must_not_exist", "content_patterns"), WazaGraders._read_file),
    "diff": (("expected_files", "context_dir"), WazaGraders._read_diff),
    "code": (("assertions", "language"), WazaGraders._read_code),
    "program": (("command", "args", "timeout"), WazaGraders._read_program),
    "behavior": (BEHAVIOR, WazaGraders._read_behavior),
    "action_sequence": (("matching_mode", "expected_actions"), WazaGraders._read_actions),
    "skill_invocation": (("mode", "required_skills", "allow_extra"), WazaGraders._read_skills),
    "tool_constraint": (("expect_tools", "reject_tools"), WazaGraders._read_tools),
    "json_schema": (("schema", "schema_file"), WazaGraders._read_schema),
    "prompt": (("prompt", "model", "continue_session", "mode"), WazaGraders._read_prompt),
}
