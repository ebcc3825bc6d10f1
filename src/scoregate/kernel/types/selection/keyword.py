"""Expressions of keywords, in the grammar of pytest's `-k`: words, `and`, `or`, `not` and parentheses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from scoregate.errors import UsageError

Matches = Callable[[Iterable[str]], bool]
LONGEST_EXPRESSION = 2_000
_DEEPEST = 50
_TOKENS = re.compile(r"""\s*(?:([()])|"([^"]*)"|'([^']*)'|([^\s()"']+))""")
_ADVICE = "Write words with `and`, `or`, `not` and parentheses, such as 'hours and not weekend'."
_QUOTE_ADVICE = """ A name with spaces needs quotes of its own: -k '"opening night"'."""


def parse_keywords(text: str) -> Matches:
    """Parse an expression.

    A word matches if any of the names contains it, in any case. A word in quotes may have spaces.

    Args:
        text: the expression, at most 2,000 characters.

    Returns:
        A function that returns whether the names of a case match.

    Raises:
        UsageError: the expression isn't valid.
    """
    if len(text) > LONGEST_EXPRESSION:
        raise UsageError(f"the expression of -k has {len(text):,} characters, more than {LONGEST_EXPRESSION:,}")
    parser = _Parser(text)
    matches = parser.parse_or(0)
    if parser.token:
        raise parser.make_error("expected the end", advice=_ADVICE + _QUOTE_ADVICE)

    def match_names(names: Iterable[str]) -> bool:
        lowered = [name.casefold() for name in names]
        return matches(lowered)

    return match_names


class _Parser:
    """Parses by recursive descent; `token` is the next token, empty at the end."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self.token = ""
        self.is_quoted = False
        self._advance()

    def make_error(self, problem: str, *, advice: str = _ADVICE) -> UsageError:
        """An error that shows the expression and the token at which it isn't valid."""
        mistake = f"not {self.token!r:.60}" if self.token else "but it ends"
        return UsageError(f"-k {self._text!r:.200}: {problem}, {mistake}", advice=advice)

    def _advance(self) -> None:
        rest = self._text[self._position :]
        match = _TOKENS.match(rest)
        if match is None:
            if rest.strip():
                self.token = rest.strip()
                raise self.make_error("a quote is not closed")
            self.token = ""
            return
        bracket, double, single, word = match.groups()
        quoted = double if double is not None else single
        self.is_quoted = quoted is not None
        self.token = quoted if quoted is not None else bracket or word
        self._position += match.end()
        if not self.token:
            raise self.make_error("a word is empty")

    def _accept(self, token: str) -> bool:
        if self.is_quoted or self.token != token:  # a quoted word is never an operator
            return False
        self._advance()
        return True

    def parse_or(self, depth: int) -> Matches:
        terms = [self._parse_and(depth)]
        while self._accept("or"):
            terms.append(self._parse_and(depth))
        return lambda names: any(term(names) for term in terms)

    def _parse_and(self, depth: int) -> Matches:
        terms = [self._parse_not(depth)]
        while self._accept("and"):
            terms.append(self._parse_not(depth))
        return lambda names: all(term(names) for term in terms)

    def _parse_not(self, depth: int) -> Matches:
        if depth > _DEEPEST:
            raise self.make_error(f"it is nested deeper than {_DEEPEST} levels")
        if self._accept("not"):
            term = self._parse_not(depth + 1)
            return lambda names: not term(names)
        if self._accept("("):
            term = self.parse_or(depth + 1)
            if not self._accept(")"):
                raise self.make_error("expected a closing parenthesis")
            return term
        if not self.token or (not self.is_quoted and self.token in ("and", "or", ")")):
            raise self.make_error("expected a word")
        word = self.token.casefold()
        self._advance()
        return lambda names: any(word in name for name in names)
