"""`eval.yaml` of waza (microsoft/waza): tasks in the file or in files of their own, and prompts for triggers."""

from __future__ import annotations

import os
from collections.abc import Iterator

from scoregate.kernel.types.skill_cases import InputFile, SkillCase
from scoregate.kernel.types.skill_findings import show
from scoregate.kernel.types.skill_formats.case_graders import CaseGraders
from scoregate.kernel.types.skill_formats.fields import CaseReader, Fields, is_inside
from scoregate.kernel.types.skill_formats.place import MOST_FILES, CasesPlace
from scoregate.kernel.types.skill_formats.waza_graders import BEHAVIOR, WazaGraders, add_behavior
from scoregate.kernel.types.yaml_document import YamlProblem, parse_yaml

KEY = "tasks"
TRIGGERS = "trigger_tests.yaml"
_DOCUMENT = ("name", "description", "skill", "version", KEY, "graders", "hooks", "tasks_from")
_DOCUMENT_UNUSED = ("config", "inputs", "range", "metrics", "baseline")
_TASK = ("id", "name", "description", "enabled", "context_dir", "tags", "inputs", "expected", "graders")
_EXPECTED = (
    "outcomes",
    "behavior",
    "output_contains",
    "output_contains_any",
    "output_not_contains",
    "output_excludes",
    "matches",
    "should_trigger",
    "tool_calls",
)
_MOST_CHARACTERS = 50_000_000
_FIXTURES = "fixtures"
_TEMPLATE = "{{"


def read_tasks(document: Fields, reader: CaseReader, place: CasesPlace) -> str | None:
    """Read the cases.

    Args:
        document: the fields of the file.
        reader: collects the cases and problems.
        place: where the file is.

    Returns:
        The name of the skill that the file says.
    """
    return _Tasks(document, reader, place).read()


class _Tasks:
    """Reads tasks one after another."""

    def __init__(self, document: Fields, reader: CaseReader, place: CasesPlace) -> None:
        self._document = document
        self._reader = reader
        self._place = place
        self._graders = WazaGraders(reader, place)
        self._shared = CaseGraders()
        self._names = set[str]()
        self._read_characters = 0

    def read(self) -> str | None:
        """Read the file, those of its tasks, and the prompts for triggers; the result is the name of the skill."""
        document = self._document
        document.check(_DOCUMENT, _DOCUMENT_UNUSED)
        if "tasks_from" in document:
            document.add(document.find_line("tasks_from"), "tasks_from is not read; name files of tasks in tasks")
        self._read_hooks()
        self._graders.read(document, self._shared)
        for each in document.read_list(KEY):
            if isinstance(each.content, dict):
                self._read_task(Fields(each.content, each.line, self._place.file, self._reader))
            elif each.text is not None:
                self._read_glob(each.text, each.line)
            else:
                document.add(each.line, "a task must be an object, or a pattern for files of tasks")
        self._read_triggers()
        return document.read_text("skill")

    def _read_hooks(self) -> None:
        hooks = self._document.read_fields("hooks")
        if hooks is not None:
            hooks.check(("before_run", "before_task"), ("after_run", "after_task"))
            self._shared.refuse_fields(hooks, "hooks.", ("before_run", "before_task"))

    def _read_glob(self, glob: str, line: int) -> None:
        if not is_inside(glob):
            self._document.add(line, f"the pattern {show(glob)} leads out of its folder")
            return
        try:
            names = list(self._place.find_files(glob))
        except (ValueError, NotImplementedError, OSError) as error:
            self._document.add(line, f"the pattern {show(glob)}: {error}")
            return
        if not names:
            self._document.add(line, f"no file matches {show(glob)}")
        new = [name for name in names if name not in self._names]
        self._names.update(new)
        if len(self._names) > MOST_FILES:
            self._document.add(line, f"there are more than {MOST_FILES:,} files of tasks")
            return
        for name in new:
            self._reader.files.append(name)
            fields = self._load(name)
            if fields is not None:
                self._read_task(fields)

    def _load(self, name: str) -> Fields | None:
        """The fields of another file; None if it can't be read."""
        try:
            text = self._place.read(name)
            self._read_characters += len(text)
            if self._read_characters > _MOST_CHARACTERS:
                raise ValueError(f"the files of the tasks have more than {_MOST_CHARACTERS:,} characters")
            value = parse_yaml(text, name)
        except YamlProblem as error:
            self._reader.problems.append(str(error))
            return None
        except ValueError as error:
            self._reader.add(1, str(error), name)
            return None
        if isinstance(value.content, dict):
            return Fields(value.content, value.line, name, self._reader)
        self._reader.add(value.line, "it must be an object", name)
        return None

    def _read_task(self, fields: Fields) -> None:
        before = len(self._reader.problems)
        fields.check(_TASK, ("timeout_seconds",))
        graders = CaseGraders(self._shared)
        self._graders.read(fields, graders)
        inputs = fields.read_fields("inputs")
        if inputs is None:
            fields.add(fields.line, "a task must have inputs with a prompt")
            return
        prompt = self._read_prompt(inputs, graders)
        expected = fields.read_fields("expected")
        if expected is not None:
            _read_expected(expected, graders)
        case = SkillCase(
            fields.read_id("id"),
            prompt,
            fields.line,
            expectations=tuple(graders.expectations),
            should_trigger=None if expected is None else expected.read_flag("should_trigger"),
            tags=tuple(fields.read_texts("tags")),
            graders=tuple(graders.graders),
            workspace_files=tuple(self._read_files(fields, inputs)),
            unsupported=tuple(graders.unsupported),
            file=fields.shown,
        )
        if len(self._reader.problems) == before and fields.read_flag("enabled") is not False:
            self._reader.add_case(case, fields.shown)

    def _read_prompt(self, inputs: Fields, graders: CaseGraders) -> str:
        inputs.check(("prompt", "files", "environment"), ("context",))
        graders.refuse_fields(inputs, "inputs.", ("environment",))
        prompt = inputs.read_text("prompt", required=True) or ""
        if _TEMPLATE in prompt:
            graders.refuse(inputs, "inputs.prompt", "scoregate doesn't fill in templates", inputs.find_line("prompt"))
        return prompt

    def _read_files(self, fields: Fields, inputs: Fields) -> Iterator[InputFile]:
        folder = fields.read_text("context_dir") or _FIXTURES
        for each in inputs.read_items("files"):
            each.check(("path", "content"))
            path, content = each.read_text("path", required=True), each.read_content("content")
            if path is None or not each.check_path(each.find_line("path"), path):
                continue
            if content is not None:
                yield InputFile(path, content=content)
                continue
            source = self._place.find_source(self._place.join(folder), path)
            if source is None:
                each.add(each.line, f"the file {show(path)} is not in the skill")
            elif "content" not in each:
                yield InputFile(path, source)

    def _read_triggers(self) -> None:
        """Read the prompts that should load the skill, and those that should not, if there is a file of them."""
        name = self._place.join(TRIGGERS)
        if not os.path.lexists(self._place.root / name):
            return
        self._reader.files.append(name)
        fields = self._load(name)
        if fields is None:
            return
        fields.check(("skill", "should_trigger_prompts", "should_not_trigger_prompts"))
        for key, wanted in (("should_trigger_prompts", True), ("should_not_trigger_prompts", False)):
            for each in fields.read_items(key):
                each.check(("prompt", "reason", "confidence"))
                prompt = each.read_text("prompt", required=True)
                if prompt is not None:
                    self._reader.add_case(SkillCase(None, prompt, each.line, should_trigger=wanted, file=name), name)


def _read_expected(fields: Fields, graders: CaseGraders) -> None:
    """Read what the documentation of waza lists below `expected`."""
    graders.refuse_unknown(fields, "expected", _EXPECTED)
    graders.refuse_fields(fields, "expected.", ("tool_calls",))
    for name, negated in (
        ("output_contains", {}),
        ("output_not_contains", {"negated": True}),
        ("output_excludes", {"negated": True}),
    ):
        for line, text in fields.read_lines(name):
            graders.add(f"expected.{name} {show(text)}", "contains", line, text=text, ignore_case=True, **negated)
    if texts := fields.read_texts("output_contains_any"):
        line = fields.find_line("output_contains_any")
        shown = f"expected.output_contains_any {show(texts)}"
        graders.add(shown, "contains_any", line, texts=texts, ignore_case=True)
    for text in fields.read_texts("matches"):
        graders.add_pattern(f"expected.matches {show(text)}", "matches", fields, text)
    for outcome in fields.read_items("outcomes"):
        _read_outcome(outcome, graders)
    behavior = fields.read_fields("behavior")
    if behavior is not None:
        graders.refuse_unknown(behavior, "expected.behavior", BEHAVIOR)
        add_behavior(behavior, "expected.behavior.", graders)


def _read_outcome(fields: Fields, graders: CaseGraders) -> None:
    kind, tool = fields.read_text("type"), fields.read_text("tool_name")
    names = set(fields.list_names())
    if kind == "task_completed" and names == {"type"}:
        return  # an agent that doesn't complete is an error of its case
    if kind == "tool_called" and tool is not None and names == {"type", "tool_name"}:
        graders.add(f"expected.outcomes: {tool} is called", "called", fields.line, tool=tool)
    else:
        graders.refuse(fields, f"expected.outcomes {show(kind)}", "scoregate can't measure it")
