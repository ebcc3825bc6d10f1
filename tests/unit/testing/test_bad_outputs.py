"""An output that cannot be recorded is an error of its case; evaluators of other cases run."""

from __future__ import annotations

import itertools
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.testing.builders import Case, Judge, by_hash, only, outcomes, passing, read_events, run

from scoregate.kernel.types.json_io import MAX_EVENT_BYTES
from scoregate.testing.models import Evaluation


def circular() -> list[Any]:
    found: list[Any] = []
    found.append(found)
    return found


def circular_dict() -> dict[str, Any]:
    found: dict[str, Any] = {}
    found["self"] = found
    return found


def nested(depth: int) -> Any:
    found: Any = 1
    for _ in range(depth):
        found = [found]
    return found


async def stream() -> AsyncIterator[str]:
    yield "At"


class SerializeRaises:
    def serialize(self) -> Any:
        raise OSError("no disk")


class SerializeGivesNothingUseful:
    def serialize(self) -> Any:
        return object()


class ReprRaises:
    def __repr__(self) -> str:
        raise OSError("no repr")


OUTPUTS: dict[str, tuple[Any, str]] = {
    "an object": (object(), "object"),
    "an object within": ({"a": [object()]}, "object"),
    "an object whose repr raises": (ReprRaises(), "ReprRaises"),
    "a function": (passing, "function"),
    "a class": (int, "type"),
    "an exception within": ({"error": ValueError("as a value")}, "ValueError"),
    "a circle": (circular(), "Circular reference"),
    "a circle of dicts": (circular_dict(), "Circular reference"),
    "very deep": (nested(5000), "depth"),
    "too deep to read back": (nested(220), "could not be read back"),
    "a number too long to read back": (10**4290 * 10**100, "could not be read back"),
    "a generator": ((n for n in range(3)), "can be read only once"),
    "an async generator": (stream(), "of type async generator can be read only once"),
    "an endless iterator": (itertools.count(), "can be read only once"),
    "a serialize that raises": (SerializeRaises(), "no disk"),
    "a serialize without use": (SerializeGivesNothingUseful(), "object"),
}


@pytest.mark.parametrize(("output", "message"), OUTPUTS.values(), ids=OUTPUTS)
def test_a_bad_output_fails_its_case(output: Any, message: str, events: Path) -> None:
    scored: list[str] = []

    def score(test_case: Case, _output: Any) -> Any:
        scored.append(test_case.input)
        return passing()

    result = run(lambda case: output if case.input == "b" else 1, [Judge(score)])
    assert outcomes(result) == {"a": "passed", "b": "errored", "c": "passed"}
    (error,) = by_hash(result)["b"].errors
    assert error.evaluator is None
    assert message in error.error.message
    assert sorted(scored) == ["a", "c"]
    assert {event.suite for event in read_events(events)} == {"demo"}


def test_outputs_without_json_have_advice() -> None:
    circle = Case("b", circular())  # type: ignore[arg-type]
    result = run(lambda case: object() if case.input == "a" else 1, [Judge(passing)], [Case("a"), circle])
    (of_output,), (of_case,) = (by_hash(result)[name].errors for name in "ab")
    assert of_output.error.message.startswith("the output cannot be recorded as JSON: ")
    assert of_case.error.message.startswith("the test case cannot be recorded as JSON: ")
    assert {of_output.error.type, of_case.error.type} == {"NotRecordable"}
    assert "`serialize`" in of_output.error.advice


def test_metadata_without_a_json_form_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    case = only(run(evaluators=[Judge(lambda *_: Evaluation(1, metadata={"why": object()}))], test_cases=[Case("a")]))
    assert case.errors[0].evaluator == "judge"
    assert case.errors[0].error.message.startswith("the metadata cannot be recorded as JSON: ")
    assert "errored a: judge: NotRecordable: the metadata" in capsys.readouterr().out


@pytest.mark.skipif(sys.flags.optimize > 0, reason="needs assertions")
def test_an_unawaited_coroutine_is_awaited() -> None:
    async def later() -> int:
        return 5

    assert only(run(lambda _: later(), [Judge(passing)], [Case("a")])).output == 5


def test_a_huge_output_is_cut_and_marked() -> None:
    case = only(run(lambda _: "é" * MAX_EVENT_BYTES, [Judge(passing)], [Case("a")]))
    assert case.truncated
    assert case.status == "passed"
    assert case.output.startswith('"éé')
    assert "over the limit of 8,388,608" in case.output
    assert len(case.output) < 200_000


def test_evaluators_get_the_full_output() -> None:
    seen: list[int] = []
    run(lambda _: "x" * MAX_EVENT_BYTES, [Judge(lambda _, output: seen.append(len(output)))], [Case("a")])
    assert seen == [MAX_EVENT_BYTES]


def test_a_huge_input_and_huge_metadata_are_cut_too() -> None:
    evaluation = Evaluation(1, metadata={"why": "y" * MAX_EVENT_BYTES})
    case = only(run(lambda _: 1, [Judge(lambda *_: evaluation)], [Case("a", "x" * MAX_EVENT_BYTES)]))
    assert len(case.input) < 200_000
    assert case.evaluations["judge"].score == 1
    assert "over the limit" in str(case.evaluations["judge"].metadata)


def test_an_unserializable_case_is_its_own_error() -> None:
    circle = Case("b")
    circle.expected = circular()  # type: ignore[assignment]
    result = run(test_cases=[Case("a"), circle], evaluators=[Judge(passing)])
    assert outcomes(result) == {"a": "passed", "b": "errored"}
    assert "Circular reference" in by_hash(result)["b"].errors[0].error.message
