"""Conditions on fields of traces: comparisons with `and`, `or`, `not` and parentheses. Nothing is evaluated as code."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from scoregate.errors import UsageError
from scoregate.kernel.types.text import parse_number
from scoregate.trace_files.traces import RecordedTrace

LONGEST_EXPRESSION = 2_000
_DEEPEST = 50
_TOKENS = re.compile(r"""\s*(?:([()])|(==|!=|<=|>=|=|<|>|~)|"([^"]*)"|'([^']*)'|([^\s()"'=<>!~]+))""")
_ADVICE = "Write conditions such as: error or duration_s > 10, tags = vip and not input ~ 'test'."
_WORDS = ("and", "or", "not")
Condition = Callable[[RecordedTrace], bool]
_Read = Callable[[RecordedTrace], Any]

# The number of a comparison, from -1 to 1, counts if it is among these.
_ORDERS: Mapping[str, tuple[int, ...]] = {"<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (1, 0)}
FIELDS: Mapping[str, _Read] = {
    "kind": lambda trace: trace.kind,
    "file": lambda trace: trace.file,
    "trace_id": lambda trace: trace.trace_id,
    "time": lambda trace: trace.time,
    "name": lambda trace: trace.name,
    "input": lambda trace: trace.input,
    "output": lambda trace: trace.output,
    "error": lambda trace: trace.error,
    "duration_s": lambda trace: trace.duration_s,
    "model": lambda trace: trace.details.model,
    "tokens": lambda trace: trace.details.tokens,
    "cost": lambda trace: trace.details.cost,
    "user": lambda trace: trace.details.user,
    "session": lambda trace: trace.details.session,
    "tags": lambda trace: list(trace.details.tags),
    "tools": lambda trace: [call.name for call in trace.trajectory.tool_calls],
    "steps": lambda trace: len(trace.trajectory.steps),
}
_NUMBERS = ("duration_s", "tokens", "cost", "steps")
_TIME = "time"
_DATE = re.compile(r"\d{4}(-\d\d){0,2}")
_PATHS: Mapping[str, _Read] = {
    "scores": lambda trace: trace.details.scores,
    "metadata": lambda trace: trace.details.metadata,
}


class _Token(NamedTuple):
    """A token: a bracket, an operator, a word, or a text in quotes."""

    kind: str
    text: str


def parse_condition(text: str) -> Condition:
    """Parse a condition.

    `FIELD OPERATOR VALUE` compares; `~` asks whether a text contains another one, in any case. A field alone asks
    whether it has a value. A field without a value fits no comparison but `!=`.

    Args:
        text: the condition, at most 2,000 characters.

    Raises:
        UsageError: it is not valid, or names an unknown field.
    """
    if len(text) > LONGEST_EXPRESSION:
        raise UsageError(f"--where has {len(text):,} characters, more than {LONGEST_EXPRESSION:,}")
    parser = _Parser(text)
    condition = parser.parse_or(0)
    if parser.token.kind:
        raise parser.make_error("expected `and`, `or` or the end")
    return condition


class _Parser:
    """Parses by recursive descent; `token` is the next token, without a kind at the end."""

    def __init__(self, text: str) -> None:
        self._text, self._place = text, 0
        self.token = _Token("", "")
        self._advance()

    def make_error(self, problem: str) -> UsageError:
        """An error with the token at which the condition is not valid."""
        mistake = f"not {self.token.text!r:.60}" if self.token.kind else "but it ends"
        return UsageError(f"--where {self._text!r:.200}: {problem}, {mistake}", advice=_ADVICE)

    def _advance(self) -> None:
        rest = self._text[self._place :]
        match = _TOKENS.match(rest)
        if match is None:
            self.token = _Token("other", rest.strip()) if rest.strip() else _Token("", "")
            if rest.strip():
                raise self.make_error("a quote is not closed, or a sign is unknown")
            return
        bracket, operator, double, single, word = match.groups()
        self._place += match.end()
        if bracket or operator:
            self.token = _Token("bracket" if bracket else "operator", bracket or operator)
        else:
            self.token = _Token("word", word) if word else _Token("text", double if double is not None else single)

    def _accept(self, kind: str, text: str) -> bool:
        if self.token != (kind, text):
            return False
        self._advance()
        return True

    def parse_or(self, depth: int) -> Condition:
        terms = [self._parse_and(depth)]
        while self._accept("word", "or"):
            terms.append(self._parse_and(depth))
        return lambda trace: any(term(trace) for term in terms)

    def _parse_and(self, depth: int) -> Condition:
        terms = [self._parse_not(depth)]
        while self._accept("word", "and"):
            terms.append(self._parse_not(depth))
        return lambda trace: all(term(trace) for term in terms)

    def _parse_not(self, depth: int) -> Condition:
        if depth > _DEEPEST:
            raise self.make_error(f"it is nested deeper than {_DEEPEST} levels")
        if self._accept("word", "not"):
            term = self._parse_not(depth + 1)
            return lambda trace: not term(trace)
        if self._accept("bracket", "("):
            term = self.parse_or(depth + 1)
            if not self._accept("bracket", ")"):
                raise self.make_error("expected a closing parenthesis")
            return term
        return self._parse_comparison()

    def _parse_comparison(self) -> Condition:
        if self.token.kind != "word" or self.token.text in _WORDS:
            raise self.make_error("expected a field")
        name = self.token.text
        read = self._find_field(name)
        self._advance()
        if self.token.kind != "operator":
            return lambda trace: read(trace) not in (None, "", [], {}, False)
        operator = self.token.text
        self._advance()
        if self.token.kind not in ("word", "text") or (self.token.kind == "word" and self.token.text in _WORDS):
            raise self.make_error("expected a value")
        value = self.token.text
        if name in _NUMBERS and _to_number(value) is None:
            raise self.make_error(f"{name} is compared with a number")
        if name == _TIME and operator != "~":
            try:
                value = _normalize_time(value)
            except (ValueError, OverflowError):
                raise self.make_error(
                    "time is compared with a date or a time in ISO 8601, such as 2026-11-02"
                ) from None
        self._advance()
        return lambda trace: _compare(read(trace), operator, value)

    def _find_field(self, name: str) -> _Read:
        if name in FIELDS:
            return FIELDS[name]
        start, _, path = name.partition(".")
        if start in _PATHS and path:
            return lambda trace: _find_value(_PATHS[start](trace), path)
        known = ", ".join((*FIELDS, *(f"{each}.NAME" for each in _PATHS)))
        raise UsageError(f"--where {self._text!r:.200}: there is no field {name!r:.60}", advice=f"There are {known}.")


def _find_value(values: Any, path: str) -> Any:
    """The value under a path; a name may have dots itself."""
    if not isinstance(values, Mapping):
        return None
    if path in values:
        return values[path]
    start, _, rest = path.partition(".")
    return _find_value(values.get(start), rest) if rest else None


def _compare(actual: Any, operator: str, value: str) -> bool:
    if isinstance(actual, list):
        is_same = any(_compare(each, "=" if operator == "!=" else operator, value) for each in actual)
        return not is_same if operator == "!=" else is_same
    if actual in (None, ""):
        return operator == "!="
    if operator == "~":
        return value.casefold() in str(actual).casefold()
    numbers = _to_number(actual), _to_number(value)
    one, other = (str(actual), value) if None in numbers else numbers
    if isinstance(actual, bool):  # people write `true`, as in JSON
        one, other = str(actual).lower(), value.lower()
    if operator in _ORDERS:
        return (one > other) - (one < other) in _ORDERS[operator]  # type: ignore[operator]
    return (one == other) == (operator != "!=")


def _normalize_time(value: str) -> str:
    """A year, month or day as it is; a time as traces have it, in UTC. Both are compared as texts.

    Raises:
        ValueError: it is none of these.
    """
    if _DATE.fullmatch(value):
        datetime.fromisoformat(f"{value}-01-01"[:10])  # which takes no year or month alone
        return value
    moment = datetime.fromisoformat(value)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC).isoformat()


def _to_number(value: Any) -> float | None:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    return parse_number(value)
