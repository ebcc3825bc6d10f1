"""Functions as endpoints: what they are given, and what goes wrong in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scoregate.endpoints import invoke, open_target
from scoregate.errors import EndpointError
from scoregate.kernel.types.cleanup import close_at_end
from scoregate.kernel.types.conversation import Reply
from scoregate.store import StoredEndpoint

pytestmark = pytest.mark.anyio
BOTS = "tests.integration.endpoints.bots"


async def replies(function: str, *messages: str, **fields: Any) -> list[Reply]:
    definition = StoredEndpoint(name="bot", connection_type="SDK", function=f"{BOTS}:{function}", **fields)
    async with close_at_end(), open_target(definition).session() as talk:
        return [await talk.send(message) for message in messages]


async def test_a_function_gets_the_message() -> None:
    assert [reply.output for reply in await replies("plain", "123")] == ["heard 123"]


async def test_an_async_function_gets_the_conversation() -> None:
    first, second = await replies("waits", "a", "b")
    assert (first.output, first.conversation_id, first.context) == ("A", "new", ("a page",))
    assert second.conversation_id == "new"


async def test_a_function_may_get_all_messages() -> None:
    _, second = await replies("remembers", "a", "b", system_prompt="Be kind")
    assert second.output == "Be kind: ['Be kind', 'a', \"Be kind: ['Be kind', 'a']\", 'b']"


async def test_arguments_may_be_mapped() -> None:
    mapping = {"text": "<{{ input }}>", "loud": True}
    assert [reply.output for reply in await replies("keyed", "a", request_mapping=mapping)] == ["<A>"]


@pytest.mark.parametrize(
    ("function", "kind", "message"),
    [
        ("slow", "timeout", "longer than the timeout of 0.2 s"),
        ("fails", "unexpected_error", "raised KeyError: 'no such thing'"),
        ("leaves", "unexpected_error", "raised SystemExit"),
        ("silent", "mapping_error", "no output"),
        ("asks_more", "configuration_error", "database"),
        ("missing", "configuration_error", "cannot be imported"),
        ("BOTS.none", "configuration_error", "cannot be imported"),
        ("__doc__", "configuration_error", "is not a function, but a str"),
    ],
)
async def test_a_failure_is_an_error(function: str, kind: str, message: str) -> None:
    with pytest.raises(EndpointError, match=message) as caught:
        await replies(function, "hello", timeout_seconds=0.2 if function == "slow" else 60)
    assert caught.value.kind == kind


async def test_a_module_that_exits_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bot_that_exits.py").write_text("import sys; sys.exit('no key')", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(EndpointError, match="SystemExit: no key"):
        open_target(StoredEndpoint(connection_type="SDK", function="bot_that_exits:answer"))


async def test_one_message_may_be_sent_in_a_loop() -> None:
    definition = StoredEndpoint(connection_type="SDK", function=f"{BOTS}:waits")
    assert invoke(definition, "a", "c-9") == {
        "output": "A",
        "conversation_id": "c-9",
        "context": ["a page"],
        "metadata": {},
        "tool_calls": [],
    }
