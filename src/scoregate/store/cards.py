"""Items that have a file of their own, as indented JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from pydantic import BaseModel, ValidationError

from scoregate.store.kinds import Kind, T
from scoregate.store.problems import checked, marker, said
from scoregate.store.rows import seen

_BOM = b"\xef\xbb\xbf"


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
