"""OData filters of collections, such as `name eq 'Safety' and contains(tolower(description), 'refund')`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from scoregate.errors import EntityError

Fields = Mapping[str, Any]
Expression = Callable[[Fields], Any]
_TOKEN = re.compile(r"\s*(?:('(?:[^']|'')*')|(-?\d+(?:\.\d+)?)|([A-Za-z_]\w*)|([(),]))")
_LITERALS = {"true": True, "false": False, "null": None}
_MAX_DEPTH = 50


def parse_filter(text: str) -> Callable[[Fields], bool]:
    """Parse a filter with `eq`, `ne`, `and`, `or`, `not`, `contains(…)`, `tolower(…)` and parentheses.

    Returns:
        A function that checks fields. It raises EntityError if a field of the filter does not exist.

    Raises:
        EntityError: the filter is not supported.
    """
    parser = _Parser(text)
    expression = parser.parse()
    if parser.next:
        raise parser.unexpected()
    return lambda fields: bool(expression(fields))


class ModelFields(Mapping[str, Any]):
    """The fields of a model as JSON data, computed at the first use: some read many files."""

    def __init__(self, model: BaseModel) -> None:
        self._model = model
        own = [name for name, field in type(model).model_fields.items() if not field.exclude]
        self._names = (*own, *type(model).model_computed_fields)

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise KeyError(name)
        return self._model.model_dump(mode="json", include={name})[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names


class _Parser:
    """A recursive descent parser: or, and, not, comparison, value."""

    def __init__(self, text: str) -> None:
        self._text, self._tokens = text, _tokens(text)
        self._at = 0

    @property
    def next(self) -> str:
        """The next token; empty at the end."""
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def unexpected(self) -> EntityError:
        """The error for the next token."""
        problem = f"{self.next!r:.60} is not understood there" if self.next else "it ends too early"
        return _unsupported(self._text, problem)

    def parse(self, depth: int = 0) -> Expression:
        """Parse alternatives."""
        if depth > _MAX_DEPTH:
            raise _unsupported(self._text, "it is nested too deeply")
        operands = [self._all(depth)]
        while self._take("or"):
            operands.append(self._all(depth))
        return operands[0] if len(operands) == 1 else lambda fields: any(each(fields) for each in operands)

    def _all(self, depth: int) -> Expression:
        operands = [self._one(depth)]
        while self._take("and"):
            operands.append(self._one(depth))
        return operands[0] if len(operands) == 1 else lambda fields: all(each(fields) for each in operands)

    def _one(self, depth: int) -> Expression:
        if self._take("not"):
            negated = self._one(depth + 1) if depth < _MAX_DEPTH else self.parse(depth + 1)
            return lambda fields: not negated(fields)
        if self._take("("):
            inner = self.parse(depth + 1)
            self._expect(")")
            return inner
        if self._take("contains"):
            self._expect("(")
            whole = self._value(depth)
            self._expect(",")
            part = self._value(depth)
            self._expect(")")
            return lambda fields: str(part(fields)) in (whole(fields) or "")
        left = self._value(depth)
        if self._take("eq"):
            right = self._value(depth)
            return lambda fields: left(fields) == right(fields)
        if self._take("ne"):
            other = self._value(depth)
            return lambda fields: left(fields) != other(fields)
        raise self.unexpected()

    def _value(self, depth: int) -> Expression:
        if depth > _MAX_DEPTH:
            raise _unsupported(self._text, "it is nested too deeply")
        if self._take("tolower"):
            self._expect("(")
            inner = self._value(depth + 1)
            self._expect(")")
            return lambda fields: value.lower() if isinstance(value := inner(fields), str) else value
        token = self.next
        if not token or token in "(),":
            raise self.unexpected()
        self._at += 1
        return _literal_or_field(token, self._text)

    def _take(self, word: str) -> bool:
        is_word = self.next.lower() == word
        self._at += is_word
        return is_word

    def _expect(self, token: str) -> None:
        if not self._take(token):
            raise self.unexpected()


def _tokens(text: str) -> list[str]:
    tokens, position = [], 0
    while rest := text[position:].strip():
        if (match := _TOKEN.match(text, position)) is None:
            raise _unsupported(text, f"{rest!r:.60} is not understood there")
        tokens.append(match[0].strip())
        position = match.end()
    return tokens


def _literal_or_field(token: str, text: str) -> Expression:
    if token.startswith("'"):
        text_value = token[1:-1].replace("''", "'")
        return lambda _: text_value
    if token.lower() in _LITERALS:
        literal = _LITERALS[token.lower()]
        return lambda _: literal
    if token[0].isdigit() or token[0] == "-":
        number = float(token)
        return lambda _: number

    def field(fields: Fields) -> Any:
        if token not in fields:
            raise _unsupported(text, f"there is no field {token!r:.60}, but {', '.join(fields):.300}")
        return fields[token]

    return field


def _unsupported(text: str, why: str) -> EntityError:
    return EntityError(
        f"unsupported filter {text!r:.200}: {why}",
        advice="There are eq, ne, and, or, not, contains(field, 'text'), tolower(field) and parentheses.",
    )
