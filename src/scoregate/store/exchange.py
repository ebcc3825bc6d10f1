"""People's words out of the store and into it, as files of JSON lines or CSV."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from io import BytesIO
from pathlib import PurePath
from typing import TypeVar

from scoregate.errors import StoreError
from scoregate.store.kinds import Kind
from scoregate.store.lines import JSON_LINES
from scoregate.store.tables import read_table, write_table
from scoregate.store.words import Said

S = TypeVar("S", bound=Said)
_LINES, _TABLE = (".jsonl", ".ndjson"), ".csv"


def is_table(name: str) -> bool:
    """Whether a file of this name is CSV; if not, it is JSON lines.

    Raises:
        StoreError: it is neither.
    """
    suffix = PurePath(name).suffix.lower()
    if suffix not in (*_LINES, _TABLE):
        raise StoreError(f"{name} is neither JSON lines nor CSV", advice="Name a file that ends in .jsonl or .csv.")
    return suffix == _TABLE


def exported(items: Sequence[S], kind: Kind[S], *, table: bool) -> bytes:
    """A file of the items: CSV, or the lines that the store has as well."""
    return write_table(items, kind).encode() if table else b"".join(kind.layout.write(items))


def imported(data: bytes, kind: Kind[S], *, origin: str, table: bool) -> list[S]:
    """The items of a file; those without a time get the present one. Of ids nothing is demanded.

    Raises:
        StoreError: all that is wrong with it, by line, or by row and column. `origin` is how the file is called.
    """
    now = datetime.now(UTC)
    try:
        items = list(_read(data, kind, origin=origin, table=table))
    except StoreError as error:
        raise StoreError(error.message, advice="Nothing was imported. " + error.advice) from None
    return [item if item.created_at else item.model_copy(update={"created_at": now}) for item in items]


def _read(data: bytes, kind: Kind[S], *, origin: str, table: bool) -> Sequence[S]:
    if not table:
        return list(JSON_LINES.read(BytesIO(data), kind, origin=origin))
    try:
        return list(read_table(data.decode("utf-8-sig"), kind, origin=origin))
    except UnicodeDecodeError as error:
        raise StoreError(f"{origin} is not UTF-8: byte {error.start + 1}", advice="Save it as UTF-8.") from None
