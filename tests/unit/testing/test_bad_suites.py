"""Errors in a suite name the suite and the case, and everything else runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.testing.builders import PASS, Case, Judge, echo, outcomes, passing, read_events, run

from scoregate.kernel.types.events import Errored, SuiteFinished
from scoregate.kernel.types.runs.run import SuiteResult
from scoregate.testing.models import BaseTestCase, BaseTestEvaluator, Evaluation
from scoregate.testing.run import run_test_suite

GOOD = Judge(passing, "good")


def messages(result: SuiteResult) -> list[str]:
    assert not result.passed
    assert all(error.type == "InvalidSuite" for error in result.errors)
    return [error.message for error in result.errors]


def broken_cases() -> Iterator[Case]:
    yield Case("a")
    raise RuntimeError("the file is gone")


@pytest.mark.parametrize("none", [[], (), {}, iter([])], ids=["list", "tuple", "dict", "iterator"])
def test_no_cases(none: Any, events: Path) -> None:
    assert messages(run(test_cases=none, evaluators=[GOOD])) == ["suite 'demo': no test cases"]
    assert [type(event) for event in read_events(events)][-2:] == [Errored, SuiteFinished]


@pytest.mark.parametrize("given", [None, 5, broken_cases()], ids=["None", "a number", "an iterator that raises"])
def test_unlistable_cases(given: Any) -> None:
    assert messages(run(test_cases=given))[0].startswith("suite 'demo': test_cases cannot be listed: ")


def test_duplicate_hashes() -> None:
    result = run(test_cases=[Case("a"), Case("b"), Case("a"), Case("c")], evaluators=[GOOD])
    assert messages(result) == [
        "suite 'demo': test case 3 is left out: duplicate hash 'a', which test case 1 has; they are equal, so one of "
        "them is enough"
    ]
    assert outcomes(result) == {"a": "passed", "b": "passed", "c": "passed"}


def test_a_duplicate_hash_names_the_unused_fields() -> None:
    class Odd(Case):
        def serialize(self) -> Any:
            return [self.input] if self.expected == "a list" else {"input": self.input, self.expected: 1}

    explanations = [
        (Case("a", "x"), Case("a", "y"), "the hash leaves out expected, in which they differ"),
        (Odd("a", "b"), Odd("a", "c"), "the hash leaves out c, b, in which they differ"),
        (Odd("a", "b"), Odd("a", "a list"), "if they differ, their hashes must differ too"),
        (Case("a", []), Odd("a", []), "if they differ, their hashes must differ too"),  # type: ignore[arg-type]
    ]
    for *pair, explanation in explanations:
        (message,) = messages(run(lambda _: 1, test_cases=pair))
        assert message.endswith(f"test case 2 is left out: duplicate hash 'a', which test case 1 has; {explanation}")


@pytest.mark.parametrize("found", [None, 5, "", b"a"], ids=repr)
def test_a_hash_must_be_text(found: Any) -> None:
    class Odd(BaseTestCase):
        input = "odd"

        def hash(self) -> Any:
            return found

    result = run(test_cases=[Case("a"), Odd()], evaluators=[GOOD])
    assert messages(result) == [
        f"suite 'demo': test case 2: its hash must be a string that is not empty, not {found!r}"
    ]
    assert outcomes(result) == {"a": "passed"}


def test_a_hash_that_raises() -> None:
    class Odd(Case):
        def hash(self) -> str:
            raise LookupError("no key")

    result = run(test_cases=[Odd("x"), Case("a")], evaluators=[GOOD])
    assert messages(result) == ["suite 'demo': test case 1: no key"]
    assert outcomes(result) == {"a": "passed"}


def test_duplicate_evaluator_ids() -> None:
    result = run(evaluators=[GOOD, Judge(passing, "other"), Judge(passing, "good")])
    assert messages(result) == ["suite 'demo': scorer 3: duplicate id 'good', which an earlier scorer has"]
    assert all(set(case.evaluations) == {"good", "other"} for case in result.cases)


class WithoutId:
    def evaluate_test_case(self, *_: Any) -> Evaluation:
        return PASS


class RaisingId(Judge):
    @property
    def id(self) -> str:
        raise LookupError("no id")


@pytest.mark.parametrize(
    ("evaluator", "reason"),
    [
        (WithoutId(), "(WithoutId): its `id` must be a string that is not empty, not None"),
        (Judge(passing, ""), "(Judge): its `id` must be a string that is not empty, not ''"),
        (Judge(passing, 5), "(Judge): its `id` must be a string that is not empty, not 5"),  # type: ignore[arg-type]
        (RaisingId(passing), "(RaisingId): no id"),
        (Judge, "(Judge): it is a class; pass an instance, Judge()"),
        (object(), "(object): it has no method `evaluate_test_case`"),
        (Judge(passing, max_concurrency="5"), "its max_concurrency must be a whole number of at least 1, not '5'"),  # type: ignore[arg-type]
        (Judge(passing, max_concurrency=0), "not 0"),
        (Judge(passing, max_concurrency=2.0), "not 2.0"),  # type: ignore[arg-type]
        (Judge(passing, max_concurrency=True), "not True"),
    ],
)
def test_an_invalid_evaluator(evaluator: Any, reason: str) -> None:
    result = run(evaluators=[evaluator, GOOD])
    (message,) = messages(result)
    assert message.startswith("suite 'demo': scorer 1 ")
    assert reason in message
    assert all(set(case.evaluations) == {"good"} for case in result.cases)


def test_evaluators_must_be_list() -> None:
    assert "suite 'demo': evaluators cannot be listed" in messages(run(evaluators=GOOD))[0]  # type: ignore[arg-type]


@pytest.mark.parametrize("limit", ["10", 2.5, True, "ten"], ids=repr)
def test_a_class_with_a_non_integer_limit_is_refused(limit: Any) -> None:
    with pytest.raises(TypeError, match=r"Odd\.max_concurrency must be an int"):
        type("Odd", (BaseTestEvaluator,), {"max_concurrency": limit})


@pytest.mark.parametrize("limit", [0, -1, 2.5, "10", True, None], ids=repr)
def test_a_limit_of_cases_is_a_number(limit: Any) -> None:
    result = run(evaluators=[GOOD], max_test_case_concurrency=limit)
    assert messages(result) == [
        f"suite 'demo': max_test_case_concurrency must be a whole number of at least 1, not {limit!r}"
    ]
    assert set(outcomes(result).values()) == {"passed"}


@pytest.mark.parametrize(
    ("option", "value"),
    [("retry_count", -1), ("retry_count", 1.5), ("timeout", 0), ("timeout", "1"), ("timeout", float("nan"))],
)
def test_other_options_are_numbers(option: str, value: Any) -> None:
    result = run(evaluators=[GOOD], **{option: value})
    assert messages(result)[0].startswith(f"suite 'demo': {option} must be ")
    assert set(outcomes(result).values()) == {"passed"}


@pytest.mark.parametrize("fn", [None, "fn", 5], ids=repr)
def test_fn_must_be_callable(fn: Any) -> None:
    assert messages(run(fn))[0] == f"suite 'demo': fn must be callable, not {fn!r}"


@pytest.mark.parametrize("suite", [None, "", 5], ids=repr)
def test_a_suite_without_an_id(suite: Any) -> None:
    result = run_test_suite(suite, [Case("a")], echo, [GOOD])
    assert messages(result) == [f"suite '(no id)': the id must be a string that is not empty, not {suite!r}"]
    assert outcomes(result) == {"a": "passed"}


def test_all_problems_are_listed() -> None:
    result = run(
        evaluators=[GOOD, GOOD, object()], test_cases=[Case("a"), Case("a")], retry_count=-1, grid_search_params={}
    )
    assert len(messages(result)) == 5
    assert outcomes(result) == {"a": "passed"}
