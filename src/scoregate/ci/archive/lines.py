"""A case as a line of JSON; what holds its default is left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, is_dataclass
from functools import lru_cache
from math import isfinite
from typing import Any, TypeVar

from pydantic_core import from_json, to_json

from scoregate.core.case import CaseError, CaseResult
from scoregate.core.evaluation import Assertion, Evaluation, Naming, Threshold, Usage
from scoregate.core.events import ErrorInfo, Origin
from scoregate.core.intake import MOST_COUNTED, invalid_usage
from scoregate.core.pending import Contest

MAX_LINE_BYTES = 64 * 1024 * 1024
_T = TypeVar("_T")
_DEFAULTS = CaseResult(0, "")
_OPTIONAL = tuple(name for name in CaseResult.__slots__ if name not in ("suite", "hash", "evaluations", "labels"))
_MISTAKES = (KeyError, TypeError, AttributeError, OverflowError)


def case_line(case: CaseResult) -> bytes:
    """The line, without its end. Characters that are no Unicode are replaced."""
    given = {name: value for name in _OPTIONAL if (value := getattr(case, name)) != getattr(_DEFAULTS, name)}
    line = {"suite": case.suite, "hash": case.hash, **given}
    if case.evaluations:
        line["evaluations"] = {name: _set(evaluation) for name, evaluation in case.evaluations.items()}
    if case.labels:
        line["labels"] = {name: _set(naming) for name, naming in case.labels.items()}
    try:
        return _json(line)
    except ValueError:
        return _json(_cleaned(line))


def _json(value: object) -> bytes:
    return to_json(value, inf_nan_mode="null", bytes_mode="base64", serialize_unknown=True)


def _set(value: Evaluation | Naming | Threshold) -> dict[str, Any]:
    found = {name: part for name in value.__slots__ if (part := getattr(value, name)) is not None}
    return {name: _set(part) if isinstance(part, Threshold) else part for name, part in found.items()}


def _cleaned(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {_cleaned(name): _cleaned(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(part) for part in value]
    return _cleaned(asdict(value)) if is_dataclass(value) and not isinstance(value, type) else value


def case_of(line: bytes) -> CaseResult:
    """The case in a line. A score that is none becomes an error of its evaluator; the others stay.

    Raises:
        ValueError: it is no JSON, too long, or not a case.
    """
    if len(line) > MAX_LINE_BYTES:
        raise ValueError(f"longer than {MAX_LINE_BYTES:,} bytes")
    data = from_json(line)
    try:
        return _case(data)
    except KeyError as error:
        raise ValueError(f"no case: {error} is missing") from None
    except _MISTAKES as error:
        raise ValueError(f"no case: {error}") from None


def _case(data: Mapping[str, Any]) -> CaseResult:
    given = {name: _FIELDS[name](value) for name, value in data.items() if name in _FIELDS}
    suite, case_hash = given.pop("suite"), given.pop("hash")
    evaluations, invalid = given.pop("evaluations", None) or ({}, ())
    case = CaseResult(suite, case_hash, evaluations=evaluations, **given)
    case.errors.extend(invalid)
    return case


# Frozen, and few of them differ.
_threshold = lru_cache(maxsize=1024, typed=True)(Threshold)
_plainly = lru_cache(maxsize=4096)(Evaluation)


def _scored(data: Mapping[str, Any]) -> tuple[dict[str, Evaluation], list[CaseError]]:
    found: dict[str, Evaluation] = {}
    invalid: list[CaseError] = []
    for name, value in data.items():
        try:
            found[name] = _evaluation(value)
        except (TypeError, ValueError) as error:
            if not isinstance(value, Mapping):
                raise
            invalid.append(CaseError(ErrorInfo(type(error).__name__, str(error)), name))
    return found, invalid


def _evaluation(data: Mapping[str, Any]) -> Evaluation:
    threshold, assertions = data.get("threshold"), data.get("assertions")
    score, limit = data["score"], None if threshold is None else _threshold(**threshold)
    if type(score) is float and len(data) == 1 + (limit is not None):
        return _plainly(score, limit)
    return Evaluation(
        score,
        limit,
        data.get("metadata"),
        None if assertions is None else tuple(Assertion(**each) for each in assertions),
        _usage(data.get("usage")),
    )


def _namings(data: Mapping[str, Any]) -> dict[str, Naming]:
    return {
        name: Naming(_text(said["label"]), said.get("metadata"), _usage(said.get("usage")))
        for name, said in data.items()
    }


def _contest(data: Mapping[str, Any]) -> Contest:
    threshold = data.get("threshold")
    return Contest(
        _text(data["baseline"]),
        _text(data["challenger"]),
        _optional_text(data.get("rubric")),
        None if threshold is None else _threshold(**threshold),
    )


def _usage(data: Mapping[str, Any] | None) -> Usage | None:
    if data is None:
        return None
    usage = Usage(
        _checked(data.get("input_tokens", 0), int),
        _checked(data.get("output_tokens", 0), int),
        _checked(data.get("cached_tokens", 0), int),
        _number(data.get("cost")),
        _optional_text(data.get("model")),
        _optional_text(data.get("answer")),
        data.get("cached") is True,
    )
    if why := invalid_usage(usage):
        raise ValueError(f"no case: {why}")
    return usage


def _error(data: Mapping[str, Any]) -> CaseError:
    info = {name: _text(value) for name, value in data["error"].items()}
    return CaseError(ErrorInfo(**info), _optional_text(data.get("evaluator")), _usage(data.get("usage")))


def _origin(data: Mapping[str, Any] | None) -> Origin | None:
    return None if data is None else Origin(_text(data["file"]), _checked(data.get("line", 1), int))


def _texts(values: list[str] | None) -> tuple[str, ...]:
    return tuple(map(_text, _checked(values, list))) if values else ()


def _optional_text(value: object) -> str | None:
    return None if value is None else _text(value)


def _text(value: object) -> str:
    return value if type(value) is str else _checked(value, str)


def _count(value: object) -> int:
    count = value if type(value) is int else _checked(value, int)
    if not 0 <= count < MOST_COUNTED:
        raise OverflowError(f"{count:g} is no possible count")
    return count


def _number(value: object) -> float | None:
    number = value if type(value) is float else None if value is None else float(_checked(value, (int, float)))
    return number if number is not None and isfinite(number) else None


def _duration(value: object) -> float | None:
    number = _number(value)
    return number if number is not None and number >= 0 else None


def _checked(value: object, kind: type[_T] | tuple[type[_T], ...]) -> _T:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise TypeError(f"{value!r:.40} is of the wrong type")
    return value


def _as_it_is(value: Any) -> Any:
    return value


# What each field of a case is read by.
_FIELDS: dict[str, Callable[[Any], Any]] = {
    "evaluations": _scored,
    "labels": _namings,
    "suite": _count,
    "hash": _text,
    "repeat": _count,
    "name": _text,
    "input": _as_it_is,
    "output": _as_it_is,
    "truncated": lambda value: value is True,
    "duration_ms": _duration,
    "attempts": _count,
    "digest": _text,
    "tags": _texts,
    "cluster": _optional_text,
    "errors": lambda values: [_error(value) for value in values],
    "unscored": _texts,
    "pending": _texts,
    "contests": lambda values: {name: _contest(value) for name, value in values.items()},
    "usage": _usage,
    "trace": _as_it_is,
    "origin": _origin,
    "reused": _optional_text,
}
