"""Suites with models: their reported costs, and answers that are paid for once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from openai import AsyncOpenAI, OpenAI
from tests.fakes.openai import OpenAIServer
from tests.integration.models.asking import Grade, user

from scoregate.models import get_model, wrap
from scoregate.testing import BaseTestEvaluator, Evaluation, run_test_suite


class Judge(BaseTestEvaluator[Any, str]):
    """Asks a model, in the loop."""

    id = "judge"

    async def evaluate_test_case(self, test_case: Any, output: str) -> Evaluation:
        response = await get_model("gpt-4o").a_generate(f"judge {test_case['q']}: {output}", schema=Grade)
        return Evaluation(float(response.parsed.choice == "A"), usage=response.usage)


class InThreads(Judge):
    """Asks a model, in a worker thread."""

    id = "in-threads"

    def evaluate_test_case(self, test_case: Any, output: str) -> Evaluation:  # type: ignore[override]
        response = get_model("gpt-4o").generate(f"judge {test_case['q']} again: {output}", schema=Grade)
        return Evaluation(float(response.parsed.choice == "A"))


def make_fn() -> Callable[[Any], Any]:
    client = wrap(AsyncOpenAI())

    async def fn(case: Any) -> str:
        answer = await client.chat.completions.create(model="gpt-4o", messages=user(case["q"]))
        return answer.choices[0].message.content or ""

    return fn


def run(fn: Callable[[Any], Any], *evaluators: Any, repeats: int = 1, monkeypatch: Any = None) -> Any:
    if monkeypatch is not None:
        monkeypatch.setenv("SCOREGATE_REPEATS", str(repeats))
    return run_test_suite("demo", [{"q": "a"}, {"q": "b"}], fn, list(evaluators), test_case_hash=["q"])


def sorted_cases(result: Any) -> list[Any]:
    """Its cases, of which any may have finished first."""
    return sorted(result.cases, key=lambda case: case.hash)


def test_every_case_and_evaluation_has_its_usage(server: OpenAIServer) -> None:
    result = run(make_fn(), Judge(), InThreads())
    assert len(server.requests) == 6
    for case in result.cases:
        assert case.usage.input_tokens > 0
        assert case.usage.cost > 0
        assert not case.usage.cached
        usages = [case.evaluations[name].usage for name in ("judge", "in-threads")]
        assert all(usage.input_tokens < 30 and usage.cost > 0 for usage in usages), "counted once"


def test_a_second_run_uses_the_cache(server: OpenAIServer) -> None:
    first = run(make_fn(), Judge())
    second = run(make_fn(), Judge())
    assert len(server.requests) == 4
    for old, new in zip(sorted_cases(first), sorted_cases(second), strict=True):
        assert new.output == old.output
        assert (new.usage.cached, new.usage.cost, new.usage.answer) == (True, 0.0, old.usage.answer)
        judged, before = new.evaluations["judge"].usage, old.evaluations["judge"].usage
        assert (judged.cached, judged.answer) == (True, before.answer)
    assert second.columns.cached == {0, 1}
    assert set(second.columns.answers["judge"]) == {0, 1}


def test_every_repeat_has_own_answers(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(2):
        result = run(make_fn(), repeats=3, monkeypatch=monkeypatch)
        assert len(server.requests) == 6
    assert len({case.usage.answer for case in result.cases}) == 6


def test_refreshed_answers_replace_stored_ones(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    run(make_fn())
    server.answers(".", "changed")
    monkeypatch.setenv("SCOREGATE_CACHE", "refresh")
    assert {case.output for case in run(make_fn()).cases} == {"changed"}
    monkeypatch.setenv("SCOREGATE_CACHE", "on")
    assert {case.output for case in run(make_fn()).cases} == {"changed"}
    assert len(server.requests) == 4


def test_stored_answers_need_no_key(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    model = get_model("gpt-4o")
    run(lambda case: model.generate(case["q"]).text, Judge())
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.setenv("SCOREGATE_CACHE", "readonly")
    replayed = run(lambda case: get_model("gpt-4o").generate(case["q"]).text, Judge())
    assert [case.errors for case in replayed.cases] == [[], []]
    assert len(server.requests) == 4
    missed = run(lambda case: get_model("gpt-4o").generate(f"another {case['q']}").text)
    assert {case.errors[0].error.type for case in missed.cases} == {"MissingKey"}
    assert len(server.requests) == 4


def test_an_error_has_its_cost(server: OpenAIServer) -> None:
    server.answers("judge", "no object")
    result = run(lambda case: case["q"], Judge())
    for case in result.cases:
        (error,) = case.errors
        assert (error.evaluator, error.error.type) == ("judge", "MalformedAnswer")
        assert error.error.advice
        assert error.usage is not None
        assert error.usage.input_tokens > 0
    assert sum(result.columns.tokens) > 0
    assert result.mean("judge") is None


def test_an_exhausted_budget_stops_calls_and_is_reported(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCOREGATE_MAX_TOKENS", "30")
    monkeypatch.setenv("SCOREGATE_CACHE", "off")
    client = wrap(OpenAI())

    def fn(case: Any) -> str:
        try:
            return str(
                client.chat.completions.create(model="gpt-4o", messages=user(case["q"])).choices[0].message.content
            )
        except Exception:
            return "hidden"

    cases = [{"q": str(number)} for number in range(20)]
    result = run_test_suite("demo", cases, fn, [], 1, test_case_hash=["q"])
    assert 1 <= len(server.requests) < 10
    assert sum(case.usage.input_tokens + case.usage.output_tokens for case in result.cases if case.usage) <= 30
    (error,) = result.errors
    assert error.type == "BudgetSpent"
    assert not result.passed


def test_a_client_for_all_suites_of_a_file(server: OpenAIServer) -> None:
    fn = make_fn()
    for number in range(3):
        cases = [{"q": f"{number} {index}"} for index in range(5)]
        result = run_test_suite("demo", cases, fn, [Judge()], test_case_hash=["q"])
        assert [case.errors for case in result.cases] == [[]] * 5
    assert len(server.requests) == 30


def test_threads_without_a_case_count_for_the_suite(server: OpenAIServer) -> None:
    client = wrap(OpenAI())

    def ask(text: str) -> str:
        return client.chat.completions.create(model="gpt-4o", messages=user(text)).choices[0].message.content or ""

    def fn(case: Any) -> str:
        with ThreadPoolExecutor() as executor:
            there = executor.submit(ask, f"{case['q']} in a thread")
            return f"{ask(case['q'])} {there.result()}"

    result = run(fn)
    assert len(server.requests) == 4
    cases = [case.usage for case in result.cases]
    assert result.usage.input_tokens > 0
    assert result.tokens == sum(usage.input_tokens + usage.output_tokens for usage in (*cases, result.usage))
    assert result.cost == pytest.approx(sum(usage.cost for usage in (*cases, result.usage)))
    second = run(fn)
    assert len(server.requests) == 4
    assert (second.usage.cached, second.cost) == (True, 0.0)


def test_usage_in_evaluation_threads_counts_once(server: OpenAIServer) -> None:
    class Threaded(Judge):
        def evaluate_test_case(self, test_case: Any, output: str) -> Evaluation:  # type: ignore[override]  # noqa: ARG002
            with ThreadPoolExecutor() as executor:
                response = executor.submit(get_model("gpt-4o").generate, f"judge {output}", schema=Grade).result()
            return Evaluation(1.0, usage=response.usage)

    result = run(lambda case: case["q"], Threaded())
    assert len(server.requests) == 2
    assert all(case.evaluations["judge"].usage.cost > 0 for case in result.cases)
    assert result.usage is None


def test_a_thread_over_budget_is_an_error(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCOREGATE_MAX_TOKENS", "1")

    def fn(case: Any) -> str:
        with ThreadPoolExecutor(4) as executor:  # calls that started before the first answer are made
            futures = [executor.submit(get_model("gpt-4o").generate, f"{case['q']} {number}") for number in range(20)]
        return str(sum(each.exception() is None for each in futures))

    result = run(fn)
    assert len(server.requests) < 40
    assert [error.type for error in result.errors] == ["BudgetSpent"]
