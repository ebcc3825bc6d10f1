"""Any exception of user code is data about one case, and Ctrl-C is not."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from typing import Any

import pytest
from tests.unit.testing.builders import AsyncJudge, Judge, by_hash, echo, outcomes, passing, run

from scoregate.errors import EndpointError
from scoregate.kernel.types.runs.cases import Status
from scoregate.testing.models import BaseTestEvaluator


class StrRaises(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no message")


class ReprRaises(Exception):
    def __repr__(self) -> str:
        raise RuntimeError("no repr")


class AdviceRaises(Exception):
    @property
    def advice(self) -> str:
        raise RuntimeError("no advice")


class MessageIsNone(Exception):
    message = None


class Outcome(BaseException):
    """Like pytest's own outcomes."""


ERRORS: dict[str, tuple[BaseException, str, str]] = {
    "an error": (ValueError("too cold"), "ValueError", "too cold"),
    "an error without words": (ValueError(), "ValueError", "ValueError"),
    "a KeyError": (KeyError("name"), "KeyError", "'name'"),
    "an assertion": (AssertionError("1 != 2"), "AssertionError", "1 != 2"),
    "lone surrogates": (ValueError("a\ud83d"), "ValueError", "a\\ud83d"),
    "control characters": (ValueError("a\x00\x1b[31m\r\n\u2028b"), "ValueError", "a\x00\x1b[31m\r\n\u2028b"),
    "a str that raises": (StrRaises(), "StrRaises", "(its message cannot be shown: RuntimeError)"),
    "a repr that raises": (ReprRaises("x"), "ReprRaises", "x"),
    "advice that raises": (AdviceRaises("x"), "AdviceRaises", "x"),
    "a message that is None": (MessageIsNone("x"), "MessageIsNone", "x"),
    "a group": (
        ExceptionGroup("both", [ValueError("a"), KeyError("b")]),
        "ExceptionGroup",
        "both (2 sub-exceptions): ValueError: a; KeyError: 'b'",
    ),
    "SystemExit": (SystemExit(3), "SystemExit", "3"),
    "an outcome of pytest's": (Outcome("skipped"), "Outcome", "skipped"),
    "a timeout": (TimeoutError("slow"), "TimeoutError", "slow"),
    "a very long text": (ValueError("x" * 1_000_000), "ValueError", "996,000 characters left out"),
}
EVERY = pytest.mark.parametrize(("error", "kind", "message"), ERRORS.values(), ids=ERRORS)


def raiser(error: BaseException, is_async: bool) -> Callable[..., Any]:
    """A function of a case, and perhaps an output, that raises for case `b`."""

    def raises(test_case: Any, *_: Any) -> Any:
        if test_case.input == "b":
            raise error
        return passing()

    async def raises_later(test_case: Any, *_: Any) -> Any:
        await asyncio.sleep(0)
        return raises(test_case)

    return raises_later if is_async else raises


@EVERY
@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_an_exception_of_fn_fails_its_case(error: BaseException, kind: str, message: str, is_async: bool) -> None:
    fn = raiser(error, is_async)
    result = run(fn, [Judge(passing)], max_test_case_concurrency=1)
    assert outcomes(result) == {"a": "passed", "b": "errored", "c": "passed"}
    (error_event,) = by_hash(result)["b"].errors
    assert (error_event.evaluator, error_event.error.type) == (None, kind)
    assert message in error_event.error.message
    assert len(error_event.error.message) < 5000
    assert len(error_event.error.traceback) < 20_000


@EVERY
@pytest.mark.parametrize("kind_of_judge", [Judge, AsyncJudge])
def test_an_exception_of_an_evaluator_fails_its_evaluation(
    error: BaseException, kind: str, message: str, kind_of_judge: type[Judge]
) -> None:
    judge = kind_of_judge(raiser(error, kind_of_judge is AsyncJudge), "odd", 1)
    result = run(echo, [judge, Judge(passing, "good")])
    assert outcomes(result) == {"a": "passed", "b": "errored", "c": "passed"}
    (error_event,) = by_hash(result)["b"].errors
    assert (error_event.evaluator, error_event.error.type) == ("odd", kind)
    assert message in error_event.error.message
    assert all("good" in case.evaluations for case in result.cases)


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("error", [asyncio.CancelledError(), StopIteration(5), StopAsyncIteration()], ids=repr)
def test_exceptions_of_event_loops_end_nothing(error: BaseException, is_async: bool) -> None:
    for options in (
        {"fn": raiser(error, is_async), "evaluators": [Judge(passing)]},
        {"evaluators": [Judge(raiser(error, is_async), "odd", 1), Judge(passing)]},
        {"before_evaluators_hook": raiser(error, is_async), "evaluators": [Judge(lambda *_, **__: passing())]},
    ):
        result = run(**options, max_test_case_concurrency=1)
        assert outcomes(result) == {"a": "passed", "b": "errored", "c": "passed"}


def test_code_that_cancels_its_own_task_ends_its_case_only() -> None:
    async def fn(test_case: Any) -> str:
        if test_case.input == "b":
            task = asyncio.current_task()
            assert task
            task.cancel()
            await asyncio.sleep(1)
        return "ok"

    result = run(fn, [Judge(passing)], max_test_case_concurrency=1)
    assert outcomes(result) == {"a": "passed", "b": "errored", "c": "passed"}
    assert by_hash(result)["b"].errors[0].error.message == "it was cancelled from within"


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("where", ["fn", "evaluator", "hook"])
def test_a_keyboard_interrupt_ends_the_run(where: str, is_async: bool) -> None:
    raises = raiser(KeyboardInterrupt(), is_async)
    options: dict[str, Any] = {
        "fn": {"fn": raises},
        "evaluator": {"evaluators": [Judge(raises)]},
        "hook": {"before_evaluators_hook": raises},
    }[where]
    with pytest.raises(KeyboardInterrupt):
        run(**options)
    gc.collect()  # the warning about an unawaited coroutine belongs here, not to a later test


def test_a_traceback_begins_in_the_users_code() -> None:
    def helper() -> None:
        raise ValueError("deep")

    class Odd(BaseTestEvaluator[Any, Any]):
        id = "odd"

        def evaluate_test_case(self, test_case: Any, output: Any) -> Any:  # noqa: ARG002
            helper()

    for result in (run(lambda _: helper()), run(evaluators=[Odd()])):
        text = by_hash(result)["a"].errors[0].error.traceback
        assert text.startswith("Traceback (most recent call last):\n")
        assert __file__ in text.splitlines()[1]
        assert "in helper" in text
        assert text.endswith("ValueError: deep\n")


def test_deep_recursion_has_a_short_error() -> None:
    def endless(depth: int) -> int:
        return endless(depth + 1) + 1

    (error_event,) = by_hash(run(lambda _: endless(0)))["a"].errors
    assert error_event.error.type == "RecursionError"
    assert len(error_event.error.traceback.splitlines()) < 70


@pytest.mark.parametrize("output", [{"turns": ["Hello"]}, ["Hello"]])
def test_output_before_an_error_is_kept(output: Any) -> None:
    def fn(_: Any) -> str:
        error = EndpointError("502 Bad Gateway")
        error.partial_output = output
        raise error

    case = by_hash(run(fn, [Judge(passing)]))["a"]
    assert case.output == output
    assert case.status is Status.ERRORED
    assert [found.error.message for found in case.errors] == ["502 Bad Gateway"]


def test_unserializable_output_before_an_error_hides_no_error() -> None:
    def fn(_: Any) -> str:
        error = EndpointError("502 Bad Gateway")
        error.partial_output = object()
        raise error

    case = by_hash(run(fn, [Judge(passing)]))["a"]
    assert (case.output, [found.error.message for found in case.errors]) == (None, ["502 Bad Gateway"])
