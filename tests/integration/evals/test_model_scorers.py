"""`judge` and `choice_judge`: what they ask a model, and what its answers are worth."""

from __future__ import annotations

from typing import Any

import pytest
from tests.fakes.openai import OpenAIServer
from tests.integration.judging.suites import prompts

from scoregate import evaluate
from scoregate.evals import Message, ToolCall, Trajectory
from scoregate.kernel.types.evaluation import Threshold
from scoregate.kernel.types.event_values import Choice
from scoregate.scorers import choice_judge, goal_reached, judge, plan_followed

POLITE = "Is the answer polite?"


def run(scorer: Any) -> Any:
    return evaluate(
        "demo", data=[{"input": "Open?", "expected": "At nine."}], task=lambda: "At nine, sir.", scorers=scorer
    )


def test_a_judge_asks_yes_or_no_and_passes_at_yes(server: OpenAIServer) -> None:
    for answer, passed in (("Yes", True), ("No", False)):
        server.answers(POLITE, {"reason": f"because {answer}", "answer": answer})
        result = run(judge(POLITE, name=f"polite {answer}"))
        case = result.cases[0]
        evaluation = case.evaluations[f"polite {answer}"]
        assert (evaluation.passed, evaluation.threshold) == (passed, Threshold(gte=1))
        assert case.reasons == {f"polite {answer}": f"because {answer}"}
        assert evaluation.usage is not None
    text = prompts(server)[0]
    assert "The answer is Yes or No." in text
    assert all(f"BEGIN {name}" in text for name in ("input", "expected output", "output"))


def test_judges_of_trajectories_see_the_steps_and_the_output(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = [ToolCall("find", {"q": "hours"}, "at 9"), Message("assistant", "At nine.")]
    server.answers("reached what the input asks for", {"reason": "found", "answer": "Yes"})
    server.answers("The plan: look, then ask", {"reason": "no question", "answer": "No"})
    scorers = [goal_reached(), plan_followed("look, then ask")]
    result = evaluate("demo", data=[{"input": "Open?"}], task=lambda _: Trajectory(steps), scorers=scorers)
    (case,) = result.cases
    assert case.scores == {"goal_reached": 1.0, "plan_followed": 0.0}
    for text in prompts(server):
        assert '1. tool: find({"q":"hours"})\n   result: at 9\n2. assistant: At nine.\nThe output: At nine.' in text
    monkeypatch.setattr("scoregate.offline_tests.tracer._observed_types", set())
    (error,) = evaluate("none", data=["x"], task=lambda _: "y", scorers=[goal_reached()]).cases[0].errors
    assert (error.evaluator, error.error.type) == ("goal_reached", "ValueError")


def test_judges_see_the_field_of_an_output_and_nothing_else(server: OpenAIServer) -> None:
    """Without a field, an output that is an object is an error, and no model is asked."""
    server.answers("", {"reason": "x", "answer": "Yes"})
    output = {"answer": "At nine.", "sources": ["SECRET SOURCE"]}
    for make in (judge, lambda question, **field: choice_judge(question, {"Yes": 1, "No": 0}, **field)):
        server.requests.clear()
        result = evaluate("demo", data=["Open?"], task=lambda _: output, scorers=make(POLITE, field="answer"))
        assert list(result.scores.values()) == [1.0]
        (text,) = prompts(server)
        assert "BEGIN output\nAt nine.\n" in text
        assert "SECRET SOURCE" not in text
        result = evaluate("demo", data=["Open?"], task=lambda _: output, scorers=make(POLITE))
        (error,) = result.cases[0].errors
        assert "judge needs a text, and the output is an object with 'answer', 'sources'" in error.error.message
        assert len(server.requests) == 1
    steps = Trajectory([ToolCall("find", {"q": "hours"}, "at 9")], output=output)
    evaluate("demo", data=["Open?"], task=lambda _: steps, scorers=[goal_reached(field="answer")])
    assert prompts(server)[-1].count("The output: At nine.\n") == 1


def test_a_choice_has_its_score(server: OpenAIServer) -> None:
    server.answers("How right", {"answer": "in part"})
    scorer = choice_judge("How right is it?", {"right": 1, "in part": 0.5, "wrong": 0}, threshold=0.75)
    result = run(scorer)
    evaluation = result.cases[0].evaluations["How right is it?"]
    assert (evaluation.score, evaluation.passed) == (0.5, False)
    (info,) = result.evaluators.values()
    assert info.choices == (Choice(1.0, "right"), Choice(0.5, "in part"), Choice(0.0, "wrong"))


def test_a_fingerprint_has_the_model_and_the_question(server: OpenAIServer) -> None:
    server.answers("", {"answer": "Yes"})
    first, second, other, model = (
        next(iter(run(scorer).evaluators.values())).fingerprint
        for scorer in (judge(POLITE), judge(POLITE), judge("Is it short?"), judge(POLITE, model="gpt-4o-mini"))
    )
    assert first == second
    assert (first.prompt == other.prompt, first.model == other.model) == (False, True)
    assert (first.prompt == model.prompt, model.model) == (True, "gpt-4o-mini")


def test_an_answer_that_is_no_choice_is_an_error_and_never_a_score(server: OpenAIServer) -> None:
    server.answers("", {"reason": "x", "answer": ["Maybe"]})
    result = run(judge(POLITE))
    assert not result.passed
    assert result.cases[0].scores == {}
    assert result.cases[0].errors[0].evaluator == POLITE


def test_wrong_arguments_are_refused() -> None:
    for make in (
        lambda: judge(" "),
        lambda: choice_judge("q", {"a": 1}),
        lambda: choice_judge("q", {"a": 2, "b": 0}),
    ):
        with pytest.raises(ValueError, match=r"needs a question|at least two answers"):
            make()
