"""The door of the service: requests are recorded, held back or made to fail, and answered; sockets are talked to."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import anyio
from tests.fakes.github.exchange import Answer, Exchange
from tests.fakes.github.front import hang_up

if TYPE_CHECKING:
    from tests.fakes.chat_service.server import ChatService


class Front:
    """Serves it over ASGI, without a framework: benchmarks measure the client, not us."""

    def __init__(self, owner: ChatService) -> None:
        self.owner = owner

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "websocket":
            return await self._socket(scope, receive, send)
        exchange = await _recorded(scope, receive)
        # A program that asked another server, which had this port before it ended, is not a client of this one.
        if exchange.path in self.owner.paths:
            self.owner.requests.append(exchange)
        self.owner.at_once += 1
        self.owner.most_at_once = max(self.owner.most_at_once, self.owner.at_once)
        try:
            answer = await self._answer(exchange)
        finally:
            self.owner.at_once -= 1
        if answer is None:
            return await hang_up(receive, send)
        exchange.status = answer.status
        return await _send(answer, send)

    async def _answer(self, exchange: Exchange) -> Answer | None:
        """The answer, or what a fault makes of it; None is a connection that drops."""
        fault, bucket = self.owner.take_fault(exchange), self.owner.bucket
        if fault is not None:
            await anyio.sleep(fault.delay)
            if fault.drop:
                return None
            if fault.status is not None:
                return Answer(fault.body, fault.status, fault.headers)
        if bucket is not None and not bucket.take():
            return Answer({"error": "too many"}, 429, bucket.headers(refused=True))
        if self.owner.latency:
            await anyio.sleep(self.owner.latency)
        return self.owner.answer(exchange)

    async def _socket(self, scope: Any, receive: Any, send: Any) -> None:
        handshake = _exchange(scope, "GET")
        await receive()
        if (fault := self.owner.take_fault(handshake)) and fault.status:
            headers = [(name.encode(), value.encode()) for name, value in fault.headers.items()]
            return await _reject(send, fault.status, headers)
        if not self.owner.guard.lets_in(handshake.headers, handshake.query):
            return await _reject(send, 401)
        self.owner.connections += 1
        await send({"type": "websocket.accept"})
        conversation: str | None = None
        while (event := await receive())["type"] == "websocket.receive":
            body = (event.get("text") or "").encode() or event.get("bytes") or b""
            exchange = Exchange("SEND", scope["path"], handshake.query, handshake.headers, body)
            self.owner.requests.append(exchange)
            fault = self.owner.take_fault(exchange)
            if fault is not None:
                await anyio.sleep(fault.delay)
            if fault is not None and fault.drop:
                return await send({"type": "websocket.close", "code": 1011})
            conversation = await self._reply(exchange, conversation, fault.body if fault else None, send)
        return None

    async def _reply(self, exchange: Exchange, conversation: str | None, instead: Any, send: Any) -> str | None:
        await anyio.sleep(self.owner.latency)
        if instead is not None:
            await send({"type": "websocket.send", "text": instead if isinstance(instead, str) else json.dumps(instead)})
            return conversation
        given = exchange.json
        reply = self.owner.memory.say(given["input"], given.get("conversation_id", conversation))
        await send({"type": "websocket.send", "text": json.dumps({"type": "typing"})})
        await send({"type": "websocket.send", "text": json.dumps(reply)})
        return str(reply["conversation_id"])


async def _reject(send: Any, status: int, headers: Any = ()) -> None:
    await send({"type": "websocket.http.response.start", "status": status, "headers": list(headers)})
    await send({"type": "websocket.http.response.body", "body": b'{"error": "not you"}'})


async def _recorded(scope: Any, receive: Any) -> Exchange:
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            return _exchange(scope, scope["method"], body)


def _exchange(scope: Any, method: str, body: bytes = b"") -> Exchange:
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    return Exchange(method, scope["path"], dict(parse_qsl(scope["query_string"].decode())), headers, body)


async def _send(answer: Answer, send: Any) -> None:
    body = answer.content if isinstance(answer.content, bytes) else json.dumps(answer.content).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    headers += [(name.encode(), value.encode()) for name, value in answer.headers.items()]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
