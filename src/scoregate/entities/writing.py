"""Tests into files: tables, JSON, JSON lines."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from scoregate.entities.csv_columns import CONVERSATION, PROMPT
from scoregate.entities.test import Test, json_of, line_of_test
from scoregate.store.separators import guarded

_ALWAYS = ("category", "topic", "behavior", "test_type")
_FEW = ("metadata", "id", "prompt_id")
# Half a surrogate pair has no form in UTF-8, and one in JSON.
_ESCAPED = "backslashreplace"


def write_csv(tests: Sequence[Test], path: Path) -> None:
    """Write a table; columns that few tables need are there where a test has something for them.

    What a spreadsheet would run as a formula has an apostrophe before it, which is taken off when it is read.

    Raises:
        EntityError: metadata has no form in JSON; then nothing is written. OSError: it cannot be written.
    """
    columns = _columns(tests)
    rows = chain([columns], ([guarded(row.get(name, "")) for name in columns] for row in map(_row, tests)))
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


def write_json(tests: Sequence[Test], path: Path, indent: int | None) -> None:
    """Write a list of objects; else as `write_csv`."""
    found = [json.loads(line_of_test(test)) for test in tests]
    path.write_text(json.dumps(found, ensure_ascii=False, indent=indent) + "\n", encoding="utf-8", errors=_ESCAPED)


def write_json_lines(tests: Iterable[Test], path: Path) -> None:
    """Write an object a line, as the store does; else as `write_csv`."""
    lines = [line_of_test(test) + b"\n" for test in tests]
    with path.open("wb") as file:
        file.writelines(lines)


def _columns(tests: Sequence[Test]) -> list[str]:
    used: set[str] = set()
    for test in tests:
        used.update(_row(test))
    texts = ("prompt_content", "expected_response") if "prompt_content" in used or "goal" not in used else ()
    language = ("language_code",) if "language_code" in used else ()
    conversation = CONVERSATION if "goal" in used else ()
    return [*_ALWAYS, *texts, *language, *conversation, *(name for name in _FEW if name in used)]


def _row(test: Test) -> dict[str, str]:
    """Its cells by column, without those that would be empty."""
    fields: dict[str, Any] = {name: getattr(test, name) for name in ("category", "topic", "behavior", "id")}
    fields["test_type"] = test.turns.value
    if test.prompt is not None:
        fields |= {column: getattr(test.prompt, name) for column, name in PROMPT.items()}
    if test.test_configuration is not None:
        fields |= {name: getattr(test.test_configuration, name) for name in CONVERSATION}
    if fields.get("language_code") == "en":
        del fields["language_code"]
    if test.metadata:
        fields["metadata"] = json_of(test.metadata, place=f"the test {test.id or test.prompt!r:.60}")
    return {name: str(value) for name, value in fields.items() if value not in (None, "")}
