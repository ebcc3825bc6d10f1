"""Test sets as they are kept: a document, and beside it the tests, a line each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import AwareDatetime, Field

from scoregate.store.documents import Document, Text, Toml
from scoregate.store.kinds import Kind
from scoregate.store.protocol import Store, Writer
from scoregate.store.test_lines import TEST_LINES, StoredTest, TurnType

TESTS, LOOSE = "tests.jsonl", ("tests",)


class StoredTestSet(Document):
    """A test set without its tests. `metrics` are names."""

    id: str = Field(default="", max_length=200)
    name: Text = ""
    description: Text = ""
    short_description: Text = ""
    test_set_type: TurnType = "Single-Turn"
    metrics: tuple[Text, ...] = ()
    metadata: dict[str, Any] = Field(default_factory=dict)
    created_at: AwareDatetime | None = None


def _id(test: StoredTest) -> str:
    return test.id


TEST_SETS = Kind("test_sets", StoredTestSet, Toml("/test_set.toml"), ("test set",), beside=(TESTS,))
# Tests that were pushed by themselves stand together in one file.
LOOSE_TESTS = Kind("loose_tests", StoredTest, TEST_LINES, ("file",), _id)


def tests_of(store: Store, test_set: str) -> Iterator[StoredTest]:
    """The tests of a set in their order, read as they are taken; none where there is no such set.

    Raises:
        StoreError: something is wrong with them; told when the good ones have been given.
    """
    if file := store.open(TEST_SETS, (test_set,), TESTS):
        with file:
            yield from TEST_LINES.read(file, LOOSE_TESTS, origin=store.where(TEST_SETS, (test_set,), TESTS))


def count_tests(store: Store, test_set: str) -> int:
    """How many lines of tests a set has, whatever stands there."""
    if (file := store.open(TEST_SETS, (test_set,), TESTS)) is None:
        return 0
    with file:
        return sum(1 for line in file if not line.isspace())


def put_tests(writer: Writer, test_set: str, lines: Iterable[bytes]) -> None:
    """Put tests in the place of those that a set has; lines as `rows.line_of` makes them."""
    writer.replace(TEST_SETS, (test_set,), TESTS, pieces=(line + b"\n" for line in lines))
