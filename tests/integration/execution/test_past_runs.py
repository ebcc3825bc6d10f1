"""What was kept of runs: the last of them, its answers judged once more, and whether a set can be run at all."""

from __future__ import annotations

from math import inf

import pytest
from tests.fakes.chat_service import ChatService
from tests.fakes.openai import OpenAIServer
from tests.integration.conversations.scripted import set_user_messages
from tests.integration.execution.questions import ask, heard, never, push_test_set, results, talk

from scoregate.entities import Endpoint, TestRun, TestSet
from scoregate.metrics import ConversationalJudge, metric


@metric("grounded", "binary")
def grounded(input: str, output: str, context: list[str]) -> dict[str, bool]:  # noqa: A002, ARG001
    return {"score": list(context) == ["the handbook, page 3"]}


def test_answers_are_rescored_without_requests(endpoint: Endpoint, chat_service: ChatService) -> None:
    test_set = push_test_set(ask("a"), ask("b"))
    first = test_set.execute(endpoint, metrics=[heard])
    request_count = len(chat_service.asked())
    second = test_set.rescore(endpoint, metrics=[heard, grounded, never])
    assert len(chat_service.asked()) == request_count
    assert (first["pass_rate"], second["pass_rate"], second["test_count"]) == (1.0, 0.0, 2)
    metrics = results(second)["a"].test_metrics["metrics"]
    assert {name: each["is_successful"] for name, each in metrics.items()} == {
        "heard": True,
        "grounded": True,
        "never": False,
    }
    assert TestRun(id=second["test_run_id"]).pull().metadata == {"rescored": first["test_run_id"]}


def test_a_test_without_an_answer_has_none_after_rescoring(endpoint: Endpoint, chat_service: ChatService) -> None:
    chat_service.fail("POST", "/chat", times=1)
    test_set = push_test_set(ask("a"), ask("b"))
    test_set.execute(endpoint, metrics=[heard], mode="sequential")
    result = results(test_set.rescore(endpoint, metrics=[heard]))
    assert (result["a"].status, result["b"].status) == ("Error", "Pass")
    assert "has no answer to this test: EndpointError" in result["a"].metadata["error"]


def test_a_conversation_is_rescored_as_a_conversation(endpoint: Endpoint, server: OpenAIServer) -> None:
    set_user_messages(server, lambda turn: {"message": f"word {turn}", "done": turn > 1})
    server.answers("from 0 to 1", {"reason": "", "answer": 1, "relevant_turns": [1]})
    test_set = push_test_set(talk(max_turns=1))
    test_set.execute(endpoint, metrics=[ConversationalJudge("Is it kind?", name="kind")])
    second = results(test_set.rescore(endpoint, metrics=[ConversationalJudge("Is it short?", name="short")]))
    (result,) = second.values()
    assert (result.status, set(result.test_metrics["metrics"])) == ("Pass", {"short"})


def test_a_run_to_rescore_is_named_by_object_id_or_name(endpoint: Endpoint) -> None:
    test_set = push_test_set(ask("a"))
    summary = test_set.execute(endpoint, metrics=[heard], run_name="Nightly")
    test_set.execute(endpoint, metrics=[heard])
    run = TestRun(id=summary["test_run_id"]).pull()
    for value in (run, run.id, "nightly"):
        second = test_set.rescore(endpoint, value, metrics=[heard])
        assert TestRun(id=second["test_run_id"]).pull().metadata == {"rescored": run.id}
    with pytest.raises(ValueError, match="there is no test run 'weekly'"):
        test_set.rescore(endpoint, "weekly")


def test_the_last_run_has_the_same_set_and_endpoint(endpoint: Endpoint, chat_service: ChatService) -> None:
    test_set = push_test_set(ask("a"))
    other = TestSet(name="Other", tests=[ask("b")])
    other.push()
    assert test_set.last_run(endpoint) is None
    with pytest.raises(ValueError, match="No completed test run found for this test set and endpoint"):
        test_set.rescore(endpoint)
    test_set.execute(endpoint, metrics=[heard])
    second = test_set.execute(endpoint, metrics=[never])
    other.execute(endpoint, metrics=[heard])
    result = test_set.last_run(endpoint)
    assert result is not None
    assert (result["id"], result["nano_id"]) == (second["test_run_id"],) * 2
    assert (result["status"], result["test_count"], result["pass_rate"]) == ("Completed", 1, 0.0)
    chat_service.fail("POST", "/chat", times=inf)
    test_set.execute(endpoint, metrics=[heard])
    assert test_set.last_run(endpoint)["status"] == "Failed"
    again = test_set.rescore(endpoint, metrics=[heard])
    assert TestRun(id=again["test_run_id"]).pull().metadata == {"rescored": second["test_run_id"]}


def test_a_run_can_be_checked_before_it(endpoint: Endpoint, chat_service: ChatService) -> None:
    good = push_test_set(ask("a")).preflight(endpoint, metrics=[heard])
    assert good.passed
    assert (good.passed_count, good.failed_count) == (4, 0)
    assert len(chat_service.asked()) == 1
    chat_service.fail("POST", "/chat", status=401)
    bad = push_test_set(ask("a", prompt=None), ask("b")).preflight(
        endpoint, metrics=["polite"], evaluation_model="nobody/knows/this"
    )
    assert not bad.passed
    assert {check.name for check in bad.checks if not check.passed} == {"tests", "metrics", "models", "endpoint"}
    assert "needs a prompt" in bad.summary
    assert "answered 401" in bad.summary
