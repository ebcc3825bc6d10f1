"""Bodies of calls: limits for one, and for all together."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from scoregate.features.foreign.bodies import parse
from scoregate.kernel.host.request_bodies import MAX_BODY_BYTES, ClientDisconnected, Refused, read_body
from scoregate.kernel.types.json_io import MAX_EVENT_BYTES

pytestmark = pytest.mark.anyio
CHUNK = b"x" * (1024 * 1024)


async def test_large_bodies_are_read_one_by_one() -> None:
    held = dict.fromkeys(range(10), 0)
    highest: list[int] = []

    def feed(body: int) -> Callable[[], Awaitable[dict[str, Any]]]:
        async def receive() -> dict[str, Any]:
            await anyio.lowlevel.checkpoint()
            held[body] += len(CHUNK)
            highest.append(sum(size > MAX_EVENT_BYTES + len(CHUNK) for size in held.values()))
            return {"type": "http.request", "body": CHUNK, "more_body": held[body] < 20 * len(CHUNK)}

        return receive

    async def read(body: int) -> None:
        assert len(await read_body(feed(body), turn)) == 20 * len(CHUNK)
        held[body] = 0

    turn = anyio.Lock()
    async with anyio.create_task_group() as tasks:
        for body in held:
            tasks.start_soon(read, body)
    assert max(highest) == 1


async def test_a_too_large_body_is_refused_early() -> None:
    received = 0

    async def receive() -> dict[str, Any]:
        nonlocal received
        received += len(CHUNK)
        return {"type": "http.request", "body": CHUNK, "more_body": True}

    with pytest.raises(Refused, match="over the limit"):
        await read_body(receive, anyio.Lock())
    assert received == MAX_BODY_BYTES + len(CHUNK)


async def test_a_disconnect_is_an_error() -> None:
    messages = iter([{"type": "http.request", "body": b"{}", "more_body": True}, {"type": "http.disconnect"}])

    async def receive() -> dict[str, Any]:
        return dict(next(messages))

    with pytest.raises(ClientDisconnected):
        await read_body(receive, anyio.Lock())


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (rb'"\ud83d\ude00"', "😀"),
        (rb'"\ud83d"', "\\ud83d"),
        (rb'"\ude00\ud83d"', "\\ude00\\ud83d"),
        (rb'"\\ud83d \ud83d"', "\\ud83d \\ud83d"),
        (rb'"\ud83d\u0041"', "\\ud83dA"),
        (b'"\xff"', "\N{REPLACEMENT CHARACTER}"),
        (b"Infinity", float("inf")),
    ],
)
def test_json_is_read_leniently(body: bytes, value: object) -> None:
    assert parse(body) == value


@pytest.mark.parametrize("body", [b"", b"{", b"[" * 1_000, b"1" * 5_000, b"nan", b"{} {}"])
def test_invalid_json_is_none(body: bytes) -> None:
    with pytest.raises(ValueError, match="at line 1"):
        parse(body)
