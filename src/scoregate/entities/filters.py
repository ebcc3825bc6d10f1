"""Filters of collections, in a small part of OData: `name eq 'Safety' and contains(tolower(description), 'refund')`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from scoregate.errors import EntityError

Fields = Mapping[str, Any]
Value = Callable[[Fields], Any]
_TOKEN = re.compile(r"\s*(?:('(?:[^']|'')*')|(-?\d+(?:\.\d+)?)|([A-Za-z_]\w*)|([(),]))")
_WORDS = {"true": True, "false": False, "null": None}
_DEEPEST = 50


def filter_of(text: str) -> Callable[[Fields], bool]:
    """What tells whether fields pass: `eq`, `ne`, `and`, `or`, `not`, `contains(…)`, `tolower(…)` and parentheses.

    Raises:
        EntityError: it is no such filter; also when it is used, on fields that have no field of a name in it.
    """
    parser = _Parser(text)
    found = parser.either(0)
    if parser.next:
        raise parser.unexpected()
    return lambda fields: bool(found(fields))


class FieldsOf(Mapping[str, Any]):
    """The fields of a model as JSON has them, each made when it is asked for: some read all that is kept."""

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
    """By recursive descent: or, and, not, comparison, value."""

    def __init__(self, text: str) -> None:
        self._text, self._tokens = text, _tokens(text)
        self._at = 0

    @property
    def next(self) -> str:
        """The next token; empty at the end."""
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def unexpected(self) -> EntityError:
        """What to say of the next token."""
        what = f"{self.next!r:.60} is not understood there" if self.next else "it ends too early"
        return _unsupported(self._text, what)

    def either(self, depth: int) -> Value:
        """Alternatives."""
        if depth > _DEEPEST:
            raise _unsupported(self._text, "it is nested too deeply")
        found = [self._all(depth)]
        while self._take("or"):
            found.append(self._all(depth))
        return found[0] if len(found) == 1 else lambda fields: any(each(fields) for each in found)

    def _all(self, depth: int) -> Value:
        found = [self._one(depth)]
        while self._take("and"):
            found.append(self._one(depth))
        return found[0] if len(found) == 1 else lambda fields: all(each(fields) for each in found)

    def _one(self, depth: int) -> Value:
        if self._take("not"):
            negated = self._one(depth + 1) if depth < _DEEPEST else self.either(depth + 1)
            return lambda fields: not negated(fields)
        if self._take("("):
            inner = self.either(depth + 1)
            self._expect(")")
            return inner
        if self._take("contains"):
            return self._contains(depth)
        return self._comparison(depth)

    def _contains(self, depth: int) -> Value:
        self._expect("(")
        whole = self._value(depth)
        self._expect(",")
        part = self._value(depth)
        self._expect(")")
        return lambda fields: str(part(fields)) in (whole(fields) or "")

    def _comparison(self, depth: int) -> Value:
        left = self._value(depth)
        if self._take("eq"):
            right = self._value(depth)
            return lambda fields: left(fields) == right(fields)
        if self._take("ne"):
            other = self._value(depth)
            return lambda fields: left(fields) != other(fields)
        raise self.unexpected()

    def _value(self, depth: int) -> Value:
        if depth > _DEEPEST:
            raise _unsupported(self._text, "it is nested too deeply")
        if self._take("tolower"):
            self._expect("(")
            inner = self._value(depth + 1)
            self._expect(")")
            return lambda fields: _lower(inner(fields))
        token = self.next
        if not token or token in "(),":
            raise self.unexpected()
        self._at += 1
        return _literal_or_field(token, self._text)

    def _take(self, word: str) -> bool:
        found = self.next.lower() == word
        self._at += found
        return found

    def _expect(self, token: str) -> None:
        if not self._take(token):
            raise self.unexpected()


def _tokens(text: str) -> list[str]:
    tokens, at = [], 0
    while rest := text[at:].strip():
        if (found := _TOKEN.match(text, at)) is None:
            raise _unsupported(text, f"{rest!r:.60} is not understood there")
        tokens.append(found[0].strip())
        at = found.end()
    return tokens


def _literal_or_field(token: str, text: str) -> Value:
    if token.startswith("'"):
        said = token[1:-1].replace("''", "'")
        return lambda _: said
    if token.lower() in _WORDS:
        word = _WORDS[token.lower()]
        return lambda _: word
    if token[0].isdigit() or token[0] == "-":
        number = float(token)
        return lambda _: number

    def field(fields: Fields) -> Any:
        if token not in fields:
            raise _unsupported(text, f"there is no field {token!r:.60}, but {', '.join(fields):.300}")
        return fields[token]

    return field


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


def _unsupported(text: str, why: str) -> EntityError:
    return EntityError(
        f"unsupported filter {text!r:.200}: {why}",
        advice="There are eq, ne, and, or, not, contains(field, 'text'), tolower(field) and parentheses.",
    )
