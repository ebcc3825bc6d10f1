"""Tests as they are kept: one a line, in their order, with what people read first in front."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any, BinaryIO, Literal

from pydantic import AliasChoices, BaseModel, Field, ValidationError, model_validator

from scoregate.store.kinds import Kind, T
from scoregate.store.problems import contradiction, said, sound
from scoregate.store.rows import line_of, parsed
from scoregate.store.words import Item

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
            text = line_of(self.model_dump(exclude_defaults=True))
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
            yield line_of(item.model_dump(exclude_defaults=True)) + b"\n"


TEST_LINES = TestLines()


def _item(line: bytes, kind: Kind[T]) -> T | str | None:
    row = parsed(line)
    if row is None or isinstance(row, str):
        return row
    try:
        return kind.model.model_validate(row)
    except ValidationError as error:
        return said(error)
