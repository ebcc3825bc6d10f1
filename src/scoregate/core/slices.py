"""Slices: the cases of a suite that share a tag or the value of a field."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from math import isfinite
from typing import Any, TypeAlias

from scoregate.core.case_choice import CaseInput
from scoregate.core.cases import CaseResult
from scoregate.core.run import Run

SuiteSlices: TypeAlias = Mapping[str, Mapping[str, Sequence[int]]]
"""The cases of each slice of a suite, by field and value, as rows of their first trials in the suite's columns."""

TAG_FIELDS = ("tag", "tags")
MOST_FIELDS = 10
LONGEST_VALUE = 100
# Far above real suites: values that a hostile suite makes up must not use up all memory.
MOST_VALUES = 10_000
_MOST_OF_CASE = 20
_PARTS = ("metadata", "input")


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
    found: tuple[dict[str, dict[str, array[int]]], ...] = tuple({name: {} for name in names} for _ in run.suites)
    waiting = []
    for suite in run.suites:
        hashes = suite.columns.hashes
        waiting.append(dict(zip(reversed(hashes), range(len(hashes) - 1, -1, -1), strict=True)))
    cases: Iterable[CaseInput | CaseResult] = run.cases if run.read_inputs is None else run.read_inputs()
    for case in cases:
        row = waiting[case.suite].pop(case.hash, None)
        if row is not None:  # else a further trial of a case
            for name, by_value in found[case.suite].items():
                _add_case(by_value, read_values(case, name), row)
    return found


def _add_case(by_value: dict[str, array[int]], values: Iterable[str], row: int) -> None:
    for value in values:
        rows = by_value.get(value)
        if rows is None:
            if len(by_value) >= MOST_VALUES:
                continue
            rows = by_value[value] = array("l")
        rows.append(row)


def read_values(case: CaseInput | CaseResult, field: str) -> tuple[str, ...]:
    """The values of a field of a case: its tags, or what its input, `metadata` or `input.input` has under the name.

    A list gives several values. Other structures give none.

    Args:
        case: the case.
        field: the name of the field; dots lead into nested fields.
    """
    if field in TAG_FIELDS:
        return _texts_values(tuple(tag[: 4 * LONGEST_VALUE] for tag in case.tags[:_MOST_OF_CASE]))
    value: Any = _find_field(case.input, field)
    if isinstance(value, str):
        return _texts_values((value[: 4 * LONGEST_VALUE],))
    parts = value if isinstance(value, list | tuple) else (value,)
    return _values(parts[:_MOST_OF_CASE])


@lru_cache(maxsize=1024)
def _texts_values(texts: tuple[str, ...]) -> tuple[str, ...]:
    """The values of texts. Many cases of a slice have the same."""
    return _values(texts)


def _values(parts: Iterable[Any]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, map(_value_text, parts))))


def _find_field(body: Any, field: str) -> Any:
    if not _is_mapping(body):
        return None
    if field in body:
        return body[field]
    if "." in field:
        first, _, rest = field.partition(".")
        return _find_field(body.get(first), rest)
    for name in _PARTS:
        if _is_mapping(inner := body.get(name)) and field in inner:
            return inner[field]
    return None


def _is_mapping(value: Any) -> bool:
    return type(value) is dict or isinstance(value, Mapping)  # the check of an abstract class takes longer


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
    text = " ".join(value[: 4 * LONGEST_VALUE].split())
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 1] + "…"


def slice_name(field: str, value: str) -> str:
    """The name of a slice in limits and reports: `language=fr`."""
    return f"{field}={value}"


def find_limited_fields(names: Iterable[str]) -> Iterator[str]:
    """The fields that limits name; `names` are globs of slices, such as `language=fr`."""
    for name in names:
        field, is_named, _ = name.partition("=")
        if is_named and field and not set(field) & set("*?["):
            yield field


def list_cases(hashes: Sequence[str], rows: Iterable[int]) -> list[str]:
    """The cases of a slice, as hashes."""
    return [hashes[row] for row in rows]


def check_slice_fields(fields: tuple[str, ...]) -> tuple[str, ...]:
    """The fields as they are.

    Raises:
        ValueError: there are too many.
    """
    if len(fields) > MOST_FIELDS:
        raise ValueError(f"must name at most {MOST_FIELDS} fields")
    return fields


def check_slice_names(limits: Mapping[str, float]) -> Mapping[str, float]:
    """The limits by slice as they are.

    Raises:
        ValueError: one doesn't name a slice.
    """
    for name in limits:
        if not list(find_limited_fields([name])) or name.endswith("="):
            raise ValueError(f'{name!r:.100} must be FIELD=VALUE, such as "language=fr"')
    return limits
