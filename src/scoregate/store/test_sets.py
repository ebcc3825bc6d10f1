"""Test sets as they are kept: a document, and beside it the tests, a line each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any, BinaryIO, Literal

from pydantic import AliasChoices, AwareDatetime, BaseModel, Field, ValidationError, model_validator

from scoregate.store.errors import contradiction, said, sound
from scoregate.store.json_lines import parsed, row_line
from scoregate.store.kinds import Kind, T
from scoregate.store.protocol import Store, Writer
from scoregate.store.review_records import Item
from scoregate.store.toml import TOML, Document, Text, Toml

TurnType = Literal["Single-Turn", "Multi-Turn"]
_BOM = b"\xef\xbb\xbf"


class StoredPrompt(Item):
    """What a test says, and what is expected to come back."""

    content: str
    expected_response: str | None = None
    language_code: str = "en"
    id: str | None = None


class StoredTestConfiguration(Item):
    """How a conversation is led; turns are counted from 1."""

    goal: str
    instructions: str = ""
    restrictions: str = ""
    scenario: str = ""
    max_turns: int | None = Field(default=None, ge=1)
    min_turns: int | None = Field(default=None, ge=1)


class StoredTest(Item):
    """A test. One without an `id` gets a digest of what its line says."""

    id: str = Field(default="", max_length=200)
    category: str
    topic: str | None = None
    behavior: str = Field(validation_alias=AliasChoices("behavior", "requirement"))
    prompt: StoredPrompt | None = None
    test_type: TurnType | None = None
    test_configuration: StoredTestConfiguration | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _named(self) -> StoredTest:
        if not self.id:
            text = row_line(self.model_dump(exclude_defaults=True))
            object.__setattr__(self, "id", blake2b(text, digest_size=16).hexdigest())
            self.__pydantic_fields_set__.add("id")
        return self


class TestLines:
    """The layout of files of tests, which people edit too. Two lines with one id must say the same."""

    __test__ = False
    suffix = ".jsonl"

    def read(self, file: BinaryIO, kind: Kind[T], *, origin: str) -> Iterator[T]:
        """The tests, one by one.

        Raises:
            StoreError: all that is wrong with the file, each with its line, once the good tests have been given.
        """
        seen: dict[str, tuple[int, int]] = {}

        def found() -> Iterator[tuple[int, T | str | None]]:
            for number, line in enumerate(file, 1):
                item = _item(line.removeprefix(_BOM) if number == 1 else line, kind)
                if item is not None and not isinstance(item, str):
                    key, this = item.id, hash(line.strip())  # type: ignore[attr-defined]
                    first, other = seen.setdefault(key, (number, this))
                    if first != number:
                        item = None if this == other else contradiction(f"{origin}:{first}", key)
                yield number, item

        yield from sound(found(), place=f"{origin}:{{}}".format)

    def write(self, items: Iterable[BaseModel]) -> Iterator[bytes]:
        """A line a test."""
        for item in items:
            yield row_line(item.model_dump(exclude_defaults=True)) + b"\n"


TEST_LINES = TestLines()


def _item(line: bytes, kind: Kind[T]) -> T | str | None:
    row = parsed(line)
    if row is None or isinstance(row, str):
        return row
    try:
        return kind.model.model_validate(row)
    except ValidationError as error:
        return said(error)


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


class StoredLabel(Document):
    """A name that tests are sorted by."""

    id: str = Field(default="", max_length=200)
    name: Text = ""
    description: Text = ""


class StoredBehavior(StoredLabel):
    """What is expected of the system under test; `metrics` are the names of those that tell."""

    metrics: tuple[Text, ...] = ()


BEHAVIORS = Kind("behaviors", StoredBehavior, TOML, ("behavior",))
CATEGORIES = Kind("categories", StoredLabel, TOML, ("category",))
TOPICS = Kind("topics", StoredLabel, TOML, ("topic",))
