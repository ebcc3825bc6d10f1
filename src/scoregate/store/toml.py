"""Items in their own TOML file, which people may edit too. Comments and order are kept."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, BinaryIO, ClassVar

from pydantic import AfterValidator, PrivateAttr, ValidationError

from scoregate.errors import StoreError
from scoregate.kernel.types.text import replace_surrogates
from scoregate.store.errors import check_distinct_items, conflict_message, error_details, located_message
from scoregate.store.json_lines import INVISIBLE
from scoregate.store.kinds import Kind, T
from scoregate.store.review_records import Item

_CONTROL_CHARACTER = re.compile("[\x00-\x08\x0b-\x1f]")
_SHORT_ESCAPES = {"\r": "\\r", '"': '\\"'}
# In multi-line strings only quotes before another quote or at the end are escaped: they could end the string.
_QUOTE, _ENDING_QUOTE = re.compile('"'), re.compile(r'"(?="|\Z)')
_CONFLICT_MARKER = re.compile(r"^[<>|](?=([<>|])\1{5} )", re.MULTILINE)


def update_document(text: str, full: Mapping[str, Any], short: Mapping[str, Any]) -> str:
    """The text of a document with new values.

    Args:
        text: the present text; empty for a new document.
        full: all fields; None is left out.
        short: the fields to add if they are missing.

    Raises:
        StoreError: `tomlkit` is not installed.
    """
    document = _tomlkit().parse(text)
    _update_table(document, _to_plain(full), _to_plain(short))
    result: str = document.as_string()
    return result


def _update_table(table: Any, full: Mapping[str, Any], short: Mapping[str, Any]) -> None:
    for name in [name for name in table if name not in full or (full[name] == {} and name not in short)]:
        del table[name]
    # In TOML, a value after a table would be a part of the table.
    for name, value in sorted(full.items(), key=lambda entry: _table_level(entry[1])):
        brief = short.get(name, value)
        if name not in table:
            if name in short:
                table[name] = _to_item(brief)
        elif isinstance(value, Mapping) and isinstance(table[name], Mapping):
            _update_table(table[name], value, value)
        elif table[name] not in (value, brief):
            table[name] = _to_item(brief)


def _table_level(value: object) -> int:
    """The order in a document: 0 for values, 1 for tables, 2 for lists of tables."""
    if isinstance(value, Mapping):
        return 1
    return 2 if isinstance(value, list) and value and all(isinstance(each, Mapping) for each in value) else 0


def _to_item(value: Any) -> Any:
    tomlkit = _tomlkit()
    if isinstance(value, str):
        return tomlkit.value(_quote(value))
    if isinstance(value, Mapping):
        table = tomlkit.table()
        table.update({name: _to_item(each) for name, each in value.items()})
        return table
    if isinstance(value, list):
        array = tomlkit.aot() if _table_level(value) else tomlkit.array()
        array.extend(map(_to_item if _table_level(value) else _to_inline_item, value))
        return array
    return tomlkit.item(value)


def _to_inline_item(value: Any) -> Any:
    """A value inside an array, on one line."""
    tomlkit = _tomlkit()
    if isinstance(value, Mapping):
        table = tomlkit.inline_table()
        table.update({name: _to_inline_item(each) for name, each in value.items()})
        return table
    if isinstance(value, list):
        array = tomlkit.array()
        array.extend(map(_to_inline_item, value))
        return array
    return _to_item(value)


def _quote(text: str) -> str:
    """A basic string, with several lines if the text has several. No line looks like a conflict marker of git."""
    text = _CONFLICT_MARKER.sub(_escape, text.replace("\\", "\\\\"))
    text = INVISIBLE.sub(_escape, _CONTROL_CHARACTER.sub(_escape, text))
    if "\n" in text:
        return f'"""\n{_ENDING_QUOTE.sub(_escape, text)}"""'
    return f'"{_QUOTE.sub(_escape, text)}"'


def _escape(match: re.Match[str]) -> str:
    return _SHORT_ESCAPES.get(match[0]) or f"\\u{ord(match[0]):04x}"


def _to_plain(value: Any) -> Any:
    """The value that TOML reads back: lists for tuples, nothing for None."""
    if isinstance(value, Mapping):
        return {name: _to_plain(each) for name, each in value.items() if each is not None}
    return [_to_plain(each) for each in value] if isinstance(value, list | tuple) else value


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
_LONG_QUOTES = re.compile(r'"""|\'\'\'')


def find_line(text: str, keys: Sequence[str]) -> int:
    """The line, from 1, of a value, else of the innermost table that contains it, else 1.

    Args:
        text: the text of the document.
        keys: names of tables and fields, outermost first, with numbers for the items of lists: `metrics`, `0`, `kind`.
    """
    longest, best_line = 0, 1
    for line, path in _key_lines(text):
        if len(path) > longest and path == tuple(keys[: len(path)]):
            longest, best_line = len(path), line
    return best_line


def _key_lines(text: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The line and the path of every table and key. Multi-line strings are skipped."""
    table: tuple[str, ...] = ()
    counts: dict[tuple[str, ...], int] = {}
    open_quotes = ""
    for number, line in enumerate(text.split("\n"), 1):
        is_string = bool(open_quotes)
        for quotes in _LONG_QUOTES.findall(line):
            open_quotes = "" if open_quotes == quotes else open_quotes or quotes
        if is_string:
            continue
        if header := _TABLE.match(line):
            table = _names(header[2])
            if header[1]:
                counts[table] = index = counts.get(table, -1) + 1
                table = (*table, str(index))
            yield number, table
        elif key := _KEY.match(line):
            yield number, (*table, *_names(key[1]))


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip("\"'") for name in re.findall(_NAME, text))


_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
_BOM = "\ufeff"
Text = Annotated[str, AfterValidator(replace_surrogates)]


class Document(Item):
    """An item that is a whole file. `_text` is the text of the file, to keep its comments.

    `always_written` has the fields that are written even with their default value.
    """

    always_written: ClassVar[frozenset[str]] = frozenset()
    _text: str = PrivateAttr("")


class Toml:
    """The layout of collections with one document."""

    def __init__(self, suffix: str = ".toml") -> None:
        self.suffix = suffix

    def read(self, file: BinaryIO, kind: Kind[T], *, origin: str) -> Iterator[T]:
        """As `Layout.read`.

        Raises:
            StoreError: lists all errors with their lines.
        """
        yield from check_distinct_items(_parse_document(file.read(), kind), kind, place=f"{origin}:{{}}".format)

    def write(self, items: Iterable[Any]) -> Iterator[bytes]:
        """The text that the document was read from, with the changed values. Default values are left out.

        Raises:
            StoreError: `tomlkit` is not installed.
        """
        (item,) = items
        full, brief = item.model_dump(), item.model_dump(exclude_defaults=True)
        short = {name: brief.get(name, full[name]) for name in full if name in item.always_written | brief.keys()}
        text = update_document(item._text, full, short)
        try:
            is_equal = type(item).model_validate(tomllib.loads(text)).model_dump() == full
        except ValueError:
            is_equal = False
        # A person's text may have a form that the update does not handle; then the document is written anew.
        yield (text if is_equal else update_document("", full, short)).encode()


TOML = Toml()


def _parse_document(data: bytes, kind: Kind[T]) -> Iterator[tuple[int, T | str | None]]:
    lines = data.splitlines()
    for number, line in enumerate(lines, 1):
        # A line of equals signs is no conflict marker here: it may underline a heading in a prompt.
        if line[7:8] == b" " and line[:1] in (b"<", b">", b"|") and (message := conflict_message(line)):
            yield number, message
            return
    try:
        text = data.decode().removeprefix(_BOM)
        item = kind.model.model_validate(tomllib.loads(text))
    except UnicodeDecodeError as error:
        yield data.count(b"\n", 0, error.start) + 1, "is not UTF-8"
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        yield int(place[1]) if place and place[1] else len(lines), _PLACE.sub("", str(error))
    except ValidationError as error:
        for where, what in error_details(error, kind.model):
            yield find_line(text, where.split(".")), located_message(where, what)
    else:
        if isinstance(item, Document):
            item._text = text
        yield 1, item
