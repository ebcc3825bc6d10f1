"""Items that have a file to themselves, as TOML that people write too: their comments and their order stay."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, BinaryIO, ClassVar

from pydantic import AfterValidator, PrivateAttr, ValidationError

from scoregate.core.utf8 import whole
from scoregate.store.kinds import Kind, T
from scoregate.store.problems import checked, details, marker, told
from scoregate.store.toml_lines import line_of
from scoregate.store.toml_text import updated
from scoregate.store.words import Item

_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
_BOM = "\ufeff"
Text = Annotated[str, AfterValidator(whole)]


class Document(Item):
    """An item that is a whole file; `_text` is how it stands there, for the comments in it.

    `shown` are the fields that are written even where they are as by default.
    """

    shown: ClassVar[frozenset[str]] = frozenset()
    _text: str = PrivateAttr("")


class Toml:
    """The layout of shelves that hold one document."""

    def __init__(self, suffix: str = ".toml") -> None:
        self.suffix = suffix

    def read(self, file: BinaryIO, kind: Kind[T], *, origin: str) -> Iterator[T]:
        """The document.

        Raises:
            StoreError: all that is wrong with it, each with its line.
        """
        yield from checked(_read(file.read(), kind), kind, place=f"{origin}:{{}}".format)

    def write(self, items: Iterable[Any]) -> Iterator[bytes]:
        """Its text: that which it was read from, with what is different now; what is as by default is left out.

        Raises:
            StoreError: `tomlkit` is not installed.
        """
        (item,) = items
        full, brief = item.model_dump(), item.model_dump(exclude_defaults=True)
        short = {name: brief.get(name, full[name]) for name in full if name in item.shown | brief.keys()}
        text = updated(item._text, full, short)
        yield (text if _says(text, item) else updated("", full, short)).encode()


TOML = Toml()


def _read(data: bytes, kind: Kind[T]) -> Iterator[tuple[int, T | str | None]]:
    lines = data.splitlines()
    if found := next(((n, said) for n, line in enumerate(lines, 1) if (said := _conflict(line))), None):
        yield found
        return
    try:
        text = data.decode().removeprefix(_BOM)
        item = kind.model.model_validate(tomllib.loads(text))
    except UnicodeDecodeError as error:
        yield data.count(b"\n", 0, error.start) + 1, "is not UTF-8"
    except tomllib.TOMLDecodeError as error:
        yield _broken(str(error), len(lines))
    except ValidationError as error:
        for where, what in details(error, kind.model):
            yield line_of(text, where.split(".")), told(where, what)
    else:
        if isinstance(item, Document):
            item._text = text
        yield 1, item


def _says(text: str, item: Document) -> bool:
    """Whether the text, in which people may have written anything, came out as what it is to say."""
    try:
        found = type(item).model_validate(tomllib.loads(text))
    except ValueError:
        return False
    return found.model_dump() == item.model_dump()


def _conflict(line: bytes) -> str | None:
    """As `marker`; a line of equals signs alone may be a heading's in a prompt."""
    return marker(line) if line[7:8] == b" " and line[:1] in (b"<", b">", b"|") else None


def _broken(said: str, last: int) -> tuple[int, str]:
    """Where and what, out of the parser's words."""
    place = _PLACE.search(said)
    line = int(place[1]) if place and place[1] else last
    return line, _PLACE.sub("", said)
