"""Assertions of promptfoo, as the ones that `scoregate.scorers.assertion` checks."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from typing import Any

from scoregate.convert.files import Unreadable, json_of, yaml_of
from scoregate.convert.templates import UnsupportedTemplate, fill
from scoregate.evals.prompts import format_value

NOT = "not-"
RUBRIC = "llm-rubric"
_KEYS = {"type", "value", "threshold", "weight", "metric", "provider", "description"}
_TEXTS = ("contains", "icontains", "starts-with", "regex", "levenshtein", RUBRIC)
_LISTS = ("contains-all", "contains-any", "icontains-all", "icontains-any")
_JSON = ("is-json", "contains-json")
_OTHERS = ("equals", "latency")
_DISTANCE = 5
_ADVICE = {
    "javascript": "write a function in Python as a scorer",
    "python": "call the function as a scorer",
    "similar": "use embedding_similarity()",
    "factuality": "use choice_judge()",
    "cost": "set max_cost of the suite",
    "assert-set": "list its assertions one by one",
    "rouge-n": "use rouge_l()",
    "bleu": "use bleu()",
}
# The types without a counterpart besides those in `_ADVICE`: a cell that starts with one of them is no plain text.
_WITHOUT_COUNTERPART = {
    *("agent-rubric", "answer-relevance", "classifier", "contains-html", "contains-sql"),
    *("contains-xml", "context-faithfulness", "context-recall", "context-relevance"),
    *("conversation-relevance", "ends-with", "f-score", "finish-reason", "g-eval", "gleu"),
    *("guardrails", "human", "is-html", "is-refusal", "is-sql", "is-valid-function-call"),
    *("is-valid-openai-function-call", "is-valid-openai-tools-call", "is-xml", "max-score"),
    *("meteor", "model-graded-closedqa", "model-graded-factuality", "moderation", "perplexity"),
    *("perplexity-score", "pi", "ruby", "search-rubric", "select-best", "skill-used"),
    *("tool-call-f1", "trace-error-spans", "trace-span-count", "trace-span-duration", "trajectory"),
    *("webhook", "word-count"),
}
# The threshold of a cell without one, in promptfoo.
_LIMITED, _CELL_THRESHOLD = ("latency", "levenshtein"), 0.75
_FROM_TEXT = re.compile(r"(not-)?([a-z][a-z0-9-]*)(?:\((\d+(?:\.\d+)?)\))?(?::([\s\S]*))?")
# Syntax that is an error or something else in JavaScript: `(?i)`, `x*+`, `x{,2}`, and the empty sets `[]` and `[^]`.
_NOT_JAVASCRIPT = re.compile(r"\(\?(?![:=!<])|[*+?}]\+|\{,\d+\}|\[\^?\]")
_ESCAPED, _CLASS = re.compile(r"\\.", re.DOTALL), re.compile(r"\[[^\]]+(?<!\[\^)\]")
# Escapes that mean a letter in JavaScript, and something else in Python; and those that mean ASCII in JavaScript only.
_OTHER_ESCAPES = (r"\A", r"\Z", r"\a", r"\N", r"\U")
_ASCII = (r"\w", r"\W", r"\d", r"\D", r"\b", r"\B")
_OUTSIDE_CLASS = {"$": r"\Z", ".": r"[^\n\r\u2028\u2029]"}
_ASCII_IN_CLASS = {r"\w": "A-Za-z0-9_", r"\d": "0-9"}
# `(?<name>` of JavaScript, but not the lookbehinds `(?<=` and `(?<!`.
_NAMED_GROUP = re.compile(r"\(\?<(?![=!])")


class Unsupported(ValueError):
    """An assertion that can't be converted; the text says why."""


def convert_assertion(given: Any, variables: Mapping[str, Any]) -> dict[str, Any]:
    """An assertion as an item of the field `expected`.

    Args:
        given: the assertion.
        variables: the variables of its test.

    Raises:
        Unsupported: it has no counterpart.
    """
    if not isinstance(given, Mapping) or not isinstance(given.get("type"), str):
        raise Unsupported("it has no type")
    kind, base = given["type"], given["type"].removeprefix(NOT)
    if base not in (*_TEXTS, *_LISTS, *_JSON, *_OTHERS):
        raise Unsupported(f"{kind} has no counterpart{_format_advice(base)}")
    if unknown := sorted(given.keys() - _KEYS):
        raise Unsupported(f"{kind} has {', '.join(unknown)}")
    try:
        value = fill(given.get("value"), variables)
        metric = fill(given.get("metric"), variables)
    except UnsupportedTemplate as error:
        raise Unsupported(str(error)) from None
    if isinstance(value, str) and value.startswith(("file://", "package:")):
        raise Unsupported(f"{kind} reads its value from {value:.80}")
    converted = {"type": kind, "metric": str(metric or kind), **_convert_value(base, kind, value, given)}
    weight = given.get("weight", 1)
    if isinstance(weight, bool) or not isinstance(weight, int | float) or weight < 0:
        raise Unsupported(f"its weight is {weight!r:.40}, no number of at least 0")
    return converted if weight == 1 else {**converted, "weight": weight}


def _format_advice(base: str) -> str:
    return f": {_ADVICE[base]}" if base in _ADVICE else ""


def _convert_value(base: str, kind: str, value: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    if base == "latency":
        if kind != base:
            raise Unsupported(f"{kind} has no counterpart")
        return {"threshold": _read_threshold(given, None)}
    if base == "equals":
        if "value" not in given:
            raise Unsupported("equals needs a value")
        return {"value": value if isinstance(value, dict | list) or value is None else _format(value)}
    if base in _JSON:
        return _convert_schema(kind, value)
    return {"value": _split_list(kind, value)} if base in _LISTS else _convert_text(base, kind, value, given)


def _convert_text(base: str, kind: str, value: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(value, bool | dict | list) or value is None or value == "":
        raise Unsupported(f"{kind} needs a text as its value")
    if base == RUBRIC and given.get("threshold") == 0:
        raise Unsupported("its threshold is 0, so it never fails")
    if base == "starts-with" and not isinstance(value, str):
        raise Unsupported(f"{kind} needs a text as its value")
    text = _format(value)
    if base == "levenshtein":
        return {"value": text, "threshold": _read_threshold(given, _DISTANCE)}
    return {"value": _convert_regex(text) if base == "regex" else text}


def _format(value: Any) -> str:
    return str(format_value(value))


def _read_threshold(given: Mapping[str, Any], default: float | None) -> float:
    limit = given.get("threshold") or default  # 0 counts as missing, as in promptfoo
    if isinstance(limit, bool) or not isinstance(limit, int | float) or limit <= 0:
        raise Unsupported(f"{given['type']} needs a number as its threshold")
    return limit


def _split_list(kind: str, value: Any) -> list[str]:
    if isinstance(value, str):
        rows = list(csv.reader([value.replace("\n", " ")], skipinitialspace=True))
        value = [text.strip() for text in rows[0] if text.strip()] if rows else []
    if not isinstance(value, list) or not value or any(isinstance(each, dict | list) or each is None for each in value):
        raise Unsupported(f"{kind} needs a list of texts as its value")
    return [_format(each) for each in value]


def _convert_schema(kind: str, value: Any) -> dict[str, Any]:
    if value is None or value == "":
        return {}
    if isinstance(value, str):
        try:
            value = json_of(value) if value.lstrip().startswith("{") else yaml_of(value, kind)
        except Unreadable as error:
            raise Unsupported(f"the schema of {kind} is invalid: {error}") from None
    from scoregate.scorers import json_schema

    if not isinstance(value, dict):
        raise Unsupported(f"the schema of {kind} is not a mapping")
    try:
        json_schema(value)
    except ValueError as error:
        raise Unsupported(f"{kind}: {error}") from None
    return {"value": value}


def _convert_regex(pattern: str) -> str:
    """A regular expression of JavaScript in Python's syntax, with the same meaning."""
    # Without escapes and sets, whose characters are no syntax.
    plain = _CLASS.sub("[x]", _ESCAPED.sub("x", pattern))
    if unknown := _NOT_JAVASCRIPT.search(plain):
        raise Unsupported(
            f"the regular expression {pattern!r:.80} has {unknown[0]!r}, which JavaScript reads otherwise"
        )
    converted = "".join(_convert_characters(_NAMED_GROUP.sub("(?P<", pattern)))
    try:
        re.compile(converted)
    except (re.error, OverflowError, RecursionError) as error:
        raise Unsupported(f"the regular expression {pattern!r:.80} is none in Python: {error}") from None
    return converted


def _convert_characters(pattern: str) -> Iterator[str]:
    r"""Convert what Python reads otherwise: `$` before a newline at the end, `.` for `\r`, `\w` for letters like é."""
    is_class, position = False, 0
    while position < len(pattern):
        character = pattern[position]
        if character == "\\":
            yield _convert_escape(pattern[position : position + 2], pattern, is_class=is_class)
            position += 2
            continue
        if is_class and character == "[":  # nested sets are reserved in Python
            character = r"\["
        else:
            character = character if is_class else _OUTSIDE_CLASS.get(character, character)
            is_class = (is_class or character == "[") and character != "]"
        yield character
        position += 1


def _convert_escape(escape: str, pattern: str, *, is_class: bool) -> str:
    if escape in _OTHER_ESCAPES or (is_class and escape in (r"\W", r"\D")):
        raise Unsupported(f"the regular expression {pattern!r:.80} has {escape}, which Python reads otherwise")
    if is_class:
        return _ASCII_IN_CLASS.get(escape, escape)
    return f"(?a:{escape})" if escape in _ASCII else escape


def parse_assertion(text: str) -> dict[str, Any]:
    """The assertion that a cell of a column `__expected` means, such as "icontains: hello". Plain text is `equals`."""
    if text.startswith(("javascript:", "fn:", "eval:")):
        return {"type": "javascript", "value": text.partition(":")[2]}
    if text.startswith(("grade:", "llm-rubric:")):
        return {"type": RUBRIC, "value": text.partition(":")[2].strip()}
    if text.startswith(("python:", "file://")):
        return {"type": "javascript" if re.search(r"\.[cm]?[jt]s(:|$)", text) else "python", "value": text}
    match = _FROM_TEXT.fullmatch(text)
    if match is None or match[2] not in {*_TEXTS, *_LISTS, *_JSON, *_OTHERS, *_ADVICE, *_WITHOUT_COUNTERPART}:
        return {"type": "equals", "value": text}
    value = match[4]
    assertion: dict[str, Any] = {"type": (match[1] or "") + match[2]}
    if value is not None:
        assertion["value"] = [each.strip() for each in value.split(",")] if match[2] in _LISTS else value.strip()
    if match[3] is not None or match[2] in _LIMITED:
        assertion["threshold"] = _CELL_THRESHOLD if match[3] is None else float(match[3])
    return assertion
