"""Messages over HTTP: what is sent, what comes back, and who remembers what."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from tests.fakes.chat_service import ChatService
from tests.integration.endpoints.conftest import Talking, opened_target

from scoregate.kernel.types.cleanup import close_at_end

pytestmark = pytest.mark.anyio
TEXTS = ["123", "true", "null", '{"a": 1}', "{{ 7*7 }}", "${HOME}", '"', "\\", "\ud800", "$.a", ""]


async def test_an_endpoint_may_be_just_an_address(talking: Talking, chat_service: ChatService) -> None:
    async with talking() as talk:
        reply = await talk.send("hello")
    assert (reply.output, reply.conversation_id) == ("You said: hello", "c-1")
    assert reply.context == ("the handbook, page 3",)
    assert reply.metadata == {"turn": 1, "received": "str"}
    assert chat_service.asked() == [{"input": "hello"}], "the id is left out while there is none"


async def test_the_next_message_has_the_conversation_id(talking: Talking, chat_service: ChatService) -> None:
    async with talking() as talk:
        await talk.send("I live in Rome")
        reply = await talk.send("What did I just say?")
    assert reply.output == "You said: I live in Rome"
    assert chat_service.asked()[1] == {"input": "What did I just say?", "conversation_id": "c-1"}


async def test_sessions_are_independent(chat_service: ChatService) -> None:
    target = opened_target(chat_service)
    async with close_at_end(), target.session() as one, target.session() as other:
        first, second = await one.send("a"), await other.send("b")
        assert first.conversation_id != second.conversation_id
        assert (await one.send("what did I say")).output == "You said: a"


async def test_a_known_conversation_continues(chat_service: ChatService) -> None:
    target = opened_target(chat_service)
    async with close_at_end(), target.session("c-77") as talk:
        assert (await talk.send("hello")).conversation_id == "c-77"


async def test_a_stateless_service_gets_all_messages(talking: Talking, chat_service: ChatService) -> None:
    openai = {
        "endpoint_path": "v1/chat/completions",
        "url": chat_service.url,
        "request_mapping": {"model": "m", "messages": "{{ messages }}", "system_prompt": "Be brief."},
        "response_mapping": {"output": "$.choices[0].message.content"},
    }
    async with talking(**openai) as talk:
        await talk.send("I live in Rome")
        assert (await talk.send("What did I say?")).output == "You said: I live in Rome"
    assert chat_service.asked("/v1/chat/completions")[1] == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "I live in Rome"},
            {"role": "assistant", "content": "You said: I live in Rome"},
            {"role": "user", "content": "What did I say?"},
        ],
    }


@pytest.mark.parametrize(
    "text", ["123", "true", "null", '{"a": 1}', "{{ 7*7 }}", "${HOME}", '"', "\\", "\ud800", "$.a", ""]
)
@pytest.mark.parametrize(
    "mapping", [None, '{"input": "{{ input }}"}', '{"input": {{ input }} }', {"input": " {{ input }}"}]
)
async def test_user_messages_stay_text(talking: Talking, chat_service: ChatService, text: str, mapping: Any) -> None:
    async with talking(request_mapping=mapping) as talk:
        reply = await talk.send(text)
    assert chat_service.asked()[0]["input"].removeprefix(" ") == text
    assert reply.output.removeprefix("You said: ").removeprefix(" ") == text


async def test_a_message_may_be_in_the_address(talking: Talking, chat_service: ChatService) -> None:
    async with talking(method="GET", url=f"{chat_service.url}/chat?lang=en", query_params={"a": "ü & b"}) as talk:
        assert (await talk.send("one & two?")).output == "You said: one & two?"
    assert chat_service.requests[0].query == {"lang": "en", "a": "ü & b", "input": "one & two?"}


async def test_a_body_may_be_anything(talking: Talking, chat_service: ChatService) -> None:
    definition = {
        "url": f"{chat_service.url}/echo",
        "request_mapping": {"__body__": "<ask>{{ input | e }}</ask>"},
        "request_headers": {"Content-Type": "application/xml", "X-Said": "{{ input }}"},
        "response_mapping": {"output": "{{ text }}", "headers": "{{ headers }}"},
    }
    async with talking(**definition) as talk:
        reply = await talk.send("a < b")
    assert reply.output == "<ask>a &lt; b</ask>"
    assert reply.metadata["headers"]["content-type"] == "application/xml"
    assert reply.metadata["headers"]["x-said"] == "a < b"


def test_an_endpoint_works_in_several_loops(chat_service: ChatService) -> None:
    target = opened_target(chat_service)

    async def ask() -> Any:
        async with target.session() as talk:
            return (await talk.send("hello")).output

    assert [anyio.run(ask), anyio.run(ask)] == ["You said: hello"] * 2
