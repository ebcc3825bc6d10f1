"""Scorers of JSON and of numbers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from itertools import islice
from math import isclose, isfinite
from typing import Any

from scoregate.kernel.types.evaluation import Evaluation, require_number
from scoregate.kernel.types.json_io import to_plain_with_nan, to_text
from scoregate.kernel.types.text import parse_number
from scoregate.scorers.check import Check, Values, find_expected, import_extra, pass_or_fail, read_argument
from scoregate.scorers.pattern_search import search_pattern

_MOST_DIFFERENCES = 5
_LONGEST = 200


def json_valid(*, name: str | None = None) -> Check:
    """Passes if the output is valid JSON (RFC 8259: no NaN, no Infinity). Values that are no texts count as JSON, too.

    Args:
        name: the scorer's name; default: "json_valid".
    """
    return Check(name or "json_valid", _check_json)


def json_schema(schema: Mapping[str, Any], *, name: str | None = None) -> Check:
    """Passes if the output is JSON that fits a JSON Schema. Nothing is loaded from the network.

    Args:
        schema: the schema.
        name: the scorer's name; default: "json_schema".

    Raises:
        MissingExtra: jsonschema is not installed.
        ValueError: the schema is invalid.
    """
    jsonschema = _import_jsonschema()
    try:
        jsonschema.validators.validator_for(schema).check_schema(schema)
    except jsonschema.exceptions.SchemaError as error:
        raise ValueError(f"the schema is invalid: {error.message}") from None
    return Check(name or "json_schema", _check_schema, {"schema": dict(schema)})


def json_equals(
    expected: Any = ..., *, ignore: Iterable[str] = (), tolerance: float = 0.0, name: str | None = None
) -> Check:
    """Passes if the output is JSON that equals the expected value. The order of keys does not count.

    Args:
        expected: the value, or its JSON text; None is `null`. Default: the case's `expected`.
        ignore: paths that may differ, such as "id" or "items.*.price"; `*` matches every key or index.
        tolerance: by how much numbers may differ.
        name: the scorer's name; default: "json_equals".
    """
    if isinstance(ignore, str):
        raise TypeError(f"ignore must be a list of paths: [{ignore!r:.60}]")
    parameters = {**read_argument(expected), "ignore": list(ignore), "tolerance": tolerance}
    return Check(name or "json_equals", _check_json_equality, parameters)


def numeric_close(
    expected: float | None = None, *, tolerance: float = 0.0, relative: float = 0.0, name: str | None = None
) -> Check:
    """Passes if the output is a number, or a text that is one, close to the expected number.

    Args:
        expected: the number; default: the case's `expected`.
        tolerance: by how much it may differ.
        relative: the same as a share of the larger number, such as 0.01.
        name: the scorer's name; default: "numeric_close".
    """
    parameters = {"expected": expected, "tolerance": tolerance, "relative": relative}
    return Check(name or "numeric_close", _check_number, parameters)


def latency(max_s: float, *, name: str | None = None) -> Check:
    """Passes if the task took at most so many seconds. An answer from the cache of models takes almost none.

    Args:
        max_s: the longest duration in seconds.
        name: the scorer's name; default: "latency".

    Raises:
        TypeError: `max_s` is not a number.
    """
    return Check(name or "latency", _check_latency, {"max_s": require_number(max_s, "latency: max_s")})


def _check_latency(values: Values, *, max_s: float) -> Evaluation:
    return pass_or_fail(values.duration_s <= max_s, f"{values.duration_s:.3g} s")


def _check_json(values: Values) -> Evaluation:
    try:
        _require_finite(_parse(values.output))
    except ValueError as error:
        return pass_or_fail(False, str(error))
    return pass_or_fail(True, "")


def _check_schema(values: Values, *, schema: Mapping[str, Any]) -> Evaluation:
    jsonschema = _import_jsonschema()
    try:
        value = _parse(values.output)
        _require_finite(value)
    except ValueError as error:
        return pass_or_fail(False, str(error))
    from referencing import Registry

    # Without a registry, it would load the references of a schema from the network.
    validator = _limit_patterns(jsonschema.validators.validator_for(schema))(schema, registry=Registry())
    problem = next(validator.iter_errors(value), None)
    reason = "" if problem is None else f"{problem.json_path}: {problem.message:.{_LONGEST}}"
    return pass_or_fail(problem is None, reason)


@cache
def _limit_patterns(validator: Any) -> Any:
    """A class of validators whose keyword `pattern` ends within a second."""
    jsonschema = _import_jsonschema()

    def check_pattern(validator: Any, pattern: str, instance: Any, _schema: Any) -> Iterator[Any]:
        if validator.is_type(instance, "string") and not search_pattern(pattern, instance):
            yield jsonschema.exceptions.ValidationError(f"{instance!r} does not match {pattern!r}")

    return jsonschema.validators.extend(validator, {"pattern": check_pattern})


def _check_json_equality(
    values: Values, *, expected: Any, ignore: list[str], tolerance: float, expects_none: bool = False
) -> Evaluation:
    wanted = None if expects_none else _parse(find_expected(values, expected, "json_equals"), what="expected")
    try:
        output = _parse(values.output)
    except ValueError as error:
        return pass_or_fail(False, str(error))
    differences = list_differences(wanted, output, ignore, tolerance)
    return pass_or_fail(not differences, "; ".join(differences))


def list_differences(wanted: Any, output: Any, ignore: Iterable[str] = (), tolerance: float = 0.0) -> list[str]:
    """The first differences of two JSON values, each with its path.

    Args:
        wanted: the expected value.
        output: the other one.
        ignore: paths that may differ.
        tolerance: by how much numbers may differ.
    """
    found = _compare(wanted, output, (), [tuple(path.split(".")) for path in ignore], tolerance)
    return list(islice(found, _MOST_DIFFERENCES))


def _compare(
    wanted: Any, output: Any, path: tuple[str, ...], ignore: list[tuple[str, ...]], tolerance: float
) -> Iterator[str]:
    """The differences of two JSON values, each with its path."""
    if any(len(each) == len(path) and all(map(fnmatchcase, path, each)) for each in ignore):
        return
    where = ".".join(path) or "the value"
    if _have_same_bytes(wanted, output):
        return
    if isinstance(wanted, dict) and isinstance(output, dict):
        for key in dict.fromkeys((*wanted, *output)):
            yield from _compare(wanted.get(key, _MISSING), output.get(key, _MISSING), (*path, key), ignore, tolerance)
    elif isinstance(wanted, list) and isinstance(output, list):
        for index in range(max(len(wanted), len(output))):
            one, other = (side[index] if index < len(side) else _MISSING for side in (wanted, output))
            yield from _compare(one, other, (*path, str(index)), ignore, tolerance)
    elif output is _MISSING:
        yield f"{where} is missing"
    elif wanted is _MISSING:
        yield f"{where} is not expected"
    elif not _equals(wanted, output, tolerance):
        yield f"{where} is {_show(output)}, expected {_show(wanted)}"


def _show(value: Any) -> str:
    return str(value) if isinstance(value, float) and not isfinite(value) else f"{to_text(value):.60}"


def _have_same_bytes(wanted: Any, output: Any) -> bool:
    """Whether both are references to one image or recording. Its name does not count, as in `Media` itself."""
    if not isinstance(wanted, dict) or "media" not in wanted or not isinstance(output, dict):
        return False
    from scoregate.kernel.types.media import read_reference

    one, other = read_reference(wanted), read_reference(output)
    return one is not None and other is not None and one.digest == other.digest


_MISSING = object()


def _equals(wanted: Any, output: Any, tolerance: float) -> bool:
    numbers = [parse_number(each) for each in (wanted, output)]
    if numbers[0] is None or numbers[1] is None:
        return type(wanted) is type(output) and bool(wanted == output)
    return isclose(numbers[0], numbers[1], rel_tol=0, abs_tol=tolerance)


def _check_number(values: Values, *, expected: float | None, tolerance: float, relative: float) -> Evaluation:
    given = find_expected(values, expected, "numeric_close")
    if (wanted := _to_number(given)) is None:
        raise ValueError(f"numeric_close needs a number in `expected`, not {given!r:.60}")
    if (number := _to_number(values.output)) is None:
        return pass_or_fail(False, f"not a number: {to_text(values.output):.60}")
    passed = isclose(number, wanted, rel_tol=relative, abs_tol=tolerance)
    return pass_or_fail(passed, f"{number:g}, expected {wanted:g}")


def _to_number(value: Any) -> float | None:
    if isinstance(value, str):
        try:
            return float(value.strip())
        except ValueError:
            return None
    return parse_number(value)


def _parse(value: Any, *, what: str = "the output") -> Any:
    """The JSON value of a text; another value as plain data, with NaN and infinite numbers.

    Raises:
        ValueError: the text is not JSON.
    """

    def reject(constant: str) -> Any:
        raise ValueError(f"{constant} is not JSON")

    if not isinstance(value, str):
        return to_plain_with_nan(value)
    try:
        return json.loads(value, parse_constant=reject)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{what} is not JSON: {error or type(error).__name__}") from None


def _require_finite(value: Any) -> None:
    """Check that plain data has only numbers that JSON has. A schema's limits would accept NaN.

    Raises:
        ValueError: a number is NaN or infinite.
    """
    if isinstance(value, float) and not isfinite(value):
        raise ValueError(f"the output is not JSON: it has the number {value}")
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _require_finite(each)


def _import_jsonschema() -> Any:
    return import_extra("jsonschema", "json_schema needs", extra="scorers")
