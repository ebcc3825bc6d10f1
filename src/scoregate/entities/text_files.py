"""Files that people edit, as text: UTF-8, with or without the mark that some programs write before it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from scoregate.errors import InvalidTests

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


@contextmanager
def opened(path: Path) -> Iterator[TextIO]:
    """The text of a file, whose line ends stay.

    Raises:
        InvalidTests: it is not UTF-8. OSError: it cannot be read.
    """
    with path.open(encoding="utf-8-sig", newline="") as file:
        try:
            yield file
        except UnicodeDecodeError:
            raise _not_utf8(path) from None


def _not_utf8(path: Path) -> InvalidTests:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if number == 1 and line.startswith(_UTF_16):
                return InvalidTests(f"{path} is UTF-16, not UTF-8", advice="Save it as CSV UTF-8.")
            try:
                line.decode()
            except UnicodeDecodeError as error:
                told = f"{path}:{number}: is not UTF-8: byte {error.start + 1} of the line is {line[error.start]:#04x}"
                return InvalidTests(told, advice="Save it as UTF-8.")
    return InvalidTests(f"{path} is not UTF-8", advice="Save it as UTF-8.")
