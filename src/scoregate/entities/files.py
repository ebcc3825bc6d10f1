"""Files of tests, of any format, read as they are taken."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

from scoregate.entities.csv_tests import Found, Tell, csv_tests, header_of
from scoregate.entities.json_tests import json_lines_tests, json_tests
from scoregate.entities.test import Test
from scoregate.errors import InvalidTests, StoreError
from scoregate.store.problems import sound


def warn(text: str) -> None:
    """Tell people of something by a warning of Python's."""
    warnings.warn(text, UserWarning, stacklevel=2)


def read_tests(filename: Path | str, *, kind: str = "", allow_empty: bool = False, tell: Tell = warn) -> Iterator[Test]:
    """The tests of a file, as they are taken; each knows its `source` and, but for JSON, its `source_line`.

    Args:
        filename: ends in .csv, .tsv, .jsonl, .ndjson or .json. kind: one of these ends, whatever the name's is.
        allow_empty: whether a file without tests is none to complain of.
        tell: is called with what people should know of the file, such as columns that are left out.

    Raises:
        InvalidTests: all that is wrong, ten things at most, each with its line, once the good tests have been given.
        OSError: the file cannot be read.
    """
    path, count = Path(filename), 0
    suffix = (kind or path.suffix).lower()
    if (reader := _READERS.get(suffix)) is None:
        raise InvalidTests(f"{path}: a file of tests ends in {', '.join(_READERS)}")
    place = f"{path}, test {{}}".format if suffix == ".json" else f"{path}:{{}}".format
    try:
        for test in sound(_apart(reader(path, tell), place), place=place):
            count += 1
            yield test
    except StoreError as error:
        raise InvalidTests(error.message, advice="Nothing was taken in. Correct these places.") from None
    if not count and not allow_empty:
        raise InvalidTests(f"{path} has no tests", advice="Give allow_empty=True where that is meant.")


def _csv(path: Path, tell: Tell) -> Iterator[Found]:
    header = header_of(path)
    if header.delimiter != ",":
        logging.getLogger("scoregate").info("%s: its cells are separated by %s", path, header.separated)
    for notice in header.notices:
        tell(notice)
    return csv_tests(header)


def _apart(found: Iterator[Found], place: Callable[[int], str]) -> Iterator[Found]:
    """The same, with a word where a test has the id of another one."""
    seen: dict[str, int] = {}
    for number, test in found:
        if isinstance(test, Test) and test.id and (first := seen.setdefault(test.id, number)) != number:
            yield number, f"has the same id as {place(first)}, {test.id!r:.60}"
        else:
            yield number, test


_READERS: dict[str, Callable[[Path, Tell], Iterator[Found]]] = {
    ".csv": _csv,
    ".tsv": _csv,
    ".jsonl": json_lines_tests,
    ".ndjson": json_lines_tests,
    ".json": json_tests,
}
