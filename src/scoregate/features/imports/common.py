"""What importers share: trials, names, scales and checked fields."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any

from scoregate.kernel.run.documents.files import Part
from scoregate.kernel.types.evaluation import Scale, Threshold, Usage
from scoregate.kernel.types.event_values import ErrorInfo
from scoregate.kernel.types.identity import bounded_name, select_short_fields
from scoregate.kernel.types.json_io import dump
from scoregate.kernel.types.records import record
from scoregate.kernel.types.text import parse_amount, parse_number

PASSED = "passed"
MET = Threshold(gte=1)


@record
class Grade:
    """The result of one evaluator for one trial: a score, a label, or an error if it failed. A bool is a verdict."""

    evaluator: str
    score: float | None = None
    threshold: Threshold | None = None
    metadata: Mapping[str, Any] | None = None
    usage: Usage | None = None
    error: ErrorInfo | None = None
    label: str = ""


@record
class Trial:
    """One run of one case.

    Attributes:
        key: the case's own id or name; empty if it has none. A position is not an id: if the input is known, its digest
            is the key.
        repeat: the number of the trial, from 0.
        definition: equal in two trials of the same case.
        duration_ms: how long the task took, in milliseconds.
        unscored: the evaluators that returned nothing, which is allowed.
        case: the final key of the case, if other trials share it.
        own: the id or position that the file states, if it is not `key`; None if it states none.
        metadata: what else the file says about the case, such as its document. It doesn't identify the case.
        cluster: the group of related cases that the file names; None without one.
    """

    key: str
    name: str = ""
    repeat: int = 0
    input: Any = None
    definition: Any = None
    output: Any = None
    duration_ms: float | None = None
    attempts: int = 1
    usage: Usage | None = None
    tags: tuple[str, ...] = ()
    grades: tuple[Grade, ...] = ()
    error: ErrorInfo | None = None
    unscored: tuple[str, ...] = ()
    case: str = ""
    own: str | None = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    cluster: str | None = None

    @property
    def described_input(self) -> Any:
        """The input with the short values of the metadata, as slices and clusters read them."""
        if not (metadata := select_short_fields(self.metadata)):
            return self.input
        if not isinstance(self.input, Mapping):
            return {"metadata": metadata} if self.input is None else {"input": self.input, "metadata": metadata}
        return self.input if "metadata" in self.input else {**self.input, "metadata": metadata}


def with_unique_names(grades: Iterable[Grade]) -> Iterator[Grade]:
    """The grades with a different name for each evaluator."""
    names = FreeNames()
    for grade in grades:
        evaluator = bounded_name(grade.evaluator) or "unnamed"
        yield replace(grade, evaluator=names.take(evaluator))


@dataclass(slots=True)
class FreeNames:
    """Gives equal names of a group different numbers."""

    _taken: set[tuple[str, int]] = field(default_factory=set)
    _next: dict[tuple[str, int], int] = field(default_factory=dict)

    def take(self, name: str, group: int = 0) -> str:
        """The name, with a number if it is taken."""
        free = name
        while (free, group) in self._taken:
            number = self._next.get((name, group), 2)
            self._next[name, group] = number + 1
            free = f"{name} #{number}"
        self._taken.add((free, group))
        return free


def show_position(name: str, case_input: object) -> str:
    """A name to show: a position, with the start of the input."""
    return f"{name}: {excerpt(case_input, 80)}" if name else excerpt(case_input)


def excerpt(value: object, limit: int = 120) -> str:
    """The start of a text, or of a value as JSON, on one line."""
    text = value if isinstance(value, str) else dump(value).decode("utf-8", "replace")
    line = " ".join(text[: 4 * limit].split())  # no megabytes are split for one line
    return line if len(line) <= limit else f"{line[:limit]}…"


def name_suite(name: str) -> str:
    """The name of a suite on one line. Long names that differ at their end stay different."""
    return bounded_name(" ".join(name.split()))


_NOTHING: Mapping[str, Any] = {}
_MOST_TOKENS = 2**53  # above it, numbers of JSON are not exact
_LONGEST_TEXT = 32_000


def table(value: object) -> Mapping[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else _NOTHING


def tables(value: object) -> Iterator[Mapping[str, Any]]:
    """The objects in an array."""
    return (each for each in value if isinstance(each, Mapping)) if isinstance(value, list) else iter(())


def read_table(value: object, name: str) -> Mapping[str, Any]:
    """An object with results; an empty one if it is missing.

    Args:
        value: the value in the file.
        name: its name in the file.

    Raises:
        ValueError: it is something else: results would be lost.
    """
    if value is None:
        return _NOTHING
    if not isinstance(value, Mapping):
        raise ValueError(f"`{name}` is not an object: {excerpt(value, 40)}")
    return value


def read_tables(value: object, name: str) -> list[Mapping[str, Any]]:
    """An array of objects with results; an empty one if it is missing.

    Args:
        value: the value in the file.
        name: its name in the file.

    Raises:
        ValueError: it is something else, or one of its elements is: results would be lost.
    """
    if value is None:
        return []
    if not isinstance(value, list):
        raise ValueError(f"`{name}` is not an array: {excerpt(value, 40)}")
    return list(check_elements(value, name))


def list_rows(array: Part, name: str) -> Iterator[Mapping[str, Any]]:
    """The objects in an array of results that is read in pieces.

    Args:
        array: the array.
        name: its name in the file.

    Raises:
        ValueError: it is not an array, or one of its elements is not an object: a result would be lost.
    """
    if not array.is_array:
        raise ValueError(f"`{name}` is not an array")
    yield from check_elements((element.value for element in array.elements()), name)


def check_elements(values: Iterable[object], name: str) -> Iterator[Mapping[str, Any]]:
    """Yield the elements of an array with results.

    Args:
        values: the elements.
        name: the name of the array in the file.

    Raises:
        ValueError: one is not an object: a result would be lost.
    """
    for number, each in enumerate(values, 1):
        if not isinstance(each, Mapping):
            raise ValueError(f"element {number:,} of `{name}` is not an object: {excerpt(each, 40)}")
        yield each


def no_verdict(evaluator: str, why: str) -> Grade:
    """The error of an evaluator whose result is neither pass nor fail."""
    return Grade(evaluator, error=error("NoVerdict", why))


def text(value: object) -> str:
    """A text, or a whole number as text; empty for other types."""
    if isinstance(value, bool) or not isinstance(value, str | int):  # a bool is an int, too
        return ""
    return str(value)


def flag(value: object) -> bool | None:
    """True or False; None for other types."""
    return value if isinstance(value, bool) else None


def count(value: object) -> int:
    """A count; 0 if it is not valid."""
    number = parse_amount(value)
    return int(number) if number is not None and number < _MOST_TOKENS else 0


def milliseconds(seconds: object) -> float | None:
    """A duration in seconds, in milliseconds."""
    amount = parse_amount(seconds)
    return None if amount is None else amount * 1000


def usage(
    tokens_in: object, tokens_out: object, *, cached: object = None, cost: object, model: str = ""
) -> Usage | None:
    """The usage; None if all of it is unknown."""
    dollars = parse_amount(cost)
    result = Usage(count(tokens_in), count(tokens_out), count(cached), dollars, model or None)
    is_known = result.input_tokens or result.output_tokens or result.cached_tokens or dollars
    return result if is_known else None


def defined_fields(**fields: object) -> dict[str, Any]:
    """The fields that have a value, as metadata."""
    return {name: value for name, value in fields.items() if value not in (None, "", {}, [])}


def error(kind: str, message: object, traceback: object = "") -> ErrorInfo:
    """An error with texts of limited length; of a traceback, the end is kept."""
    bounded = text(message)[:_LONGEST_TEXT]
    return ErrorInfo(kind[:200], bounded or "no message", text(traceback)[-_LONGEST_TEXT:])


Scales = Mapping[str, tuple[float, float]]


def read_scales(metadata: object) -> Scales:
    """The scales that a file states: `{"scales": {"NAME": [lowest, highest]}}` in its metadata."""
    scales = {}
    for name, bounds in table(table(metadata).get("scales")).items():
        low, high = map(parse_number, bounds) if isinstance(bounds, list) and len(bounds) == 2 else (None, None)
        # Their difference may overflow.
        if low is not None and high is not None and low < high and isfinite(high - low):
            scales[name] = (low, high)
    return scales


def to_unit_scale(grade: Grade, scales: Scales) -> Grade:
    """The grade in [0, 1], with its own value and scale in its metadata; unchanged without a scale."""
    bounds = scales.get(grade.evaluator)
    if bounds is None or grade.score is None or isinstance(grade.score, bool):
        return grade
    metadata: dict[str, Any] = {"value": grade.score, "scale": [*bounds], **(grade.metadata or {})}
    scale = Scale(*bounds)
    threshold = grade.threshold and scale.threshold(grade.threshold)
    return Grade(grade.evaluator, scale.part(grade.score), threshold, metadata, grade.usage, grade.error)


def matching_threshold(score: float, passed: bool | None, limit: float | None) -> Threshold | None:
    """The threshold by which this score has the same verdict as in the framework.

    Args:
        score: the score as the framework reports it.
        passed: its verdict; None without one.
        limit: the framework's threshold; the verdict shows its direction. Without it, only 0 and 1 get a threshold.
    """
    if passed is None:
        return None
    if limit is None or not isfinite(limit):
        return MET if passed is (score >= 1) else None
    # Whether the limit itself passes differs between frameworks, so the verdict decides.
    if score == limit:
        return Threshold(gte=limit) if passed else Threshold(gt=limit)
    return Threshold(gte=limit) if passed is (score > limit) else Threshold(lte=limit)


def pass_fail_grade(evaluator: str, passed: bool, metadata: Mapping[str, Any] | None = None) -> Grade:
    """A pass or fail without a score of its own."""
    return Grade(evaluator, passed, MET, metadata)
