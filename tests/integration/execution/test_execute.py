"""Test sets against a service: what is asked, by what it is measured, what comes back, what is kept."""

from __future__ import annotations

from math import inf
from types import SimpleNamespace
from typing import Any

import pytest
from tests.fakes.chat_service import ChatService
from tests.fakes.openai import OpenAIServer
from tests.integration.execution.questions import ask, heard, never, push_test_set, results

from scoregate.entities import Behavior, Endpoint, Prompt, Test, TestRun, TestSet, TestSets
from scoregate.errors import EndpointError, EntityError, MetricError
from scoregate.kernel.types.evaluation import Evaluation, Threshold
from scoregate.metrics import ConversationalJudge, NumericJudge
from scoregate.testing.models import BaseTestEvaluator


def test_every_test_runs_once_and_the_summary_has_counts(endpoint: Endpoint, chat_service: ChatService) -> None:
    test_set = push_test_set(ask("a"), ask("b"))
    summary = test_set.execute(endpoint, metrics=[heard])
    assert sorted(body["input"] for body in chat_service.asked()) == ["a", "b"]
    assert summary.pop("test_run_id").startswith("safety-evaluation-")
    assert summary == {
        "status": "completed",
        "message": "2 tests run, 100% passed",
        "test_set_id": "safety-evaluation",
        "test_set_name": "Safety Evaluation",
        "endpoint_id": "production-chatbot",
        "endpoint_name": "Production Chatbot",
        "test_configuration_id": None,
        "task_id": None,
        "test_count": 2,
        "pass_rate": 1.0,
    }


def test_the_results_have_each_metric(endpoint: Endpoint) -> None:
    test_set = push_test_set(ask("a"))
    summary = test_set.execute(endpoint, metrics=[heard, never], run_name="Nightly")
    run = TestRun(id=summary["test_run_id"]).pull()
    assert (run.id, run.name, run.status, run.test_count, run.pass_rate) == ("nightly", "Nightly", "Completed", 1, 0.0)
    assert run.created_at is not None
    assert run.completed_at is not None
    assert run.completed_at >= run.created_at
    (result,) = run.get_test_results()
    assert (result.status, result.test_output, result.test_id) == ("Fail", "You said: a", test_set.tests[0].id)
    assert result.test_metrics is not None
    metrics = result.test_metrics["metrics"]
    assert {name: (each["score"], each["is_successful"]) for name, each in metrics.items()} == {
        "heard": (1.0, True),
        "never": (0.0, False),
    }
    assert metrics["heard"]["reason"] == "You said: a"
    assert metrics["heard"]["class_name"] == "FunctionMetric"


def test_a_failed_endpoint_is_an_error_without_scores(endpoint: Endpoint, chat_service: ChatService) -> None:
    chat_service.fail("POST", "/chat", status=500, body={"output": "I would be judged"}, times=1)
    summary = push_test_set(ask("a"), ask("b")).execute(endpoint, metrics=[heard], mode="sequential")
    assert (summary["status"], summary["pass_rate"]) == ("partial", 1.0)
    assert summary["message"].endswith(" tests run, 100% of those judged passed")
    result = results(summary)
    assert (result["a"].status, result["a"].test_output, result["a"].test_metrics) == ("Error", None, None)
    assert "answered 500" in result["a"].metadata["error"]
    assert result["b"].status == "Pass"


def test_a_run_without_scores_fails(endpoint: Endpoint, chat_service: ChatService) -> None:
    chat_service.fail("POST", "/chat", times=inf)
    summary = push_test_set(ask("a"), ask("b")).execute(endpoint, metrics=[heard])
    assert (summary["status"], summary["test_count"], summary["pass_rate"]) == ("failed", 2, None)


def test_an_empty_set_fails(endpoint: Endpoint) -> None:
    summary = push_test_set().execute(endpoint, metrics=[heard])
    assert (summary["status"], summary["test_count"]) == ("failed", 0)


def test_run_metrics_precede_set_metrics_and_behavior_metrics(endpoint: Endpoint, server: OpenAIServer) -> None:
    for name in ("of the behavior", "of the set", "of the run"):
        NumericJudge(f"Judge {name}.", name=name).push()
    Behavior(name="answers", metrics=["of the behavior"]).push()
    server.answers("from 0 to 1", {"reason": "", "answer": 1})
    test_set = push_test_set(ask("a"))
    assert _measured(test_set.execute(endpoint)) == {"of the behavior"}
    test_set.add_metric("of the set")
    assert _measured(test_set.execute(endpoint)) == {"of the set"}
    assert _measured(test_set.execute(endpoint, metrics=["of the run"])) == {"of the run"}
    stored = {"id": "of-the-run", "name": "of the run"}
    references: list[Any] = [
        stored,
        {"id": "of-the-run"},
        {"id": "an id of the platform", "name": "Of the run"},
        {"name": "of the run", "id": None},
        SimpleNamespace(**stored),
    ]
    for reference in references:
        test_set.add_metric({"name": "of the set"})
        assert _measured(test_set.execute(endpoint, metrics=[reference])) == {"of the run"}
    with pytest.raises(MetricError, match="there is no metric 'other'"):
        test_set.execute(endpoint, metrics=[{"id": "another", "name": "other"}])
    with pytest.raises(MetricError, match="either a kind or the code"):
        test_set.execute(endpoint, metrics=[{"name": "of the run", "prompt": "Judge."}])


def test_a_behavior_without_metrics_uses_the_default(endpoint: Endpoint, server: OpenAIServer) -> None:
    Behavior(name="Greets", metrics=["polite"]).push()
    NumericJudge("Is it polite?", name="polite").push()
    server.answers("Is it polite", {"reason": "", "answer": 1})
    server.answers("show the behavior", {"reason": "it does not", "answer": "No"})
    result = results(push_test_set(ask("a"), ask("b", behavior="Greets")).execute(endpoint))
    assert {name: set(each.test_metrics["metrics"]) for name, each in result.items()} == {
        "a": {"behavior"},
        "b": {"polite"},
    }
    assert (result["a"].status, result["b"].status) == ("Fail", "Pass")
    assert result["a"].test_metrics["metrics"]["behavior"]["reason"] == "it does not"


def test_behaviors_may_name_the_default_metric_and_one_metric_in_any_case(
    endpoint: Endpoint, server: OpenAIServer
) -> None:
    NumericJudge("Is it polite?", name="Polite").push()
    for name, metrics in {"Greets": ["behavior", "polite"], "Thanks": ["POLITE"]}.items():
        Behavior(name=name, metrics=metrics).push()
    server.answers("Is it polite", {"reason": "", "answer": 1})
    tests = (ask("a"), ask("b", behavior="Greets"), ask("c", behavior="thanks"))
    result = results(push_test_set(*tests).execute(endpoint))
    assert {name: set(each.test_metrics["metrics"]) for name, each in result.items()} == {
        "a": {"behavior"},
        "b": {"behavior", "Polite"},
        "c": {"Polite"},
    }


def test_judges_without_a_model_use_that_of_the_run(endpoint: Endpoint, server: OpenAIServer) -> None:
    own = NumericJudge("Is it polite?", name="polite", model="openai/own")
    server.answers("", {"reason": "", "answer": 1})
    judge = NumericJudge("Is it short?", name="short")
    push_test_set(ask("a")).execute(endpoint, metrics=[own, judge], evaluation_model="openai/given")
    assert sorted(body["model"] for body in server.asked()) == ["given", "own"]


def test_a_test_without_a_metric_is_an_error_and_is_skipped(endpoint: Endpoint, chat_service: ChatService) -> None:
    only_talks = ConversationalJudge("Is it kind?", name="kind")
    (result,) = results(push_test_set(ask("a")).execute(endpoint, metrics=[only_talks])).values()
    assert result.status == "Error"
    assert "no metric is for this test" in result.metadata["error"]
    assert chat_service.asked() == []


def test_a_metric_error_differs_from_a_failure(endpoint: Endpoint, server: OpenAIServer) -> None:
    server.fail("POST", "*/chat/completions", status=400, body={"error": {"message": "no"}}, times=inf)
    judge = NumericJudge("Is it polite?", name="polite")
    (broken,) = results(push_test_set(ask("a")).execute(endpoint, metrics=[judge, heard])).values()
    assert (broken.status, broken.test_output) == ("Error", "You said: a")
    assert broken.test_metrics["metrics"]["polite"]["error_type"] == "RefusedRequest"
    (failed,) = results(TestSets.pull(name="Safety Evaluation").execute(endpoint, metrics=[judge, never])).values()
    assert failed.status == "Fail"


class Long(BaseTestEvaluator):
    """As suites of `scoregate.testing` have it: gets the test and the output."""

    id = "long"

    async def evaluate_test_case(self, test_case: Test, output: str) -> Evaluation:
        assert test_case.prompt is not None
        assert isinstance(output, str)
        return Evaluation(min(1, len(output) / 100), Threshold(gte=0.05), {"reason": test_case.prompt.content})


def test_evaluators_get_the_output(endpoint: Endpoint) -> None:
    (result,) = results(push_test_set(ask("a")).execute(endpoint, metrics=[Long()])).values()
    metric = result.test_metrics["metrics"]["long"]
    assert (result.status, metric["score"], metric["threshold"], metric["reason"]) == ("Pass", 0.11, 0.05, "a")


def test_concurrency_is_of_the_endpoint_unless_the_run_sets_it(endpoint: Endpoint, chat_service: ChatService) -> None:
    chat_service.latency = 0.02
    test_set = push_test_set(*(ask(str(number)) for number in range(30)))
    test_set.execute(endpoint, metrics=[heard])
    assert chat_service.most_at_once == 10
    chat_service.most_at_once = 0
    test_set.execute(endpoint, metrics=[heard], max_concurrency=3)
    assert chat_service.most_at_once == 3
    chat_service.most_at_once = 0
    test_set.execute(endpoint, metrics=[heard], mode="Sequential")
    assert chat_service.most_at_once == 1


def test_one_test_can_be_executed(endpoint: Endpoint) -> None:
    test = ask("a", id="test-123", prompt=Prompt(content="a", id="p-1", expected_response="You said: a"))
    summary = test.execute(endpoint, metrics=[heard])
    assert summary.pop("execution_time") > 0
    assert summary.pop("test_metrics")["metrics"]["heard"]["is_successful"] is True
    assert summary == {
        "test_id": "test-123",
        "prompt_id": "p-1",
        "test_output": "You said: a",
        "status": "Pass",
        "error": None,
        "test_configuration": None,
    }


def test_an_endpoint_failure_is_shown(endpoint: Endpoint, chat_service: ChatService) -> None:
    chat_service.drop("POST", "/chat")
    summary = ask("a", id="test-123").execute(endpoint, metrics=[heard])
    assert (summary["status"], summary["test_output"], summary["test_metrics"]) == ("Error", None, None)
    assert summary["error"].startswith("EndpointError: ")


def test_invalid_runs_are_refused_before_any_request(endpoint: Endpoint, chat_service: ChatService) -> None:
    test_set = push_test_set(ask("a"))
    with pytest.raises(ValueError, match="Test set ID must be set before executing"):
        TestSet(name="new", tests=[ask("a")]).execute(endpoint)
    with pytest.raises(ValueError, match="Endpoint ID must be set before executing"):
        test_set.execute(Endpoint(name="new", connection_type="REST", url="http://127.0.0.1:9"))
    with pytest.raises(ValueError, match="Test ID must be set before executing"):
        ask("a").execute(endpoint)
    with pytest.raises(ValueError, match="'Diagonal' is not an execution mode"):
        test_set.execute(endpoint, metrics=[heard], mode="Diagonal")
    with pytest.raises(EntityError, match="max_concurrency must be a whole number"):
        test_set.execute(endpoint, metrics=[heard], max_concurrency=0)
    with pytest.raises(MetricError, match="there is no metric 'polite'"):
        test_set.execute(endpoint, metrics=["polite"])
    endpoint.request_headers = {"x-key": "${NOT_SET_ANYWHERE}"}
    with pytest.raises(EndpointError, match="NOT_SET_ANYWHERE"):
        test_set.execute(endpoint, metrics=[heard])
    assert chat_service.asked() == []


def _measured(run: dict[str, Any]) -> set[str]:
    (result,) = results(run).values()
    return set(result.test_metrics["metrics"])
