"""Stored test sets: a document, and a file with one test on each line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from operator import attrgetter
from typing import Any, BinaryIO, Literal

from pydantic import AliasChoices, AwareDatetime, BaseModel, Field, ValidationError, model_validator

from scoregate.store.errors import check_items, contradiction_message, error_message
from scoregate.store.json_lines import encode_row, parse_row
from scoregate.store.kinds import Kind, T
from scoregate.store.protocol import Store, Writer
from scoregate.store.review_records import Item
from scoregate.store.toml import TOML, Document, Text, Toml

TurnType = Literal["Single-Turn", "Multi-Turn"]
_BOM = b"\xef\xbb\xbf"


class StoredPrompt(Item):
    """The prompt of a test and the expected response."""

    content: str
    expected_response: str | None = None
    language_code: str = "en"
    id: str | None = None


class StoredTestConfiguration(Item):
    """The plan of a conversation. Turns are counted from 1."""

    goal: str
    instructions: str = ""
    restrictions: str = ""
    scenario: str = ""
    max_turns: int | None = Field(default=None, ge=1)
    min_turns: int | None = Field(default=None, ge=1)


class StoredTest(Item):
    """A test. Without an `id` it gets a digest of its fields."""

    id: str = Field(default="", max_length=200)
    category: str
    topic: str | None = None
    behavior: str = Field(validation_alias=AliasChoices("behavior", "requirement"))
    prompt: StoredPrompt | None = None
    test_type: TurnType | None = None
    test_configuration: StoredTestConfiguration | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _set_id(self) -> StoredTest:
        if not self.id:
            text = encode_row(self.model_dump(exclude_defaults=True))
            object.__setattr__(self, "id", blake2b(text, digest_size=16).hexdigest())
            self.__pydantic_fields_set__.add("id")
        return self


class TestLines:
    """The layout of files of tests, which people may edit too. Lines with the same id must be equal."""

    __test__ = False
    suffix = ".jsonl"

    def read(self, file: BinaryIO, kind: Kind[T], *, origin: str) -> Iterator[T]:
        """As `Layout.read`; the error is raised after the valid tests.

        Raises:
            StoreError: lists all errors with their lines.
        """
        seen: dict[str, tuple[int, int]] = {}

        def parse_lines() -> Iterator[tuple[int, T | str | None]]:
            for number, line in enumerate(file, 1):
                item = _parse_test(line.removeprefix(_BOM) if number == 1 else line, kind)
                if item is not None and not isinstance(item, str):
                    # A hash, since a set may have many long lines.
                    key, this = item.id, hash(line.strip())  # type: ignore[attr-defined]
                    first, other = seen.setdefault(key, (number, this))
                    if first != number:
                        item = None if this == other else contradiction_message(f"{origin}:{first}", key)
                yield number, item

        yield from check_items(parse_lines(), place=f"{origin}:{{}}".format)

    def write(self, items: Iterable[BaseModel]) -> Iterator[bytes]:
        """One line for each test."""
        for item in items:
            yield encode_row(item.model_dump(exclude_defaults=True)) + b"\n"


TEST_LINES = TestLines()


def _parse_test(line: bytes, kind: Kind[T]) -> T | str | None:
    row = parse_row(line)
    if row is None or isinstance(row, str):
        return row
    try:
        return kind.model.model_validate(row)
    except ValidationError as error:
        return error_message(error)


TESTS, LOOSE = "tests.jsonl", ("tests",)


class StoredTestSet(Document):
    """A test set without its tests. `metrics` are names of metrics."""

    id: str = Field(default="", max_length=200)
    name: Text = ""
    description: Text = ""
    short_description: Text = ""
    test_set_type: TurnType = "Single-Turn"
    metrics: tuple[Text, ...] = ()
    metadata: dict[str, Any] = Field(default_factory=dict)
    created_at: AwareDatetime | None = None


TEST_SETS = Kind("test_sets", StoredTestSet, Toml("/test_set.toml"), ("test set",), extra_files=(TESTS,))
# Tests that were pushed without a test set are in one file.
LOOSE_TESTS = Kind("loose_tests", StoredTest, TEST_LINES, ("file",), attrgetter("id"))


def load_stored_tests(store: Store, test_set: str) -> Iterator[StoredTest]:
    """The tests of a set in their order, read one by one; no tests if there is no such set.

    Raises:
        StoreError: lists all invalid tests, after the valid ones.
    """
    if file := store.open(TEST_SETS, (test_set,), TESTS):
        with file:
            yield from TEST_LINES.read(file, LOOSE_TESTS, origin=store.location(TEST_SETS, (test_set,), TESTS))


def count_tests(store: Store, test_set: str) -> int:
    """The number of lines in the file of tests that are not empty. They may be invalid."""
    if (file := store.open(TEST_SETS, (test_set,), TESTS)) is None:
        return 0
    with file:
        return sum(1 for line in file if not line.isspace())


def write_tests(writer: Writer, test_set: str, lines: Iterable[bytes]) -> None:
    """Replace the tests of a set. `lines` are from `json_lines.encode_row`."""
    writer.replace(TEST_SETS, (test_set,), TESTS, pieces=(line + b"\n" for line in lines))


class StoredLabel(Document):
    """A name that groups tests."""

    id: str = Field(default="", max_length=200)
    name: Text = ""
    description: Text = ""


class StoredBehavior(StoredLabel):
    """An expected behavior of the system under test. `metrics` are the names of the metrics that measure it."""

    metrics: tuple[Text, ...] = ()


BEHAVIORS = Kind("behaviors", StoredBehavior, TOML, ("behavior",))
CATEGORIES = Kind("categories", StoredLabel, TOML, ("category",))
TOPICS = Kind("topics", StoredLabel, TOML, ("topic",))
