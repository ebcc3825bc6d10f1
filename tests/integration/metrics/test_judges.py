"""Judges as metrics: what they ask, what their answers are worth alone and in a suite, and what is never a score."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Any

import pytest
from tests.fakes.openai import OpenAIServer
from tests.integration.judging.suites import only_case, prompts
from tests.integration.judging.test_injections import parts
from tests.integration.metrics.suites import MULTI, SINGLE, TALK, run

from scoregate.enums import TestType
from scoregate.kernel.types.evaluation import Threshold
from scoregate.metrics import (
    CategoricalJudge,
    ConversationHistory,
    GoalAchievementJudge,
    NumericJudge,
    Subject,
    behavior_judge,
    build_scorers,
)
from scoregate.models import get_model
from scoregate.testing.evaluators import BaseIsEquals

POLITE = NumericJudge("Is it polite?", name="polite", min_score=1, max_score=5)
TONE = CategoricalJudge(
    "Which tone?", name="tone", categories=["kind", "plain", "odd"], passing_categories=["kind", "plain"]
)
HISTORY = ConversationHistory.from_conversation(TALK)


def test_a_number_is_normalised_from_its_scale(server: OpenAIServer) -> None:
    server.answers("from 1 to 5", {"reason": "so it is", "answer": 4})
    evaluation = only_case(run([POLITE])).evaluations["polite"]
    assert (evaluation.score, evaluation.threshold, evaluation.passed) == (0.75, Threshold(gte=0.5), True)
    assert evaluation.metadata is not None
    expected = {"value": 4, "reason": "so it is", "scale": [1, 5], "passes_at": ">= 3", "prompt": prompts(server)[0]}
    assert evaluation.metadata == expected
    assert evaluation.usage is not None
    assert evaluation.usage.input_tokens > 10


OPERATORS = [(">=", 3, True), (">", 3, False), ("<", 3, False), ("<=", 3, True), ("=", 3, True), ("!=", 3, False)]


@pytest.mark.parametrize(("sign", "answer", "passed"), OPERATORS)
def test_every_operator_uses_the_judges_scale(server: OpenAIServer, sign: str, answer: float, passed: bool) -> None:
    server.answers("", {"answer": answer})
    judge = replace(POLITE, threshold_operator=sign)
    suite = run([judge])
    assert only_case(suite).evaluations["polite"].passed is passed
    assert suite.evaluators["polite"].higher_is_better is not sign.startswith("<")
    assert judge.evaluate("a", "b").details["is_successful"] is passed


@pytest.mark.parametrize(("answer", "score"), [("kind", 1), ("plain", 1), ("odd", 0)])
def test_categories_pass_or_fail(server: OpenAIServer, answer: str, score: float) -> None:
    server.answers("- kind\n- plain\n- odd", {"reason": "hm", "answer": answer})
    evaluation = only_case(run([TONE])).evaluations["tone"]
    assert (evaluation.score, evaluation.passed) == (score, bool(score))
    assert evaluation.metadata is not None
    assert (evaluation.metadata["value"], evaluation.metadata["reason"]) == (answer, "hm")


@pytest.mark.parametrize(("answer", "passed"), [("Yes", True), ("No", False)])
@pytest.mark.parametrize("subject", [SINGLE, MULTI], ids=["output", "conversation"])
def test_the_default_checks_the_behavior(server: OpenAIServer, subject: Any, answer: str, passed: bool) -> None:
    server.answers("show the behavior", {"reason": "it tells", "answer": answer, "relevant_turns": [1]})
    evaluation = only_case(run([behavior_judge()], {"a": subject})).evaluations["behavior"]
    assert (evaluation.score, evaluation.passed) == (float(passed), passed)
    blocks, _ = parts(prompts(server)[0])
    assert blocks["behavior"] == "Tells the hours"


def test_an_output_is_shown_with_its_test(server: OpenAIServer) -> None:
    beside = {"context": ["Open 9 to 17."], "tool_calls": [{"name": "hours"}], "metadata": {"topic": "hours"}}
    run([POLITE], {"a": replace(SINGLE, **beside)})
    run([POLITE], {"a": replace(SINGLE, input="", output="", expected_output=None)})
    full, bare = (parts(prompt)[0] for prompt in prompts(server))
    assert full == {
        "input": "When do you open?",
        "expected output": "At nine o'clock.",
        "context": '["Open 9 to 17."]',
        "tool calls": '[{"name":"hours"}]',
        "metadata": '{"topic":"hours"}',
        "output": "At nine.",
    }
    assert bare == {"output": ""}


def test_a_conversation_is_shown_by_turns_with_relevant_ones(server: OpenAIServer) -> None:
    server.answers("", {"answer": 2, "relevant_turns": [2, 1, 2]})
    evaluation = only_case(run([POLITE], {"a": MULTI})).evaluations["polite"]
    blocks, rest = parts(prompts(server)[0])
    assert "Turn 2, assistant:\n  On Sundays too." in blocks["conversation"]
    assert (blocks["goal"], blocks["restrictions of the assistant"]) == ("Learn the hours", "No small talk")
    assert "the assistant's part of the conversation" in rest
    assert evaluation.metadata is not None
    assert evaluation.metadata["relevant_turns"] == [1, 2]
    assert list(server.asked()[0]["response_format"]["json_schema"]["schema"]["properties"]) == [
        "reason",
        "relevant_turns",
        "answer",
    ]


@pytest.mark.parametrize("turns", [[0], [3], [1, 99], ["one"], None])
def test_unknown_turns_are_no_answer(server: OpenAIServer, turns: Any) -> None:
    server.answers("", {"reason": "x", "answer": 2, "relevant_turns": turns})
    case = only_case(run([POLITE], {"a": MULTI}))
    assert (case.evaluations, case.errors[0].error.type) == ({}, "MalformedAnswer")


def test_the_prompt_of_the_author_is_sent_and_in_the_fingerprint(server: OpenAIServer) -> None:
    words = {"evaluation_steps": "Look for thanks.", "reasoning": "Be mild.", "evaluation_examples": "'Hey' is a 2."}
    more = replace(POLITE, **words)
    before, after = (run([judge]).evaluators["polite"].fingerprint for judge in (POLITE, more))
    assert all(text in prompts(server)[1] for text in ("Is it polite?", *words.values()))
    assert before is not None
    assert after is not None
    assert before.prompt != after.prompt
    assert replace(before, prompt=None) == replace(after, prompt=None)
    assert before.model == "gpt-4o"


@pytest.mark.parametrize(
    "change", [{"threshold": 4}, {"threshold_operator": ">"}, {"max_score": 10}, {"requires_ground_truth": True}]
)
def test_thresholds_are_in_the_fingerprint(change: dict[str, Any], root: Any) -> None:  # noqa: ARG001
    from scoregate.metrics.scorers import metric_fingerprint

    assert metric_fingerprint(POLITE).parameters != metric_fingerprint(replace(POLITE, **change)).parameters
    judge = replace(POLITE, name="kind", description="of tone", id="polite-2", metric_type="style")
    assert metric_fingerprint(judge) == metric_fingerprint(POLITE)


def test_the_model_is_configurable(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    own = get_model("openai/gpt-4.1-mini")
    monkeypatch.setenv("SCOREGATE_MODEL", "gpt-6-luna")
    for model in (None, "openai/gpt-4.1", own):
        replace(POLITE, model=model).evaluate("a", "b")
    assert [body["model"] for body in server.asked()] == ["gpt-6-luna", "gpt-4.1", "gpt-4.1-mini"]
    assert {body["temperature"] for body in server.asked()} == {0}
    assert run([replace(POLITE, model=own)]).evaluators["polite"].fingerprint.model == "gpt-4.1-mini"  # type: ignore[union-attr]


def test_a_direct_call_explains_its_result(server: OpenAIServer) -> None:
    server.answers("", {"reason": "so it is", "answer": 4})
    result = POLITE.evaluate("a", "b")
    assert result.score == 4
    expected = {
        "score": 4,
        "score_type": "numeric",
        "name": "polite",
        "reason": "so it is",
        "is_successful": True,
        "prompt": prompts(server)[0],
        "threshold_operator": ">=",
        "min_score": 1,
        "max_score": 5,
        "threshold": 3,
    }
    assert result.details.items() >= expected.items()
    server.answers("", {"answer": "odd"})
    details = TONE.evaluate("a", "b", "c").details
    assert (details["score"], details["is_successful"], details["score_type"]) == ("odd", False, "categorical")
    assert details["categories"] == ["kind", "plain", "odd"]
    assert details["passing_categories"] == ["kind", "plain"]


@pytest.mark.anyio
async def test_direct_calls_in_loops_and_conversations(server: OpenAIServer) -> None:
    server.answers("", {"answer": 5, "relevant_turns": [2]})
    assert (await POLITE.a_evaluate(conversation_history=HISTORY)).details["relevant_turns"] == [2]
    assert POLITE.evaluate(conversation_history=HISTORY).score == 5, "sync within a running loop"
    server.answers("", {"answer": "Yes", "relevant_turns": []})
    evaluation = await behavior_judge().a_evaluate(conversation_history=HISTORY, behavior="Tells the hours")
    assert (evaluation.score, evaluation.details["score_type"]) == ("Yes", "binary")


@pytest.mark.parametrize("answer", [{"answer": 7}, {"answer": "many"}, "four", {"answer": "NaN"}, {"answer": None}])
def test_an_answer_off_the_scale_has_no_score(server: OpenAIServer, answer: Any) -> None:
    server.answers("polite|Answer again", answer)
    case = only_case(run([POLITE]))
    assert (case.evaluations, case.errors[0].error.type) == ({}, "MalformedAnswer")
    result = POLITE.evaluate("a", "b")
    assert result.score is None
    assert result.details["is_successful"] is False
    assert result.details["exception_type"] == "MalformedAnswer"
    assert result.details["exception_details"] in result.details["error"]
    assert result.details["prompt"] == prompts(server)[-2], "the question before the request to repair the answer"
    names = ("score", "score_type", "name", "prompt", "reason", "is_successful", "min_score", "max_score", "threshold")
    assert result.details.keys() >= set(names)


def test_an_unknown_category_is_an_error(server: OpenAIServer) -> None:
    server.answers("", {"answer": "Kind"})
    assert only_case(run([TONE])).errors[0].error.type == "MalformedAnswer"


def test_a_missing_context_is_an_error_of_the_metric(server: OpenAIServer) -> None:
    grounded = replace(TONE, requires_context=True)
    without, with_ = (only_case(run([grounded], {"a": replace(SINGLE, context=each)})) for each in ((), ("We open.",)))
    assert "'tone' needs a context" in without.errors[0].error.message
    assert set(with_.evaluations) == {"tone"}
    assert len(server.requests) == 1


def test_a_missing_field_is_an_error_of_the_metric(server: OpenAIServer) -> None:
    server.answers("", {"answer": 5})
    metrics = [POLITE, TONE, behavior_judge(), replace(TONE, name="grounded", requires_context=True)]
    case = only_case(run(metrics, {"a": replace(SINGLE, expected_output=None, behavior="", context=())}))
    assert set(case.evaluations) == {"polite"}
    errors = {error.evaluator: error.error for error in case.errors}
    assert "needs an expected_output" in errors["tone"].message
    assert "requires_ground_truth=False" in errors["tone"].advice
    assert "this test names none" in errors["behavior"].message
    assert "needs an expected_output" in errors["grounded"].message
    assert len(server.requests) == 1


def test_a_conversation_needs_no_expected_output(server: OpenAIServer) -> None:
    server.answers("", {"answer": "kind", "relevant_turns": [1]})
    assert only_case(run([TONE], {"a": MULTI})).evaluations["tone"].passed


def test_other_scopes_are_skipped(server: OpenAIServer) -> None:
    server.answers("", {"answer": 5, "relevant_turns": [1]})
    single = replace(POLITE, name="single", metric_scope=[TestType.SINGLE_TURN])
    multi = replace(POLITE, name="multi", metric_scope="Multi-Turn")
    cases = {case.hash: case for case in run([single, multi], {"one": SINGLE, "many": MULTI}).cases}
    assert [(*cases[name].evaluations, *cases[name].unscored) for name in ("one", "many")] == [
        ("single", "multi"),
        ("multi", "single"),
    ]


def test_evaluators_are_metrics_with_case_and_output(server: OpenAIServer) -> None:  # noqa: ARG001
    class Equal(BaseIsEquals[Subject, str]):
        id = "equal"
        max_concurrency = 3

        def test_case_mapper(self, test_case: Subject) -> str:
            return test_case.expected_output or ""

        def output_mapper(self, output: str) -> str:
            return output

    subjects = {"a": SINGLE, "b": replace(SINGLE, expected_output="At nine.")}
    scores = {case.hash: case.evaluations["equal"].score for case in run([POLITE, Equal()], subjects).cases}
    assert scores == {"a": 0, "b": 1}
    limits = [
        scorer.max_concurrency for scorer in build_scorers([POLITE, Equal()], lambda *_: SINGLE, max_concurrency=7)
    ]
    assert limits == [7, 3]


def test_concurrent_requests_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    with OpenAIServer.start(latency=0.05) as slow:
        for name, value in slow.environment.items():
            monkeypatch.setenv(name, value)
        started = perf_counter()
        run([behavior_judge()], {str(number): replace(SINGLE, input=str(number)) for number in range(12)}, limit=3)
        assert len(slow.requests) == 12
        assert perf_counter() - started >= 4 * 0.05


def test_repeated_calls_are_cached(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCOREGATE_CACHE", "on")
    judges = [POLITE, behavior_judge(), GoalAchievementJudge(name="goal")]
    first, second = (only_case(run(judges, {"a": MULTI})).evaluations for _ in range(2))
    assert len(server.requests) == len(judges)
    assert {name: each.score for name, each in first.items()} == {name: each.score for name, each in second.items()}
    assert all(each.usage is not None and each.usage.cached for each in second.values())
