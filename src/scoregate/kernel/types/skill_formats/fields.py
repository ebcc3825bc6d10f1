"""Fields of a YAML document: read by name, with a problem and its line for each wrong type."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from scoregate.kernel.types.skill_cases import MOST_CASES, SkillCase
from scoregate.kernel.types.skill_findings import CaseFindings, show
from scoregate.kernel.types.yaml_document import Value

_LONGEST_ID = 500
# Texts that yaml.v3 of Go, which the tools use, takes for a bool where it expects one.
_FLAGS: Mapping[str, bool] = {
    **dict.fromkeys(("y", "Y", "yes", "on"), True),
    **dict.fromkeys(("n", "N", "no", "off"), False),
}


class CaseReader(CaseFindings):
    """Collects the cases of a file of another tool.

    Attributes:
        cases: the cases that are valid.
        files: the other files and folders that they consist of, relative to the project.
    """

    def __init__(self, shown: str) -> None:
        """Start without cases.

        Args:
            shown: the path of the file, relative to the project.
        """
        super().__init__(shown)
        self.cases: list[SkillCase] = []
        self.files: list[str] = []
        self._places: dict[str, str] = {}

    def add_case(self, case: SkillCase, shown: str) -> None:
        """Add a case. One with the id of another, or too many cases, is a problem."""
        key = case.id or f"prompt {case.prompt}"
        if key in self._places:
            shared = f"the id {show(case.id)}" if case.id else "the prompt, and no id,"
            self.add(case.line, f"the case in {self._places[key]} has {shared} too; give each case its own id", shown)
        elif len(self.cases) == MOST_CASES:
            self.add(case.line, f"there are more than {MOST_CASES:,} cases", shown)
        else:
            self.cases.append(case)
        self._places.setdefault(key, f"{shown}:{case.line}")


class Fields:
    """The fields of a mapping. What has a wrong type is a problem, and reads as if it were absent.

    Attributes:
        line: the line of the mapping.
        shown: the path of its file.
    """

    def __init__(self, values: Mapping[str, Value], line: int, shown: str, findings: CaseFindings) -> None:
        """Wrap a mapping.

        Args:
            values: the values by name.
            line: the line of the mapping.
            shown: the path of its file.
            findings: collects the problems.
        """
        self.line = line
        self.shown = shown
        self._values = values
        self._findings = findings

    def __contains__(self, name: str) -> bool:
        """Whether there is a value that is not null."""
        return name in self._values and self._values[name].content is not None

    def list_names(self) -> list[str]:
        """The names of the fields."""
        return list(self._values)

    def find_line(self, name: str) -> int:
        """The line of a field; that of the mapping if it has none."""
        return self._values[name].line if name in self._values else self.line

    def check(self, known: Iterable[str], unused: Iterable[str] = ()) -> None:
        """Collect the fields that have no effect.

        Args:
            known: the fields that are read.
            unused: the fields of the format without an effect here.
        """
        names = {*known, *unused}
        for name, value in self._values.items():
            self._findings.check_names(value.line, (name,), names, self.shown)
        for name in unused:
            if name in self._values:
                self._findings.add_unused(self.find_line(name), name, self.shown)

    def add(self, line: int, problem: str) -> None:
        """Add a problem."""
        self._findings.add(line, problem, self.shown)

    def read_text(self, name: str, *, required: bool = False) -> str | None:
        """A text that is not empty; None without one."""
        text = self.read_content(name)
        if text is not None and text.strip():
            return text
        if required and not isinstance(self.read_plain(name), list | dict):
            self.add(self.find_line(name), f"{name} is missing")
        return None

    def read_content(self, name: str) -> str | None:
        """A text, which may be empty; None without one. Numbers are texts, too, as they are written."""
        content = self._values.get(name)
        if content is not None and isinstance(content.content, list | dict):
            self.add(content.line, f"{name} must be a text, not {show(content.to_plain())}")
        return None if content is None else content.text

    def read_id(self, name: str) -> str | None:
        """A text that identifies a case."""
        text = self.read_text(name, required=True)
        if text is not None and len(text) > _LONGEST_ID:
            self.add(self.find_line(name), f"{name} has more than {_LONGEST_ID} characters")
        return None if text is None else text.strip()

    def read_texts(self, name: str) -> list[str]:
        """A list of texts."""
        return [text for _, text in self.read_lines(name)]

    def read_lines(self, name: str) -> list[tuple[int, str]]:
        """A list of texts with their lines."""
        texts = []
        for each in self.read_list(name):
            if each.text is not None and each.text.strip():
                texts.append((each.line, each.text))
            else:
                self.add(each.line, f"{name} must be a list of texts, and one is {show(each.to_plain())}")
        return texts

    def read_list(self, name: str) -> Sequence[Value]:
        """A list of values."""
        value = self._values.get(name)
        if value is None or value.content is None:
            return ()
        if isinstance(value.content, list):
            return value.content
        self.add(value.line, f"{name} must be a list, not {show(value.to_plain())}")
        return ()

    def read_items(self, name: str) -> list[Fields]:
        """A list of mappings."""
        items = []
        for each in self.read_list(name):
            if isinstance(each.content, dict):
                items.append(Fields(each.content, each.line, self.shown, self._findings))
            else:
                self.add(each.line, f"{name} must be a list of objects, and one is {show(each.to_plain())}")
        return items

    def read_fields(self, name: str) -> Fields | None:
        """A mapping; None without one."""
        value = self._values.get(name)
        if value is None or value.content is None:
            return None
        if isinstance(value.content, dict):
            return Fields(value.content, value.line, self.shown, self._findings)
        self.add(value.line, f"{name} must be an object, not {show(value.to_plain())}")
        return None

    def read_flag(self, name: str) -> bool | None:
        """True or false; None without a value."""
        value = self._values.get(name)
        if value is None or value.content is None:
            return None
        if isinstance(value.content, bool):
            return value.content
        if isinstance(value.content, str) and value.content in _FLAGS:
            return _FLAGS[value.content]
        self.add(value.line, f"{name} must be true or false, not {show(value.to_plain())}")
        return None

    def read_number(self, name: str) -> int | None:
        """A whole number of at least 0; None without one."""
        value = self._values.get(name)
        content = None if value is None else value.content
        if isinstance(content, int) and not isinstance(content, bool) and content >= 0:
            return content
        if content is not None:
            self.add(
                self.find_line(name), f"{name} must be a whole number of at least 0, not {show(self.read_plain(name))}"
            )
        return None

    def read_plain(self, name: str) -> Any:
        """A value of any type, without lines."""
        return self._values[name].to_plain() if name in self._values else None

    def check_path(self, line: int, name: str) -> bool:
        """Whether a path is relative and does not lead out of its folder. If it does, it is a problem."""
        if is_inside(name):
            return True
        self.add(line, f"the path {show(name)} leads out of its folder: write a relative path without '..'")
        return False


def is_inside(name: str) -> bool:
    """Whether a path is relative and does not lead out of its folder."""
    path = PurePosixPath(name)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts and not set(name) & {"\0", "\\"}
