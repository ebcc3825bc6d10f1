"""Items as JSON lines: one a line, keys sorted, so that a diff shows what changed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import BinaryIO, TypeVar

from pydantic import BaseModel, ValidationError

from scoregate.core.utf8 import whole
from scoregate.store.kinds import Kind, T
from scoregate.store.problems import checked, marker, said

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
            yield whole(line_of(item)).encode() + b"\n"


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
