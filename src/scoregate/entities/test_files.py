"""Files of tests: CSV, TSV, JSON and JSON lines."""

from __future__ import annotations

import csv
import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from scoregate.entities.csv_tests import (
    CONVERSATION_COLUMNS,
    PROMPT_COLUMNS,
    Notify,
    NumberedTest,
    read_csv_tests,
)
from scoregate.entities.json_tests import read_json_lines_tests, read_json_tests
from scoregate.entities.test import Test, dump_json, dump_test_line
from scoregate.errors import InvalidTests, StoreError
from scoregate.store.errors import check_items
from scoregate.store.json_lines import encode_row
from scoregate.store.tables import TableError, guard_cell


def warn(text: str) -> None:
    """Emit a Python warning."""
    warnings.warn(text, UserWarning, stacklevel=2)


def read_tests(
    filename: Path | str, *, kind: str = "", allow_empty: bool = False, notify: Notify = warn
) -> Iterator[Test]:
    """Read the tests of a file, one by one. Each has its `source` and, except in JSON, its `source_line`.

    Args:
        filename: ends in .csv, .tsv, .jsonl, .ndjson or .json.
        kind: the format as such a suffix, if the suffix of the file is another.
        allow_empty: whether a file without tests is valid.
        notify: called with notices, such as columns that are ignored.

    Raises:
        InvalidTests: up to ten problems with their lines, after the valid tests.
        OSError: the file cannot be read.
    """
    path, count = Path(filename), 0
    suffix = (kind or path.suffix).lower()
    if (reader := _READERS.get(suffix)) is None:
        raise InvalidTests(f"{path}: a file of tests ends in {', '.join(_READERS)}")
    place = f"{path}, test {{}}".format if suffix == ".json" else f"{path}:{{}}".format
    try:
        for test in check_items(_check_ids(reader(path, notify), place), place=place):
            count += 1
            yield test
    except TableError as error:
        raise InvalidTests(error.message(path), advice=error.advice) from None
    except StoreError as error:
        raise InvalidTests(error.message, advice="Nothing was imported. Correct these places.") from None
    if not count and not allow_empty:
        raise InvalidTests(f"{path} has no tests", advice="Set allow_empty=True to allow that.")


def _check_ids(tests: Iterator[NumberedTest], place: Callable[[int], str]) -> Iterator[NumberedTest]:
    """The tests, with a problem for each duplicate id."""
    seen: dict[str, int] = {}
    for number, test in tests:
        if isinstance(test, Test) and test.id and (first := seen.setdefault(test.id, number)) != number:
            yield number, f"has the same id as {place(first)}, {test.id!r:.60}"
        else:
            yield number, test


_READERS: dict[str, Callable[[Path, Notify], Iterator[NumberedTest]]] = {
    ".csv": read_csv_tests,
    ".tsv": read_csv_tests,
    ".jsonl": read_json_lines_tests,
    ".ndjson": read_json_lines_tests,
    ".json": read_json_tests,
}


_REQUIRED_COLUMNS = ("category", "topic", "behavior", "requirement", "test_type")
_OPTIONAL_COLUMNS = ("metadata", "id", "prompt_id")
# A lone surrogate has a form in JSON, but not in UTF-8.
_SURROGATES = "backslashreplace"


def write_csv(tests: Sequence[Test], path: Path) -> None:
    """Write a table. Rare columns are present only if a test uses them.

    An apostrophe in front prevents spreadsheets from running a text as a formula. Reading removes it.

    Raises:
        EntityError: metadata has no form in JSON; then nothing is written.
        OSError: the file cannot be written.
    """
    used: set[str] = set()
    for test in tests:
        used.update(_to_cells(test))
    texts = ("prompt_content", "expected_response") if "prompt_content" in used or "goal" not in used else ()
    language = ("language_code",) if "language_code" in used else ()
    conversation = CONVERSATION_COLUMNS if "goal" in used else ()
    optional = [name for name in _OPTIONAL_COLUMNS if name in used]
    columns = [*_REQUIRED_COLUMNS, *texts, *language, *conversation, *optional]
    rows = chain([columns], ([guard_cell(row.get(name, "")) for name in columns] for row in map(_to_cells, tests)))
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


def write_json(tests: Sequence[Test], path: Path, indent: int | None) -> None:
    """Write a JSON list of objects; otherwise as `write_csv`."""
    rows = [_export_fields(test) for test in tests]
    path.write_text(json.dumps(rows, ensure_ascii=False, indent=indent) + "\n", encoding="utf-8", errors=_SURROGATES)


def write_json_lines(tests: Iterable[Test], path: Path) -> None:
    """Write JSON lines; otherwise as `write_csv`."""
    lines = [encode_row(_export_fields(test)) + b"\n" for test in tests]
    with path.open("wb") as file:
        file.writelines(lines)


def _export_fields(test: Test) -> dict[str, Any]:
    """The stored fields. Rhesis reads the behavior as `requirement` since version 0.13, as `behavior` before."""
    fields = json.loads(dump_test_line(test))
    return {**fields, "requirement": test.requirement} if test.requirement else fields


def _to_cells(test: Test) -> dict[str, str]:
    """The cells that are not empty, by column."""
    plain = ("category", "topic", "behavior", "requirement", "id")
    fields: dict[str, Any] = {name: getattr(test, name) for name in plain}
    fields["test_type"] = test.turns.value
    if test.prompt is not None:
        fields |= {column: getattr(test.prompt, name) for column, name in PROMPT_COLUMNS.items()}
    if test.test_configuration is not None:
        fields |= {name: getattr(test.test_configuration, name) for name in CONVERSATION_COLUMNS}
    if fields.get("language_code") == "en":
        del fields["language_code"]
    if test.metadata:
        fields["metadata"] = dump_json(test.metadata, place=f"the test {test.id or test.prompt!r:.60}")
    return {name: str(value) for name, value in fields.items() if value not in (None, "")}
