"""The lines of a cases file: one trial as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, is_dataclass
from functools import lru_cache
from math import inf, isfinite
from operator import attrgetter
from typing import Any, TypeVar

from pydantic_core import from_json, to_json

from scoregate.kernel.types.evaluation import (
    Assertion,
    Evaluation,
    Label,
    Threshold,
    Usage,
    is_plain,
    make_plain_evaluation,
)
from scoregate.kernel.types.event_json import MOST_COUNTED, describe_invalid_usage
from scoregate.kernel.types.event_values import ErrorInfo, HumanReviewField, Origin, PairwiseComparison
from scoregate.kernel.types.runs.cases import CaseError, CaseResult
from scoregate.kernel.types.selection import CaseInput
from scoregate.kernel.types.text import replace_surrogates

MAX_LINE_BYTES = 64 * 1024 * 1024
_T = TypeVar("_T")
_DEFAULTS = CaseResult(0, "")
_OPTIONAL = tuple(name for name in CaseResult.__slots__ if name not in ("suite", "hash", "evaluations", "labels"))
_read_optional = attrgetter(*_OPTIONAL)
_OPTIONAL_DEFAULTS = _read_optional(_DEFAULTS)
_INVALID = (KeyError, TypeError, AttributeError, OverflowError)


def dump_case(case: CaseResult) -> bytes:
    """The JSON line of a case, without the line end. Characters that are not valid Unicode are replaced."""
    optional = zip(_OPTIONAL, _read_optional(case), _OPTIONAL_DEFAULTS, strict=True)
    # Most fields are the very objects of the defaults, and comparing values takes longer.
    fields = {name: value for name, value, default in optional if value is not default and value != default}
    line = {"suite": case.suite, "hash": case.hash, **fields}
    if case.evaluations:
        line["evaluations"] = {name: _defined_fields(evaluation) for name, evaluation in case.evaluations.items()}
    if case.labels:
        line["labels"] = {name: _defined_fields(label) for name, label in case.labels.items()}
    try:
        return _to_json(line)
    except ValueError:  # rare, so texts are searched for what JSON can't hold only now
        return _to_json(_replace_in_values(line))


def _to_json(value: object) -> bytes:
    return to_json(value, inf_nan_mode="null", bytes_mode="base64", serialize_unknown=True)


def _defined_fields(value: Evaluation | Label | Threshold) -> dict[str, Any]:
    if isinstance(value, Evaluation) and value.threshold is None and is_plain(value):
        return {"score": value.score}
    fields = {name: part for name in value.__slots__ if (part := getattr(value, name)) is not None}
    return {name: _defined_fields(part) if isinstance(part, Threshold) else part for name, part in fields.items()}


def _replace_in_values(value: object) -> object:
    if isinstance(value, str):
        return replace_surrogates(value)
    if isinstance(value, Mapping):
        return {_replace_in_values(name): _replace_in_values(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_replace_in_values(part) for part in value]
    return _replace_in_values(asdict(value)) if is_dataclass(value) and not isinstance(value, type) else value


def parse_case(line: bytes) -> CaseResult:
    """Parse the line of a case. A score that is not valid becomes an error of its evaluator; the others stay.

    Raises:
        ValueError: it is not JSON, too long, or not a case.
    """
    if len(line) > MAX_LINE_BYTES:
        raise ValueError(f"longer than {MAX_LINE_BYTES:,} bytes")
    return _parse_value(from_json(line))


def parse_cases(lines: Sequence[bytes]) -> Iterator[CaseResult | ValueError]:
    """Parse the lines of several cases; a line that is not a case gives the exception of `parse_case`.

    One call of the JSON parser for all lines takes less than half the time of a call for each (measured).
    """
    parse: Callable[[Any], CaseResult] = _parse_value
    values: Sequence[Any] | None = _parse_array(lines)
    if values is None:
        values, parse = lines, parse_case
    for value in values:
        try:
            yield parse(value)
        except ValueError as error:
            yield error


def parse_inputs(lines: Sequence[bytes]) -> Iterator[CaseInput]:
    """The inputs of several cases, without lines that are no case. This takes half the time of `parse_cases`."""
    for data in _parse_lines(lines):
        with suppress(*_INVALID):
            name, tags = _read_text(data.get("name", "")), _read_texts(data.get("tags"))
            yield CaseInput(_count(data["suite"]), _read_text(data["hash"]), tags, data.get("input"), name)


def _parse_array(lines: Sequence[bytes]) -> list[Any] | None:
    """The values of some lines; None if a line is invalid or too long, or has several values."""
    if sum(map(len, lines)) > MAX_LINE_BYTES:
        return None
    try:
        values: list[Any] = from_json(b"[%b]" % b",".join(lines))
    except ValueError:
        return None
    return values if len(values) == len(lines) else None


def _parse_lines(lines: Sequence[bytes]) -> Iterator[Any]:
    """The values of some lines, without those that are invalid."""
    values = _parse_array(lines)
    if values is not None:
        yield from values
        return
    for line in lines:
        with suppress(ValueError):
            yield from_json(line)


def _parse_value(data: Any) -> CaseResult:
    fields: dict[str, Any] = {}
    try:
        for key, value in data.items():
            if (known := _FIELDS.get(key)) is not None:
                name, usual_type, parse = known
                fields[name] = value if type(value) is usual_type else parse(value)
        evaluations, invalid = fields.pop("evaluations", None) or ({}, ())
        case = CaseResult(fields.pop("suite"), fields.pop("hash"), evaluations=evaluations, **fields)
    except KeyError as error:
        raise ValueError(f"not a case: {error} is missing") from None
    except _INVALID as error:
        raise ValueError(f"not a case: {error}") from None
    if invalid:
        case.errors.extend(invalid)
    return case


_threshold = lru_cache(maxsize=1024, typed=True)(Threshold)  # they are frozen, and many are equal


@lru_cache(maxsize=4096, typed=True)
def _make_bounded_evaluation(score: float, name: str, bound: float) -> Evaluation:
    """An evaluation that is only a score and one bound, which are hashed in less time than a threshold."""
    return Evaluation(score, _threshold(**{name: bound}))


def _read_evaluations(data: Mapping[str, Any]) -> tuple[dict[str, Evaluation], list[CaseError]]:
    evaluations: dict[str, Evaluation] = {}
    invalid: list[CaseError] = []
    for name, value in data.items():
        try:
            is_score = len(value) == 1 and type(score := value["score"]) is float
            evaluations[name] = make_plain_evaluation(score, None) if is_score else _read_evaluation(value)
        except (TypeError, ValueError) as error:
            if not isinstance(value, Mapping):
                raise
            invalid.append(CaseError(ErrorInfo(type(error).__name__, str(error)), name))
    return evaluations, invalid


def _read_evaluation(data: Mapping[str, Any]) -> Evaluation:
    score, threshold, assertions = data["score"], data.get("threshold"), data.get("assertions")
    if type(threshold) is dict and len(threshold) == 1 and len(data) == 2 and type(score) is float:
        ((name, bound),) = threshold.items()
        return _make_bounded_evaluation(score, name, bound)
    limit = None if threshold is None else _threshold(**threshold)
    if type(score) is float and len(data) == 1 + (limit is not None):
        return make_plain_evaluation(score, limit)
    return Evaluation(
        score,
        limit,
        data.get("metadata"),
        None if assertions is None else tuple(Assertion(**each) for each in assertions),
        _read_usage(data.get("usage")),
    )


def _read_labels(data: Mapping[str, Any]) -> dict[str, Label]:
    return {
        name: Label(_read_text(fields["label"]), fields.get("metadata"), _read_usage(fields.get("usage")))
        for name, fields in data.items()
    }


def _pairwise_comparison(data: Mapping[str, Any]) -> PairwiseComparison:
    threshold = data.get("threshold")
    return PairwiseComparison(
        _read_text(data["baseline"]),
        _read_text(data["challenger"]),
        _optional_text(data.get("rubric")),
        None if threshold is None else _threshold(**threshold),
    )


def _read_usage(data: Mapping[str, Any] | None) -> Usage | None:
    if data is None:
        return None
    usage = Usage(
        _check_type(data.get("input_tokens", 0), int),
        _check_type(data.get("output_tokens", 0), int),
        _check_type(data.get("cached_tokens", 0), int),
        _number(data.get("cost")),
        _optional_text(data.get("model")),
        _optional_text(data.get("answer")),
        data.get("cached") is True,
        _check_type(data.get("calls", 1), int),
        _check_type(data.get("stored", 0), int),
        _optional_text(data.get("unpriced")),
    )
    if why := describe_invalid_usage(usage):
        raise ValueError(f"not a case: {why}")
    return usage


def _read_error(data: Mapping[str, Any]) -> CaseError:
    info = {name: _read_text(value) for name, value in data["error"].items()}
    return CaseError(ErrorInfo(**info), _optional_text(data.get("evaluator")), _read_usage(data.get("usage")))


def _read_origin(data: Mapping[str, Any] | None) -> Origin | None:
    return None if data is None else Origin(_read_text(data["file"]), _check_type(data.get("line", 1), int))


def _review_fields(values: list[dict[str, Any]]) -> tuple[HumanReviewField, ...]:
    return tuple(HumanReviewField(**value) for value in values)


def _read_texts(values: list[str] | None) -> tuple[str, ...]:
    return tuple(map(_read_text, _check_type(values, list))) if values else ()


def _optional_text(value: object) -> str | None:
    return None if value is None else _read_text(value)


def _read_text(value: object) -> str:
    return value if type(value) is str else _check_type(value, str)


def _count(value: object) -> int:
    count = value if type(value) is int else _check_type(value, int)
    if not 0 <= count < MOST_COUNTED:
        raise OverflowError(f"{count:g} is not a possible count")
    return count


def _number(value: object) -> float | None:
    number = value if type(value) is float else None if value is None else float(_check_type(value, (int, float)))
    return number if number is not None and isfinite(number) else None


def _read_duration(value: object) -> float | None:
    if type(value) is float and 0 <= value < inf:
        return value
    number = _number(value)
    return number if number is not None and number >= 0 else None


def _check_type(value: object, kind: type[_T] | tuple[type[_T], ...]) -> _T:
    if not isinstance(value, kind) or isinstance(value, bool):  # True is an int
        raise TypeError(f"{value!r:.40} is of the wrong type")
    return value


def _keep_value(value: Any) -> Any:
    return value


# The usual types of some fields, whose values need no parsing: each case has many of them, and a call takes time.
_USUAL_TYPES = {**dict.fromkeys(("hash", "name", "digest", "output"), str), "input": dict}
_PARSERS: dict[str, Callable[[Any], Any]] = {
    "evaluations": _read_evaluations,
    "labels": _read_labels,
    "suite": _count,
    "hash": _read_text,
    "repeat": _count,
    "name": _read_text,
    "input": _keep_value,
    "output": _keep_value,
    "truncated": lambda value: value is True,
    "duration_ms": _read_duration,
    "attempts": _count,
    "digest": _read_text,
    "tags": _read_texts,
    "cluster": _optional_text,
    "errors": lambda values: [_read_error(value) for value in values],
    "unscored": _read_texts,
    "pending": _read_texts,
    "contests": lambda values: {name: _pairwise_comparison(value) for name, value in values.items()},
    "usage": _read_usage,
    "trace": _keep_value,
    "origin": _read_origin,
    "reused": _optional_text,
    "dataset_item_id": _optional_text,
    "review_inputs": _review_fields,
    "review_outputs": _review_fields,
}
# Each field with its name, which is interned. A key in JSON is not, so it is a slower name of an argument.
_FIELDS = {name: (name, _USUAL_TYPES.get(name), parse) for name, parse in _PARSERS.items()}
