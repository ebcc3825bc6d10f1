"""Items as JSON lines: one a line, keys sorted, so that a diff shows what changed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO, TypeVar

from pydantic import BaseModel, ValidationError

from scoregate.core.text import replace_surrogates
from scoregate.store.errors import checked, marker, said
from scoregate.store.kinds import Kind, T

# Characters that a reviewer of a diff would not see, or that would turn the text around them.
UNSEEN = re.compile("[\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]")
_encode = json.JSONEncoder(sort_keys=True, ensure_ascii=False).encode
_BOM = b"\xef\xbb\xbf"
M = TypeVar("M", bound=BaseModel)


class JsonLines:
    """The layout of shelves that hold many small items."""

    def __init__(self, suffix: str = ".jsonl") -> None:
        self.suffix = suffix

    def read(self, file: BinaryIO, kind: Kind[T], *, origin: str) -> Iterator[T]:
        """The items, one by one.

        Raises:
            StoreError: all that is wrong with the file, each with its line, once the good items have been given.
        """
        lines = enumerate(file, 1)
        found = ((n, item_on(line.removeprefix(_BOM) if n == 1 else line, kind.model)) for n, line in lines)
        yield from checked(found, kind, place=f"{origin}:{{}}".format)

    def write(self, items: Iterable[BaseModel]) -> Iterator[bytes]:
        """A line an item; what is as it is by default is left out."""
        for item in items:
            yield replace_surrogates(line_of(item)).encode() + b"\n"


JSON_LINES = JsonLines()


def line_of(item: BaseModel) -> str:
    """An item as one line of JSON, in which every character can be seen."""
    text = _encode(item.model_dump(mode="json", exclude_defaults=True))
    return text if text.isascii() else UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def item_on(line: bytes, model: type[M]) -> M | str | None:
    """What stands on a line: an item, nothing, or what is wrong with it."""
    if not (line := line.strip()):
        return None
    if told := marker(line):
        return told
    try:
        return model.model_validate_json(line, strict=True)
    except ValidationError as error:
        return said(error)


_HIDDEN = re.compile(f"{UNSEEN.pattern[:-1]}\ud800-\udfff]")
_encode_rows = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_decode = json.JSONDecoder().decode
Row = dict[str, Any]


def row_line(row: Mapping[str, Any]) -> bytes:
    """A row as a line, without its end; `row_of` gives back the same.

    Raises:
        ValueError: something in it has no form in JSON.
    """
    try:
        return seen(_encode_rows(row))
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    except TypeError as error:
        raise ValueError(str(error)) from None


def row_of(line: bytes) -> Row:
    """The row of a line that `line_of` made."""
    row: Row = _decode(line.decode())
    return row


def parsed(line: bytes) -> Row | str | None:
    """The row of a line that anybody may have written: an object, nothing, or what is wrong with it."""
    if not (line := line.strip()) or (told := marker(line)):
        return told if line else None
    try:
        row = json.loads(line.decode(), object_pairs_hook=unique, parse_constant=_refused)
    except json.JSONDecodeError as error:
        return f"is no JSON: {error.msg} at character {error.pos + 1}"
    except RecursionError:
        return "is nested too deeply"
    except ValueError as error:
        return "is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
    return row if isinstance(row, dict) else f"must be an object, not {row!r:.60}"


def unique(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON whose keys differ.

    Raises:
        ValueError: one comes twice.
    """
    made: dict[str, Any] = {}
    for key, value in pairs:
        if key in made:
            raise ValueError(f"{key!r:.60} comes twice")
        made[key] = value
    return made


def seen(text: str) -> bytes:
    """JSON with every character that a reviewer of a diff would not see, or that has no UTF-8, as an escape."""
    if text.isascii() and "\x7f" not in text:
        return text.encode()
    return _HIDDEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text).encode()


def _refused(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


class Card:
    """The layout of shelves that hold one item; its file stands in a folder, beside others."""

    def __init__(self, name: str) -> None:
        self.suffix = f"/{name}"

    def read(self, file: BinaryIO, kind: Kind[T], *, origin: str) -> Iterator[T]:
        """The item.

        Raises:
            StoreError: what is wrong with it.
        """
        yield from checked(_found(file.read(), kind), kind, place=f"{origin}:{{}}".format)

    def write(self, items: Iterable[BaseModel]) -> Iterator[bytes]:
        """The whole file; what is as it is by default is left out."""
        for item in items:
            fields: dict[str, Any] = item.model_dump(mode="json", by_alias=True, exclude_defaults=True)
            yield seen(json.dumps(fields, ensure_ascii=False, indent=2)) + b"\n"


def _found(text: bytes, kind: Kind[T]) -> Iterator[tuple[int, T | str | None]]:
    for number, line in enumerate(text.splitlines(), 1):
        if told := marker(line):
            yield number, told
            return
    try:
        yield 1, kind.model.model_validate_json(text.removeprefix(_BOM), strict=True)
    except ValidationError as error:
        yield 1, said(error)
