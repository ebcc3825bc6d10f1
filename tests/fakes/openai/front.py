"""The door of the fake: every request is recorded, held back, refused or made to fail, and answered."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import anyio
from tests.fakes.github.exchange import Answer, Exchange
from tests.fakes.github.faults import Fault
from tests.fakes.github.front import hang_up
from tests.fakes.openai import refusals

if TYPE_CHECKING:
    from tests.fakes.openai.server import OpenAIServer

_LOG = "/fake/requests"


class Front:
    """Serves a fake over ASGI, without a framework: benchmarks measure the client, not us."""

    def __init__(self, owner: OpenAIServer) -> None:
        self.owner = owner

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        exchange = await _recorded(scope, receive)
        if exchange.path == _LOG:
            return await _send(self._log(exchange), send)
        self.owner.requests.append(exchange)
        for hook in self.owner.take_hooks(exchange):
            await anyio.to_thread.run_sync(hook, exchange)
        answer = await self._respond(exchange)
        if answer is None:
            return await hang_up(receive, send)
        exchange.status = answer.status
        await _send(answer, send)
        if answer.cut_after is not None:
            await hang_up(receive, send)
        return None

    def _log(self, exchange: Exchange) -> Answer:
        requests = [{"path": each.path, "status": each.status, "body": each.json} for each in self.owner.requests]
        if exchange.method == "DELETE":
            self.owner.requests.clear()
        return Answer(requests)

    async def _respond(self, exchange: Exchange) -> Answer | None:
        """The answer, or what a fault makes of it; None is a connection that drops."""
        fault, bucket = self.owner.take_fault(exchange), self.owner.bucket
        if fault is not None:
            await anyio.sleep(fault.delay)
            if fault.drop:
                return None
            if fault.status is not None:
                return Answer(_describe_fault(fault), fault.status, fault.headers)
        is_refused = bucket is not None and not bucket.take()
        headers = bucket.headers(refused=is_refused) if bucket else {}
        if is_refused:
            return Answer(refusals.too_many().content, 429, headers)
        if self.owner.latency:
            await anyio.sleep(self.owner.latency)
        answer = self.owner.answer(exchange)
        return Answer(answer.content, answer.status, headers, answer.cut_after) if headers else answer


def _describe_fault(fault: Fault) -> object:
    """The body of a fault; missing fields are filled in as OpenAI does."""
    is_openais = isinstance(fault.body, list) or (isinstance(fault.body, dict) and "error" in fault.body)
    if is_openais:
        return fault.body
    return (
        refusals.too_many() if fault.status == 429 else refusals.error("The server had an error.", status=500)
    ).content


async def _recorded(scope: Any, receive: Any) -> Exchange:
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            return Exchange(scope["method"], scope["path"], {}, headers, body)


async def _send(answer: Answer, send: Any) -> None:
    if isinstance(answer.content, Iterator):
        return await _stream(answer, send)
    body = answer.content if isinstance(answer.content, bytes) else json.dumps(answer.content).encode()
    await send({"type": "http.response.start", "status": answer.status, "headers": _headers(answer.headers, len(body))})
    cut = answer.cut_after
    await send({"type": "http.response.body", "body": body[:cut], "more_body": cut is not None})
    return None


async def _stream(answer: Answer, send: Any) -> None:
    headers = [(b"content-type", b"text/event-stream"), *_headers(answer.headers, None)]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    for sent, chunk in enumerate(answer.content):
        if answer.cut_after is not None and sent >= answer.cut_after:
            return
        event = f"event: {chunk['type']}\n" if "type" in chunk else ""
        body = f"{event}data: {json.dumps(chunk)}\n\n".encode()
        await send({"type": "http.response.body", "body": body, "more_body": True})
    await send({"type": "http.response.body", "body": b"data: [DONE]\n\n", "more_body": False})


def _headers(given: Mapping[str, str], length: int | None) -> list[tuple[bytes, bytes]]:
    own = [] if length is None else [(b"content-type", b"application/json"), (b"content-length", b"%d" % length)]
    return [*own, *((name.encode(), value.encode()) for name, value in given.items())]
