"""Items that have a file to themselves, as TOML that people write too: their comments and their order stay."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, BinaryIO, ClassVar

from pydantic import AfterValidator, PrivateAttr, ValidationError

from scoregate.core.text import replace_surrogates
from scoregate.errors import StoreError
from scoregate.store.errors import checked, details, marker, told
from scoregate.store.json_lines import UNSEEN
from scoregate.store.kinds import Kind, T
from scoregate.store.review_records import Item

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f]")
_SHORT = {"\r": "\\r", '"': '\\"'}
# A quote that another one follows, or the end: several could be taken for the end of the text.
_ANY, _ENDING = re.compile('"'), re.compile(r'"(?="|\Z)')
_GITS = re.compile(r"^[<>|](?=([<>|])\1{5} )", re.MULTILINE)


def updated(text: str, full: Mapping[str, Any], short: Mapping[str, Any]) -> str:
    """The text of a document with other values.

    Args:
        text: as it was; empty for a new one.
        full: all fields; None has no form and is left out. short: those that are added where they are missing.

    Raises:
        StoreError: `tomlkit` is not installed.
    """
    document = _tomlkit().parse(text)
    _change(document, _plain(full), _plain(short))
    written: str = document.as_string()
    return written


def _change(table: Any, full: Mapping[str, Any], short: Mapping[str, Any]) -> None:
    for name in [name for name in table if name not in full or (full[name] == {} and name not in short)]:
        del table[name]
    for name, value in sorted(full.items(), key=lambda entry: _depth(entry[1])):
        brief = short.get(name, value)
        if name not in table:
            if name in short:
                table[name] = _item(brief)
        elif isinstance(value, Mapping) and isinstance(table[name], Mapping):
            _change(table[name], value, value)
        elif table[name] not in (value, brief):
            table[name] = _item(brief)


def _depth(value: object) -> int:
    """Tables stand below the values, lists of tables below the tables."""
    if isinstance(value, Mapping):
        return 1
    return 2 if isinstance(value, list) and value and all(isinstance(each, Mapping) for each in value) else 0


def _item(value: Any) -> Any:
    tomlkit = _tomlkit()
    if isinstance(value, str):
        return tomlkit.value(_quoted(value))
    if isinstance(value, Mapping):
        made = tomlkit.table()
        made.update({name: _item(each) for name, each in value.items()})
        return made
    if isinstance(value, list):
        made = tomlkit.aot() if _depth(value) else tomlkit.array()
        made.extend(map(_item if _depth(value) else _inline, value))
        return made
    return tomlkit.item(value)


def _inline(value: Any) -> Any:
    """As it stands within an array, on one line."""
    tomlkit = _tomlkit()
    if isinstance(value, Mapping):
        made = tomlkit.inline_table()
        made.update({name: _inline(each) for name, each in value.items()})
        return made
    if isinstance(value, list):
        made = tomlkit.array()
        made.extend(map(_inline, value))
        return made
    return _item(value)


def _quoted(text: str) -> str:
    """A basic string, over several lines where the text has several, none of which looks like git's."""
    text = _GITS.sub(_escape, text.replace("\\", "\\\\"))
    text = UNSEEN.sub(_escape, _CONTROL.sub(_escape, text))
    several = "\n" in text
    escaped = (_ENDING if several else _ANY).sub(_escape, text)
    return f'"""\n{escaped}"""' if several else f'"{escaped}"'


def _escape(match: re.Match[str]) -> str:
    return _SHORT.get(match[0]) or f"\\u{ord(match[0]):04x}"


def _plain(value: Any) -> Any:
    """As TOML gives it back: lists for tuples, nothing for None."""
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items() if each is not None}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def _tomlkit() -> Any:
    try:
        import tomlkit
    except ImportError:
        raise StoreError(
            "TOML cannot be written: the package tomlkit is not installed",
            advice="Run: pip install 'scoregate[judges]'",
        ) from None
    return tomlkit


_NAME = r"""(?:"[^"\n]*"|'[^'\n]*'|[\w-]+)"""
_NAMES = rf"{_NAME}(?:\s*\.\s*{_NAME})*"
_TABLE = re.compile(rf"\s*\[(\[?)\s*({_NAMES})\s*\]")
_KEY = re.compile(rf"\s*({_NAMES})\s*=")
_LONG = re.compile(r'"""|\'\'\'')


def line_of(text: str, keys: Sequence[str]) -> int:
    """The line, from 1, on which the value behind these keys begins, else what holds it; 1 where nothing does.

    Args:
        keys: names of tables and fields, outermost first; those of a list are numbers, as in `metrics`, `0`, `kind`.
    """
    best, found = 0, 1
    for line, path in _places(text):
        common = _common(path, keys)
        if common > best:
            best, found = common, line
    return found


def _common(path: Sequence[str], keys: Sequence[str]) -> int:
    """How many keys a place shares with those that are sought; none where it goes another way."""
    shared = min(len(path), len(keys))
    return len(path) if list(path[:shared]) == list(keys[:shared]) and len(path) <= len(keys) else 0


def _places(text: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Every table and key, with its line; what stands in a text over several lines is none."""
    table: tuple[str, ...] = ()
    counts: dict[tuple[str, ...], int] = {}
    inside = ""
    for number, line in enumerate(text.split("\n"), 1):
        outside, inside = not inside, _after(line, inside)
        if not outside:
            continue
        if header := _TABLE.match(line):
            table = _names(header[2])
            if header[1]:
                counts[table] = at = counts.get(table, -1) + 1
                table = (*table, str(at))
            yield number, table
        elif key := _KEY.match(line):
            yield number, (*table, *_names(key[1]))


def _after(line: str, inside: str) -> str:
    """The quotes that are open after a line, which are those in `inside` before it."""
    for quotes in _LONG.findall(line):
        inside = "" if inside == quotes else inside or quotes
    return inside


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip("\"'") for name in re.findall(_NAME, text))


_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
_BOM = "\ufeff"
Text = Annotated[str, AfterValidator(replace_surrogates)]


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
