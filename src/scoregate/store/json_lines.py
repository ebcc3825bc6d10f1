"""Items as JSON lines, one on each line, with sorted keys, so a diff shows what changed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO, TypeVar

from pydantic import BaseModel, ValidationError

from scoregate.kernel.types.text import replace_surrogates
from scoregate.store.errors import check_distinct_items, conflict_message, error_message
from scoregate.store.kinds import Kind, T

# Characters that are invisible in a diff, or that change the direction of the text around them.
INVISIBLE = re.compile("[\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]")
_encode = json.JSONEncoder(sort_keys=True, ensure_ascii=False).encode
_BOM = b"\xef\xbb\xbf"
M = TypeVar("M", bound=BaseModel)


class JsonLines:
    """The layout of collections with many small items."""

    def __init__(self, suffix: str = ".jsonl") -> None:
        self.suffix = suffix

    def read(self, file: BinaryIO, kind: Kind[T], *, origin: str) -> Iterator[T]:
        """As `Layout.read`; the error is raised after the valid items.

        Raises:
            StoreError: lists all errors with their lines.
        """
        lines = enumerate(file, 1)
        results = ((n, parse_item(line.removeprefix(_BOM) if n == 1 else line, kind.model)) for n, line in lines)
        yield from check_distinct_items(results, kind, place=f"{origin}:{{}}".format)

    def write(self, items: Iterable[BaseModel]) -> Iterator[bytes]:
        """One line for each item, without the fields that have their default value."""
        for item in items:
            yield replace_surrogates(encode_item(item)).encode() + b"\n"


JSON_LINES = JsonLines()


def encode_item(item: BaseModel) -> str:
    """An item as one line of JSON. Invisible characters are escaped."""
    text = _encode(item.model_dump(mode="json", exclude_defaults=True))
    return text if text.isascii() else INVISIBLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def parse_item(line: bytes, model: type[M]) -> M | str | None:
    """The item of a line, the error message, or None for an empty line."""
    if not (line := line.strip()):
        return None
    if message := conflict_message(line):
        return message
    try:
        return model.model_validate_json(line, strict=True)
    except ValidationError as error:
        return error_message(error)


_HIDDEN = re.compile(f"{INVISIBLE.pattern[:-1]}\ud800-\udfff]")
_encode_rows = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_decode = json.JSONDecoder().decode
Row = dict[str, Any]


def encode_row(row: Mapping[str, Any]) -> bytes:
    """A row as a line, without the line end. `decode_row` reverses it.

    Raises:
        ValueError: a value cannot be written as JSON.
    """
    try:
        return escape_invisible(_encode_rows(row))
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    except TypeError as error:
        raise ValueError(str(error)) from None


def decode_row(line: bytes) -> Row:
    """The row of a line that `encode_row` has written."""
    row: Row = _decode(line.decode())
    return row


def parse_row(line: bytes) -> Row | str | None:
    """The object of a line from any source, the error message, or None for an empty line."""
    if not (line := line.strip()):
        return None
    if message := conflict_message(line):
        return message
    try:
        row = json.loads(line.decode(), object_pairs_hook=reject_duplicate_keys, parse_constant=_reject_constant)
    except json.JSONDecodeError as error:
        return f"is not JSON: {error.msg.removesuffix(' at')} at character {error.pos + 1}"
    except RecursionError:
        return "is nested too deeply"
    except ValueError as error:
        return "is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
    return row if isinstance(row, dict) else f"must be an object, not {row!r:.60}"


def reject_duplicate_keys(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object with unique keys, for `object_pairs_hook`.

    Raises:
        ValueError: a key comes twice.
    """
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key in result:
            raise ValueError(f"{key!r:.60} comes twice")
        result[key] = value
    return result


def escape_invisible(text: str) -> bytes:
    """JSON text with escapes for invisible characters and for those without UTF-8."""
    if text.isascii() and "\x7f" not in text:
        return text.encode()
    return _HIDDEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text).encode()


def _reject_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


class JsonDocument:
    """The layout of collections with one item. Each has its own folder, which may have extra files."""

    def __init__(self, name: str) -> None:
        self.suffix = f"/{name}"

    def read(self, file: BinaryIO, kind: Kind[T], *, origin: str) -> Iterator[T]:
        """As `Layout.read`.

        Raises:
            StoreError: lists all errors with their lines.
        """
        yield from check_distinct_items(_parse_document(file.read(), kind), kind, place=f"{origin}:{{}}".format)

    def write(self, items: Iterable[BaseModel]) -> Iterator[bytes]:
        """The whole file, without the fields that have their default value."""
        for item in items:
            fields: dict[str, Any] = item.model_dump(mode="json", by_alias=True, exclude_defaults=True)
            yield escape_invisible(json.dumps(fields, ensure_ascii=False, indent=2)) + b"\n"


def _parse_document(text: bytes, kind: Kind[T]) -> Iterator[tuple[int, T | str | None]]:
    for number, line in enumerate(text.splitlines(), 1):
        if message := conflict_message(line):
            yield number, message
            return
    try:
        yield 1, kind.model.model_validate_json(text.removeprefix(_BOM), strict=True)
    except ValidationError as error:
        yield 1, error_message(error)
