"""Answers in the forms that servers and models give them: what is read, and what is not taken for an answer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.fakes.openai import OpenAIServer, Question, Reply
from tests.integration.models.asking import Grade

from scoregate.errors import MalformedAnswer
from scoregate.models import get_model

_ANSWER = json.dumps({"reason": "It uses {braces} and </think> well.", "choice": "A"})
_OTHER = json.dumps({"reason": "It is rude.", "choice": "B"})
_THOUGHTS = {"type": "thinking", "thinking": [{"type": "text", "text": "hmm"}]}
_TEXT = {"type": "text", "text": _ANSWER}


def _message(**fields: Any) -> Reply:
    return Reply(message={"content": None, **fields})


def _call(arguments: Any) -> Any:
    return {"id": "1", "type": "function", "function": {"name": "Grade", "arguments": arguments}}


READ = {
    "alone": _message(content=_ANSWER),
    "with a byte order mark": _message(content=f"\ufeff{_ANSWER}\n"),
    "in a fence": _message(content=f"```json\n{_ANSWER}\n```"),
    "in a fence without a language": _message(content=f"```\n{_ANSWER}\n```"),
    "in a fence after a sentence": _message(content=f"It isn't B. The JSON:\n\n```json\n{_ANSWER}\n```"),
    "in a fence before an explanation": _message(content=f"```json\n{_ANSWER}\n```\n\nI chose A for its kindness."),
    "within a sentence": _message(content=f"My judgement is {_ANSWER}, as the criteria demand."),
    "after reasoning": _message(content=f"<think>A or B? B would be {_OTHER}.</think>\n{_ANSWER}"),
    "after reasoning that the prompt opened": _message(content=f"A or B? Not B.\n</think>\n\n```json\n{_ANSWER}\n```"),
    "as all of the reasoning": _message(content=f"<think>\n{_ANSWER}\n</think>"),
    "as the reasoning beside an empty text": _message(content="", reasoning_content=f"It is kind.\n{_ANSWER}"),
    "in parts": _message(content=[_THOUGHTS, _TEXT]),
    "in several parts": _message(content=[_THOUGHTS, *({"type": "text", "text": each} for each in _ANSWER)]),
    "in a tool call": _message(tool_calls=[_call(_ANSWER)]),
    "in a tool call beside a text": _message(content="I call B a tool.", tool_calls=[_call(_ANSWER)]),
    "in a tool call as an object": _message(tool_calls=[_call(json.loads(_ANSWER))]),
}

NOT_READ = {
    "two answers": _message(content=f"{_OTHER}\n\n{_ANSWER}"),
    "two tool calls": _message(tool_calls=[_call(_OTHER), _call(_ANSWER)]),
    "a correction": _message(content=f"{_OTHER} Wait, that is wrong."),
    "a correction by another object": _message(content=f'{_OTHER} Correction: {{"choice": "A"}}'),
    "a correction by a word": _message(content=f"{_OTHER}\n\nFinal answer: A"),
    "a rejected draft": _message(content=f"If it were rude, I would say {_OTHER}"),
    "a draft in the reasoning": _message(content=f"<think>Perhaps {_OTHER}</think>\nThe answer is A."),
    "reasoning that goes on": _message(content=f"<think>Perhaps {_OTHER}? No, it is kind."),
    "a key twice": _message(content='{"reason": "x", "choice": "B", "choice": "A"}'),
    "an object within another": _message(content=f'{{"rejected": {_OTHER}}}'),
    "a part of an answer": _message(content=_OTHER[:-1]),
    "Python instead of JSON": _message(content="{'reason': 'x', 'choice': 'B'}"),
    "a choice that isn't offered": _message(content='{"reason": "x", "choice": "C"}'),
    "more braces than are read": _message(content=_OTHER + "{" * 2_000 + _ANSWER),
    "reasoning alone": _message(content=[_THOUGHTS]),
}


@pytest.mark.parametrize("form", READ)
def test_an_answer_is_read_in_every_form(server: OpenAIServer, form: str) -> None:
    server.answers("judge", READ[form])
    assert get_model("some-model").generate("judge", schema=Grade).parsed.model_dump() == json.loads(_ANSWER)
    assert len(server.requests) == 1


@pytest.mark.parametrize("form", NOT_READ)
def test_an_unclear_answer_is_asked_for_again(server: OpenAIServer, form: str) -> None:
    server.answers(".", json.loads(_ANSWER))
    server.answers("judge", NOT_READ[form], times=1)
    assert get_model("some-model").generate("judge", schema=Grade).parsed.choice == "A"
    assert len(server.requests) == 2


@pytest.mark.parametrize("form", ["in parts", "in several parts"])
def test_a_text_in_parts(server: OpenAIServer, form: str) -> None:
    server.answers("hello", READ[form])
    assert get_model("some-model").generate("hello").text == _ANSWER


@pytest.mark.parametrize(
    "reply",
    [
        _message(content=[_THOUGHTS]),
        _message(reasoning_content="hmm"),
        Reply("", finish_reason="length"),
        Reply(None),
    ],
    ids=["parts without a text", "reasoning", "a text that was cut off", "nothing"],
)
def test_no_text_is_no_empty_text(server: OpenAIServer, reply: Reply) -> None:
    server.answers("hello", reply)
    with pytest.raises(MalformedAnswer, match="no text") as failure:
        get_model("some-model").generate("hello")
    assert "max_tokens" in failure.value.advice


def test_an_empty_text_is_an_answer(server: OpenAIServer) -> None:
    server.answers("hello", Reply(""))
    assert get_model("some-model").generate("hello").text == ""


def _ignore_response_format(question: Question) -> Any:
    return Reply("It is friendly, so I choose A.") if question.tool is None else {"choice": "A"}


def test_a_model_that_ignores_the_response_format_is_asked_with_tools(server: OpenAIServer) -> None:
    server.answer_with(_ignore_response_format)
    model = get_model("some-model")
    for number in range(10):
        assert model.generate(f"judge {number}", schema=Grade).parsed.choice == "A"
    assert len(server.requests) == 11
    assert get_model("another-model").generate("judge", schema=Grade).parsed.choice == "A"
    assert len(server.requests) == 13, "each model is learned by itself"


def test_a_model_that_ignores_tools_too_is_asked_with_the_schema_in_a_message(server: OpenAIServer) -> None:
    server.answer_with(lambda question: None if "JSON schema" in question.text else Reply("I choose A."))
    model = get_model("some-model")
    for number in range(5):
        model.generate(f"judge {number}", schema=Grade)
    assert len(server.requests) == 7
    assert server.asked()[-1]["response_format"] == {"type": "json_object"}


def test_a_wrong_value_does_not_change_the_mode(server: OpenAIServer) -> None:
    server.answers("judge", {"choice": "C"}, times=1)
    assert get_model("some-model").generate("judge", schema=Grade)
    assert all("response_format" in body for body in server.asked())


def test_anthropic_is_asked_with_tools_at_once(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "any")
    server.answer_with(_ignore_response_format)
    assert get_model("anthropic/claude-sonnet-4-5").generate("judge", schema=Grade).parsed.choice == "A"
    assert len(server.requests) == 1
