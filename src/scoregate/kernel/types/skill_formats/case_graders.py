"""The graders of a case while they are read: checks, expectations, and what scoregate can't measure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from scoregate.kernel.types.skill_cases import CaseGrader
from scoregate.kernel.types.skill_findings import show
from scoregate.kernel.types.skill_formats.fields import Fields

_LONGEST_LABEL = 300


class CaseGraders:
    """Collects the graders of a case.

    Attributes:
        graders: the checks.
        expectations: statements that a model grades.
        unsupported: what can't be measured, each with its place.
    """

    def __init__(self, start: CaseGraders | None = None) -> None:
        """Start with those of another collection, or without any."""
        self.graders: list[CaseGrader] = [] if start is None else list(start.graders)
        self.expectations: list[str] = [] if start is None else list(start.expectations)
        self.unsupported: list[str] = [] if start is None else list(start.unsupported)

    def add(self, label: str, kind: str, line: int, **options: Any) -> None:
        """Add a check.

        Args:
            label: names it in reasons.
            kind: what is checked.
            line: its line.
            options: the arguments of the kind.
        """
        self.graders.append(CaseGrader(label[:_LONGEST_LABEL], kind, line, options))

    def add_pattern(self, label: str, kind: str, fields: Fields, pattern: str, **options: Any) -> None:
        """Add a check with a regular expression. One that Python doesn't know can't be measured."""
        try:
            re.compile(pattern)
        except (re.error, OverflowError, RecursionError) as error:
            self.refuse(fields, label, f"Python can't compile the pattern {show(pattern)}: {error}")
        else:
            self.add(label, kind, fields.line, pattern=pattern, **options)

    def refuse(self, fields: Fields, label: str, why: str, line: int | None = None) -> None:
        """Add something that can't be measured.

        Args:
            fields: the mapping that it is in.
            label: its name.
            why: the reason.
            line: its line; default: that of the mapping.
        """
        self.unsupported.append(f"{fields.shown}:{fields.line if line is None else line}: {label}: {why}")

    def refuse_fields(self, fields: Fields, label: str, names: Iterable[str]) -> None:
        """Add each given field that can't be measured."""
        for name in names:
            if name in fields:
                self.refuse(fields, f"{label}{name}", "scoregate can't measure it", fields.find_line(name))

    def refuse_unknown(self, fields: Fields, label: str, known: Iterable[str]) -> None:
        """Add each field that is not known: without it, the grader may mean something else."""
        for name in sorted(set(fields.list_names()) - set(known)):
            self.refuse(fields, label, f"the field {show(name)} is not known", fields.find_line(name))
