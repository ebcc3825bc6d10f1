"""The cases of a skill: the file `evals/evals.json`, with the line of each problem."""

from __future__ import annotations

import json
from collections.abc import Mapping
from json.decoder import JSONDecodeError
from pathlib import PurePosixPath
from typing import Any

from scoregate.kernel.types.json_io import dump, to_plain
from scoregate.kernel.types.records import record
from scoregate.kernel.types.skill_findings import CaseFindings, show

MOST_CASES = 100_000
TOOL_KINDS = frozenset({"called", "max_tool_calls", "tool_calls", "tool_matches", "skills"})
"""The kinds of `CaseGrader` that need the tool calls of the agent."""
_ENTRIES = "evals"
_PROMPTS = ("prompt", "query")
_STATEMENTS = ("expectations", "assertions")
_KNOWN = {"id", *_PROMPTS, *_STATEMENTS, "expected_output", "files", "should_trigger", "checks", "tags", "name"}
_KNOWN_ABOVE = {"skill_name", "version", "description", _ENTRIES}
_DECODER = json.JSONDecoder()
_SPACE = " \t\n\r"


@record
class InputFile:
    """A file that a case needs in the workspace of the agent.

    Attributes:
        path: where it is in the workspace; empty for the content of a folder.
        source: the file or folder, relative to the project; None if the content is given.
        content: the content; None if there is a source.
        left_out: what is not copied of a folder, relative to it.
    """

    path: str
    source: str | None = None
    content: str | None = None
    left_out: tuple[str, ...] = ()


@record
class CaseGrader:
    """A check of a case, as the format of another tool has it.

    Attributes:
        label: names it in reasons, such as "output_contains 'Alice'".
        kind: what is checked; `skills/graders.py` has the kinds.
        line: its line in the file.
        options: the arguments of the kind, as plain data.
    """

    label: str
    kind: str
    line: int
    options: Mapping[str, Any]


@record
class SkillCase:
    """One case.

    Attributes:
        id: identifies it in all runs; None without one.
        prompt: what the agent is asked.
        line: its line in the file.
        expected_output: what a person would expect; None without it.
        expectations: statements that a model grades, each by itself.
        checks: command lines that must exit with 0 in the workspace of the agent; `sh` runs them.
        files: the files that the prompt needs, relative to the skill.
        should_trigger: whether the agent should load the skill; None if the file doesn't say.
        tags: the tags of the case.
        graders: the checks of another tool's format.
        workspace_files: what is in the workspace besides `files`.
        setup: command lines that `sh` runs in the workspace before the agent.
        unsupported: what scoregate can't measure, each with its place; with any, the case is an error.
        file: the file that it is in, relative to the project; empty for the file of all cases.
    """

    id: str | None
    prompt: str
    line: int = 1
    expected_output: str | None = None
    expectations: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    should_trigger: bool | None = None
    tags: tuple[str, ...] = ()
    graders: tuple[CaseGrader, ...] = ()
    workspace_files: tuple[InputFile, ...] = ()
    setup: tuple[str, ...] = ()
    unsupported: tuple[str, ...] = ()
    file: str = ""


@record
class SkillCases:
    """The content of a file of cases.

    Attributes:
        skill_name: the name of the skill, as the file says; None without it.
        cases: the valid cases.
        problems: what is wrong, each with its line; with any, nothing may run.
        notices: fields that have no effect.
        files: the other files and folders that the cases consist of, relative to the project.
        unknown: why the file is one of another kind; empty if it has cases.
    """

    skill_name: str | None = None
    cases: tuple[SkillCase, ...] = ()
    problems: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    unknown: str = ""


def is_graded(case: SkillCase) -> bool:
    """Whether anything of a case is graded besides whether the skill was loaded."""
    return bool(case.checks or case.graders or case.expectations or case.expected_output)


def parse_skill_cases(text: str, shown: str) -> SkillCases:
    """Read the cases of a skill.

    Args:
        text: the content of the file.
        shown: the path of the file in messages.
    """
    try:
        head, entries = _scan(text)
    except JSONDecodeError as error:
        return SkillCases(problems=(f"{shown}:{error.lineno}: it is not JSON: {error.msg}",))
    except RecursionError:
        return SkillCases(problems=(f"{shown}: it has too many levels",))
    reader = _Reader(shown)
    name = head.get("skill_name")
    if name is not None and (not isinstance(name, str) or not name.strip()):
        reader.add(1, f"skill_name must be a text, not {show(name)}")
    if entries is None or not entries:
        reader.add(1, f"it has no cases: write a list {_ENTRIES!r} of objects with a prompt")
    elif len(entries) > MOST_CASES:
        reader.add(1, f"it has more than {MOST_CASES:,} cases")
    else:
        for line, value in entries:
            reader.read(line, value)
    reader.check_names(1, head.keys(), _KNOWN_ABOVE)
    return SkillCases(
        name if isinstance(name, str) else None,
        tuple(reader.cases),
        reader.list_problems(),
        tuple(reader.list_notices()),
    )


def _scan(text: str) -> tuple[dict[str, Any], list[tuple[int, Any]] | None]:
    """The fields of the file, and each case with its line; None without a list of cases.

    Raises:
        JSONDecodeError: it is not JSON.
    """
    text = text.removeprefix("\ufeff")
    position = _skip(text, 0)
    if text[position : position + 1] == "[":
        entries, position = _scan_list(text, position)
        _check_end(text, position)
        return {}, entries
    head: dict[str, Any] = {}
    entries_found: list[tuple[int, Any]] | None = None
    if text[position : position + 1] != "{":
        raise JSONDecodeError("an object is expected", text, position)
    position = _skip(text, position + 1)
    while text[position : position + 1] != "}":
        start = position
        key, position = _DECODER.raw_decode(text, position)
        position = _skip(text, position)
        if not isinstance(key, str) or text[position : position + 1] != ":":
            raise JSONDecodeError("a name and a colon are expected", text, start)
        position = _skip(text, position + 1)
        if key == _ENTRIES and text[position : position + 1] == "[":
            entries_found, position = _scan_list(text, position)
        else:
            head[key], position = _DECODER.raw_decode(text, position)
        position = _next_item(text, position, "}")
    _check_end(text, position + 1)
    return head, entries_found


def _scan_list(text: str, position: int) -> tuple[list[tuple[int, Any]], int]:
    items, line, counted = list[tuple[int, Any]](), 1, 0
    position = _skip(text, position + 1)
    while text[position : position + 1] != "]":
        # Counts on from the last item: from the start, a long list would take quadratic time.
        line += text.count("\n", counted, position)
        counted = position
        value, position = _DECODER.raw_decode(text, position)
        items.append((line, value))
        position = _next_item(text, position, "]")
    return items, position + 1


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in _SPACE:
        position += 1
    return position


def _next_item(text: str, position: int, end: str) -> int:
    position = _skip(text, position)
    if text[position : position + 1] == ",":
        position = _skip(text, position + 1)
        if text[position : position + 1] == end:
            raise JSONDecodeError("a comma before the end", text, position)
        return position
    if text[position : position + 1] != end:
        raise JSONDecodeError(f"a comma or {end} is expected", text, position)
    return position


def _check_end(text: str, position: int) -> None:
    if _skip(text, position) != len(text):
        raise JSONDecodeError("more text after the end", text, position)


class _Reader(CaseFindings):
    """Reads cases one after another."""

    def __init__(self, shown: str) -> None:
        super().__init__(shown)
        self.cases: list[SkillCase] = []
        self._lines: dict[str, int] = {}

    def read(self, line: int, value: Any) -> None:
        """Read a case."""
        if not isinstance(value, Mapping):
            self.add(line, f"a case must be an object, not {show(value)}")
            return
        before = len(self.problems)
        self.check_names(line, value.keys(), _KNOWN)
        case = SkillCase(
            self._read_id(line, value),
            self._read_prompt(line, value),
            line,
            self._read_text(line, value, "expected_output"),
            tuple(text for name in _STATEMENTS for text in self._read_texts(line, value, name)),
            self._read_texts(line, value, "checks"),
            self._read_files(line, value),
            self._read_flag(line, value),
            self._read_texts(line, value, "tags"),
        )
        if len(self.problems) == before:
            self.cases.append(case)

    def _read_id(self, line: int, value: Mapping[str, Any]) -> str | None:
        given = value.get("id")
        case_id = given.strip() if isinstance(given, str) else None if given is None else dump(to_plain(given)).decode()
        prompt = next((value[name] for name in _PROMPTS if isinstance(value.get(name), str)), None)
        # Without an id, the prompt identifies the case.
        key = f"id {case_id}" if case_id else f"prompt {prompt}"
        if key in self._lines:
            shared = f"the id {show(case_id)}" if case_id else "the prompt, and no id,"
            self.add(line, f"the case in line {self._lines[key]} has {shared} too; give each case its own id")
        self._lines.setdefault(key, line)
        return case_id or None

    def _read_prompt(self, line: int, value: Mapping[str, Any]) -> str:
        given = next((value[name] for name in _PROMPTS if name in value), None)
        if isinstance(given, str) and given.strip():
            return given
        self.add(line, "a case must have a prompt" if given is None else f"prompt must be a text, not {show(given)}")
        return ""

    def _read_text(self, line: int, value: Mapping[str, Any], name: str) -> str | None:
        given = value.get(name)
        if given is None or isinstance(given, str):
            return given if given and given.strip() else None
        self.add(line, f"{name} must be a text, not {show(given)}")
        return None

    def _read_texts(self, line: int, value: Mapping[str, Any], name: str) -> tuple[str, ...]:
        given = value.get(name) or ()
        if isinstance(given, list | tuple) and all(isinstance(each, str) and each.strip() for each in given):
            return tuple(given)
        self.add(line, f"{name} must be a list of texts, not {show(given)}")
        return ()

    def _read_files(self, line: int, value: Mapping[str, Any]) -> tuple[str, ...]:
        names = self._read_texts(line, value, "files")
        for name in names:
            path = PurePosixPath(name)
            if path.is_absolute() or ".." in path.parts or "\0" in name or "\\" in name:
                self.add(line, f"the file {show(name)} is not in the skill: write a path relative to it")
        return names

    def _read_flag(self, line: int, value: Mapping[str, Any]) -> bool | None:
        given = value.get("should_trigger")
        if given is None or isinstance(given, bool):
            return given
        self.add(line, f"should_trigger must be true or false, not {show(given)}")
        return None
