"""Scorers of texts: equal, contained, matching, similar, long enough."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Literal

from scoregate.kernel.types.evaluation import Evaluation, Threshold
from scoregate.kernel.types.json_io import to_plain_with_nan, to_text
from scoregate.scorers.check import (
    Check,
    Values,
    check_length,
    find_expected,
    import_extra,
    pass_or_fail,
    read_argument,
)
from scoregate.scorers.output_texts import add_field
from scoregate.scorers.pattern_search import search_pattern

_LONGEST = 100
# The time for a comparison is a product of the lengths.
_MOST_CHARACTERS = 100_000


def equals(expected: Any = ..., *, ignore_case: bool = False, strip: bool = True, name: str | None = None) -> Check:
    """Passes if the output equals the expected output.

    Args:
        expected: what to compare with, None too; default: the case's `expected`.
        ignore_case: whether texts may differ in upper and lower case.
        strip: whether texts may differ in white space at their ends.
        name: the scorer's name; default: "equals", with the argument if there is one.
    """
    parameters = {**read_argument(expected), "ignore_case": ignore_case, "strip": strip}
    named = "equals" if expected is ... else f"equals {_shorten(expected)}"
    return Check(name or named, _check_equality, parameters)


def contains(
    text: str | None = None, *, ignore_case: bool = False, field: str | None = None, name: str | None = None
) -> Check:
    """Passes if the output contains a text.

    Args:
        text: the text; default: the case's `expected`.
        ignore_case: whether upper and lower case are equal.
        field: the path of the text in outputs that are objects, such as "answer" or "messages.-1.content"; "$" is their
            JSON. Default: the output is the text.
        name: the scorer's name; default: "contains", with the text if it is given.
    """
    parameters = {"texts": text, "ignore_case": ignore_case, "needs": "text", "check": "contains"}
    named = name or _make_name("contains", text)
    return Check(named, _check_containment, add_field(parameters, field, "contains"))


def contains_all(
    texts: Iterable[str] | None = None, *, ignore_case: bool = False, field: str | None = None, name: str | None = None
) -> Check:
    """Passes if the output contains all texts.

    Args:
        texts: the texts; default: the case's `expected`, a list.
        ignore_case: whether upper and lower case are equal.
        field: the path of the text in outputs that are objects, such as "answer" or "messages.-1.content"; "$" is their
            JSON. Default: the output is the text.
        name: the scorer's name; default: "contains_all", with the texts if they are given.
    """
    return _make_containment("contains_all", "all", texts, ignore_case, field, name)


def contains_any(
    texts: Iterable[str] | None = None, *, ignore_case: bool = False, field: str | None = None, name: str | None = None
) -> Check:
    """Passes if the output contains at least one of the texts.

    Args:
        texts: the texts; default: the case's `expected`, a list.
        ignore_case: whether upper and lower case are equal.
        field: the path of the text in outputs that are objects, such as "answer" or "messages.-1.content"; "$" is their
            JSON. Default: the output is the text.
        name: the scorer's name; default: "contains_any", with the texts if they are given.
    """
    return _make_containment("contains_any", "any", texts, ignore_case, field, name)


def regex(
    pattern: str | None = None,
    *,
    flags: int = 0,
    full: bool = False,
    field: str | None = None,
    name: str | None = None,
) -> Check:
    """Passes if the output matches a regular expression.

    Args:
        pattern: the expression; default: the case's `expected`.
        flags: flags of the module `re`, such as `re.IGNORECASE`.
        full: whether the whole output must match, and not only a part of it.
        field: the path of the text in outputs that are objects, such as "answer" or "messages.-1.content"; "$" is their
            JSON. Default: the output is the text.
        name: the scorer's name; default: "regex", with the expression if it is given.

    Raises:
        re.error: the expression is invalid.
    """
    if pattern is not None:
        re.compile(pattern, flags)
    parameters = {"pattern": pattern, "flags": int(flags), "full": full}
    return Check(name or _make_name("regex", pattern), _check_regex, add_field(parameters, field, "regex"))


def length(
    *, min: int | None = None, max: int | None = None, unit: Literal["characters", "words"] = "characters",  # noqa: A002
    field: str | None = None, name: str | None = None,
) -> Check:  # fmt: skip
    """Passes if the output has a length in a range. Both ends are included.

    Args:
        min: the shortest length; default: any.
        max: the longest length; default: any.
        unit: what is counted, "characters" or "words".
        field: the path of the text in outputs that are objects, such as "answer" or "messages.-1.content"; "$" is their
            JSON. Default: the output is the text.
        name: the scorer's name; default: "length".

    Raises:
        ValueError: there is no such unit, or neither `min` nor `max` is given.
    """
    if unit not in ("characters", "words"):
        raise ValueError(f"unit must be 'characters' or 'words', not {unit!r}")
    if min is None and max is None:
        raise ValueError("length needs `min`, `max` or both")
    return Check(name or "length", _check_length, add_field({"least": min, "most": max, "unit": unit}, field, "length"))


def levenshtein(
    expected: str | None = None,
    *,
    threshold: Threshold | float | None = None,
    field: str | None = None,
    name: str | None = None,
) -> Check:
    """Scores how few characters differ: 1 minus the edit distance divided by the length of the longer text.

    Args:
        expected: what to compare with; default: the case's `expected`.
        threshold: the score at or above which a case passes; default: the score is only compared.
        field: the path of the text in outputs that are objects, such as "answer" or "messages.-1.content"; "$" is their
            JSON. Default: the output is the text.
        name: the scorer's name; default: "levenshtein".

    Raises:
        MissingExtra: rapidfuzz is not installed.
    """
    return _make_comparison("levenshtein", expected, threshold, field, name)


def similarity(
    expected: str | None = None,
    *,
    threshold: Threshold | float | None = None,
    field: str | None = None,
    name: str | None = None,
) -> Check:
    """Scores how similar the words of two texts are, in any order and case.

    Args:
        expected: what to compare with; default: the case's `expected`.
        threshold: the score at or above which a case passes; default: the score is only compared.
        field: the path of the text in outputs that are objects, such as "answer" or "messages.-1.content"; "$" is their
            JSON. Default: the output is the text.
        name: the scorer's name; default: "similarity".

    Raises:
        MissingExtra: rapidfuzz is not installed.
    """
    return _make_comparison("similarity", expected, threshold, field, name)


def _make_comparison(
    measure: str, expected: str | None, threshold: Threshold | float | None, field: str | None, name: str | None
) -> Check:
    _import_rapidfuzz()
    parameters = add_field({"expected": expected, "measure": measure}, field, measure)
    return Check(name or measure, _measure_similarity, parameters, threshold)


def _make_name(check: str, argument: Any) -> str:
    """The name of a check with its argument, so that a suite can have several of one kind."""
    return check if argument is None else f"{check} {_shorten(argument)}"


def _shorten(argument: Any) -> str:
    return " ".join(to_text(argument).split())[:_LONGEST]


def _make_containment(
    check: str, needs: str, texts: Any, ignore_case: bool, field: str | None, name: str | None
) -> Check:
    if isinstance(texts, str):
        raise TypeError(f"{check} needs a list of texts; for one text use contains({texts!r:.60})")
    given = None if texts is None else list(texts)
    parameters = {"texts": given, "ignore_case": ignore_case, "needs": needs, "check": check}
    named = name or _make_name(check, None if given is None else ", ".join(given))
    return Check(named, _check_containment, add_field(parameters, field, check))


def _check_equality(
    values: Values, *, expected: Any, ignore_case: bool, strip: bool, expects_none: bool = False
) -> Evaluation:
    wanted, output = None if expects_none else find_expected(values, expected, "equals"), values.output

    def normalize(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        text = value.strip() if strip else value
        return text.casefold() if ignore_case else text

    passed = bool(normalize(output) == normalize(wanted))
    reason = f"expected {to_text(wanted):.{_LONGEST}}"
    if not passed and to_text(output) == to_text(wanted):  # such as the text "2" from a CSV file, and the number 2
        reason = f"{reason} as {type(wanted).__name__}, not as {type(output).__name__}"
    elif not passed and (differences := _find_differences(wanted, output)):
        reason = differences
    return pass_or_fail(passed, reason)


def _find_differences(wanted: Any, output: Any) -> str:
    """Where two objects or two lists differ; empty for other values, and for sets, which have no order."""
    if isinstance(wanted, set | frozenset) or isinstance(output, set | frozenset):
        return ""
    try:
        plain = [to_plain_with_nan(each) for each in (wanted, output)]
    except (TypeError, ValueError, RecursionError):  # an object that contains itself, for example
        return ""
    if not all(isinstance(each, dict) for each in plain) and not all(isinstance(each, list) for each in plain):
        return ""
    from scoregate.scorers.documents import list_differences

    return "; ".join(list_differences(*plain))


def _check_containment(values: Values, *, texts: Any, ignore_case: bool, needs: str, check: str) -> Evaluation:
    expected = find_expected(values, texts, check)
    if needs == "text" and isinstance(expected, list | tuple):
        raise TypeError(
            f"{check} takes one text, not {expected!r:.60}; use contains_all() or contains_any() for several"
        )
    wanted = [expected] if needs == "text" or isinstance(expected, str) else expected
    if not isinstance(wanted, list | tuple) or not wanted:
        raise TypeError(f"{check} needs texts in `expected`, not {expected!r:.60}")
    if any(isinstance(each, bool) or not isinstance(each, str | int | float) or each == "" for each in wanted):
        raise TypeError(f"{check} needs texts that are not empty, not {expected!r:.60}")
    text = values.read_output(check)
    text = text.casefold() if ignore_case else text
    missing = [str(each) for each in wanted if (str(each).casefold() if ignore_case else str(each)) not in text]
    passed = len(missing) < len(wanted) if needs == "any" else not missing
    return pass_or_fail(passed, f"missing: {', '.join(missing):.{_LONGEST}}")


def _check_regex(values: Values, *, pattern: str | None, flags: int, full: bool) -> Evaluation:
    expression = re.compile(find_expected(values, pattern, "regex"), flags)
    if not expression.pattern and not full:
        raise ValueError("regex needs an expression that is not empty: every output matches an empty one")
    passed = search_pattern(expression.pattern, values.read_output("regex"), flags=expression.flags, full=full)
    return pass_or_fail(passed, f"no match of {expression.pattern:.{_LONGEST}}")


def _check_length(values: Values, *, least: int | None, most: int | None, unit: str) -> Evaluation:
    text = values.read_output("length")
    count = len(text.split()) if unit == "words" else len(text)
    passed = (least is None or count >= least) and (most is None or count <= most)
    return pass_or_fail(passed, f"{count} {unit}")


def _measure_similarity(values: Values, *, expected: str | None, measure: str) -> Evaluation:
    rapidfuzz = _import_rapidfuzz()
    output, wanted = values.read_output(measure), values.read_expected(expected, measure)
    for text in (wanted, output):
        check_length(text, _MOST_CHARACTERS, measure)
    if measure == "levenshtein":
        return Evaluation(rapidfuzz.distance.Levenshtein.normalized_similarity(output, wanted))
    process = rapidfuzz.utils.default_process
    return Evaluation(rapidfuzz.fuzz.token_sort_ratio(output, wanted, processor=process) / 100)


def _import_rapidfuzz() -> Any:
    return import_extra("rapidfuzz", "levenshtein and similarity need", extra="scorers")
