"""Cases and outputs in the record."""

from __future__ import annotations

import uuid
from collections import OrderedDict, namedtuple
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum, StrEnum
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, Field
from tests.unit.testing.builders import PASS, Case, Judge, by_hash, only, run

from scoregate.testing.models import BaseTestCase, Evaluation


class Colour(Enum):
    RED = "red"


class Size(StrEnum):
    BIG = "big"


class Answer(BaseModel):
    text: str
    confidence: float = 0.5


@dataclass
class Reply:
    text: str
    when: date = date(2026, 1, 2)


Point = namedtuple("Point", "x y")
ID = uuid.UUID("12345678-1234-5678-1234-567812345678")

OUTPUTS: dict[str, tuple[Any, Any]] = {
    "None": (None, None),
    "a bool": (True, True),
    "a large integer": (2**70, 2**70),
    "a float": (0.1, 0.1),
    "NaN": (float("nan"), None),
    "infinities within": ([float("inf"), -float("inf"), 1.0], [None, None, 1.0]),
    "text": ("Grüße 👋\x00\n", "Grüße 👋\x00\n"),
    "a lone surrogate": ("a\ud83d", "a\\ud83d"),
    "a lone surrogate in a key": ({"\udc00": ["\ud800"]}, {"\\udc00": ["\\ud800"]}),
    "bytes": (b"\xff\x00", "_wA="),
    "a dataclass": (Reply("hi"), {"text": "hi", "when": "2026-01-02"}),
    "a pydantic model": (Answer(text="hi"), {"text": "hi", "confidence": 0.5}),
    "models within": ({"a": [Answer(text="hi")]}, {"a": [{"text": "hi", "confidence": 0.5}]}),
    "a datetime": (datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "2026-01-02T03:04:05Z"),
    "a timedelta": (timedelta(hours=1), "PT1H"),
    "a UUID": (ID, str(ID)),
    "enums": ([Colour.RED, Size.BIG], ["red", "big"]),
    "a tuple": ((1, "a"), [1, "a"]),
    "a named tuple": (Point(1, 2), [1, 2]),
    "a set of one": ({"a"}, ["a"]),
    "a Decimal": (Decimal("1.50"), "1.50"),
    "a path": (Path("a/b"), "a/b"),
    "keys that are no text": ({2: "a", None: "b", True: "c"}, {"2": "a", "None": "b", "true": "c"}),
    "an ordered dict": (OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
}  # fmt: skip


@pytest.mark.parametrize(("output", "expected"), OUTPUTS.values(), ids=OUTPUTS)
def test_an_output_is_json(output: Any, expected: Any) -> None:
    case = only(run(lambda _: output, [Judge(lambda *_: PASS)], [Case("a")]))
    assert (case.output, case.status) == (expected, "passed")


def test_evaluators_get_the_output_itself() -> None:
    output, seen = Answer(text="hi"), list[Any]()
    run(lambda _: output, [Judge(lambda _, given: seen.append(given))], [Case("a")])
    assert seen[0] is output


def test_an_output_can_serialize_itself() -> None:
    class Stream:
        def serialize(self) -> dict[str, str]:
            return {"text": "whole"}

    assert only(run(lambda _: Stream(), [], [Case("a")])).output == {"text": "whole"}


@dataclass
class Rich(BaseTestCase):
    name: str
    when: datetime = datetime(2026, 1, 2, tzinfo=UTC)
    tags: set[str] = field(default_factory=lambda: {"b", "a", "c"})
    client: Any = None
    colour: Colour = Colour.RED

    def hash(self) -> str:
        return self.name


def test_a_field_without_json_is_recorded_as_its_type() -> None:
    class Client: ...

    case = only(run(lambda _: 1, [], [Rich("a", client=Client())]))
    assert case.input == {
        "name": "a",
        "when": "2026-01-02T00:00:00Z",
        "tags": ["a", "b", "c"],
        "client": "<test_a_field_without_json_is_recorded_as_its_type.<locals>.Client>",
        "colour": "red",
    }
    assert case.errors == []


def test_a_case_can_serialize_itself() -> None:
    class Short(Case):
        def serialize(self) -> Any:
            return {"only": self.input}

    assert only(run(test_cases=[Short("a", "secret")])).input == {"only": "a"}


def test_a_serialize_that_raises_ends_its_own_case_only() -> None:
    class Broken(Case):
        def serialize(self) -> Any:
            raise OSError("no disk")

    result = by_hash(run(test_cases=[Broken("a"), Case("b")]))
    assert [error.error.message for error in result["a"].errors] == ["no disk"]
    assert result["b"].errors == []


class Model(BaseModel):
    name: str
    secret: str = Field(default="s", exclude=True)


@dataclass(slots=True)
class Slotted:
    name: str


class Plain:
    def __init__(self, name: str) -> None:
        self.name = name
        self._private = 1


@pytest.mark.parametrize(
    "value",
    [{"name": "a"}, Model(name="a"), Slotted("a"), Plain("a"), OrderedDict(name="a")],
    ids=["dict", "pydantic", "slots", "object", "mapping"],
)
def test_a_case_can_be_anything(value: Any) -> None:
    def fn(test_case: Any) -> str:
        return test_case["name"] if isinstance(test_case, Mapping) else test_case.name

    case = only(run(fn, [], [value], test_case_hash=["name"]))
    assert (case.input, case.output) == ({"name": "a"}, "a")


@pytest.mark.parametrize("value", ["question", ("question", 1), 5], ids=repr)
def test_cases_need_no_fields(value: Any) -> None:
    case = only(run(lambda given: given, [], [value], test_case_hash=lambda given: f"hash of {given}"))
    assert case.input == (list(value) if isinstance(value, tuple) else value)
    assert case.errors == []


def test_the_digest_changes_with_a_definition() -> None:
    def digest(expected: str, tags: set[str]) -> str:
        return only(run(lambda _: 1, [], [Rich("a", client=expected, tags=tags)])).digest

    assert digest("x", {"a", "b", "c"}) == digest("x", {"c", "b", "a"})
    assert digest("x", {"a"}) != digest("y", {"a"}) != digest("y", {"b"})


def test_metadata_is_json() -> None:
    evaluation = Evaluation(1, metadata={"why": (1, Colour.RED), "at": Path("x")})
    case = only(run(evaluators=[Judge(lambda *_: evaluation)], test_cases=[Case("a")]))
    assert case.evaluations["judge"].metadata == {"why": [1, "red"], "at": "x"}
