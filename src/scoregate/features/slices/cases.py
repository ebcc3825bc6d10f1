"""Slices: the cases of a suite that share a tag or the value of a field."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import isfinite
from typing import Any, TypeAlias

from scoregate.features.slices.declare import MOST_FIELDS
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.clusters import TAG_FIELDS, find_field
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.selection import CaseInput

SuiteSlices: TypeAlias = Mapping[str, Mapping[str, Sequence[int]]]
"""The cases of each slice of a suite, by field and value, as rows of their first trials in the suite's columns."""

LONGEST_VALUE = 100
# Far above real suites: values that a hostile suite makes up must not use up all memory.
MOST_VALUES = 10_000
_MOST_OF_CASE = 20
_LONGEST_TEXT = 4 * LONGEST_VALUE
_NUMBERS = (bool, int, float)


def collect_slices(run: Run, fields: Iterable[str]) -> tuple[SuiteSlices, ...]:
    """Collect the slices of every suite. Reads the cases once.

    Args:
        run: the run.
        fields: the names of fields, such as `tag`, `language` or `metadata.topic`; later ones than MOST_FIELDS are
            ignored.

    Returns:
        The slices of each suite, in the order of the suites; empty without fields. Of more than MOST_VALUES values of
        a field, the first ones are kept.
    """
    names = tuple(islice(dict.fromkeys(fields), MOST_FIELDS))
    if not names:
        return ()
    slices_by_suite = tuple({name: _FieldSlices(name) for name in names} for _ in run.suites)
    waiting = []
    for suite in run.suites:
        hashes = suite.columns.hashes
        waiting.append(dict(zip(reversed(hashes), range(len(hashes) - 1, -1, -1), strict=True)))
    cases: Iterable[CaseInput | CaseResult] = run.cases if run.read_inputs is None else run.read_inputs()
    for case in cases:
        row = waiting[case.suite].pop(case.hash, None)
        if row is not None:  # else a further trial of a case
            for slices in slices_by_suite[case.suite].values():
                slices.add(case, row)
    return tuple({name: slices.rows for name, slices in by_name.items()} for by_name in slices_by_suite)


class _FieldSlices:
    """The slices of one field of a suite.

    Attributes:
        rows: the rows of each value.
    """

    def __init__(self, field: str) -> None:
        self._field, self._is_tag = field, field in TAG_FIELDS
        self.rows: dict[str, array[int]] = {}
        # Many cases have the same content: where their rows belong.
        self._known: dict[Any, tuple[array[int], ...]] = {}

    def add(self, case: CaseInput | CaseResult, row: int) -> None:
        """Add a case to the slices of its values."""
        content = case.tags if self._is_tag else find_field(case.input, self._field)
        kind: type = type(content)
        is_text = kind is str or self._is_tag
        key = content if is_text else (kind, content) if kind in _NUMBERS else None
        case_slices = self._known.get(key) if key is not None else None
        if case_slices is None:
            case_slices = tuple(self._find_slices(_content_values(content)))
            if key is not None and len(self._known) < MOST_VALUES and (not is_text or _is_short(content)):
                self._known[key] = case_slices
        for rows in case_slices:
            rows.append(row)

    def _find_slices(self, values: Iterable[str]) -> Iterator[array[int]]:
        for value in values:
            if value not in self.rows:
                if len(self.rows) >= MOST_VALUES:
                    continue
                self.rows[value] = array("l")
            yield self.rows[value]


def _is_short(content: str | Sequence[str]) -> bool:
    texts = (content,) if isinstance(content, str) else content
    return len(texts) <= _MOST_OF_CASE and sum(map(len, texts)) <= _LONGEST_TEXT


def _content_values(content: Any) -> tuple[str, ...]:
    parts = content if isinstance(content, list | tuple) else (content,)
    return tuple(dict.fromkeys(filter(None, map(_value_text, parts[:_MOST_OF_CASE]))))


def _value_text(value: Any) -> str:
    """A text, number or boolean as text on one line; empty for anything else."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}" if isfinite(value) else ""
    if isinstance(value, int):
        return str(value) if abs(value) < 10**LONGEST_VALUE else ""
    if not isinstance(value, str):
        return ""
    text = " ".join(value[:_LONGEST_TEXT].split())
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 1] + "…"


def slice_name(field: str, value: str) -> str:
    """The name of a slice in limits and reports: `language=fr`."""
    return f"{field}={value}"


def list_cases(hashes: Sequence[str], rows: Iterable[int]) -> list[str]:
    """The cases of a slice, as hashes."""
    return [hashes[row] for row in rows]
