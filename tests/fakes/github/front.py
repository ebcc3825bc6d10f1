"""The door of the fake: every request is recorded, made to fail if a test wants so, and answered."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from starlette.requests import Request
from starlette.responses import Response
from tests.fakes.github.exchange import Answer, Exchange
from tests.fakes.github.faults import Fault, Faulty


class Front:
    """Serves `answer` over ASGI: hooks first, then faults, then the answer itself."""

    def __init__(
        self, owner: Faulty, record: list[Exchange], answer: Callable[[Exchange, str], Answer], prefix: str = ""
    ) -> None:
        self.owner, self.record, self.answer, self.prefix = owner, record, answer, prefix

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        request = Request(scope, receive)
        exchange = await recorded(request, self.prefix)
        self.record.append(exchange)
        try:
            answer = await self.respond(exchange, str(request.url.replace(query="")))
        except Exception as broken:
            self.owner.violations.append(f"{exchange}: the fake (or a hook) broke: {broken!r}")
            raise
        if answer is None:
            return await hang_up(receive, send)
        exchange.status, exchange.answer = answer.status, answer.content
        return await self.send(answer, scope, receive, send)

    async def respond(self, exchange: Exchange, url: str) -> Answer | None:
        """The answer, or what a fault makes of it; None is a connection that drops."""
        for hook in self.owner.take_hooks(exchange):
            await anyio.to_thread.run_sync(hook, exchange)
        fault = self.owner.take_fault(exchange)
        if fault is None:
            return self.answer(exchange, url)
        await anyio.sleep(fault.delay)
        is_slow_only = fault.status is None and not fault.drop
        answer = self.answer(exchange, url) if fault.after or is_slow_only else None
        if is_slow_only:
            return answer
        return None if fault.drop else failed(fault)

    async def send(self, answer: Answer, scope: Any, receive: Any, send: Callable[..., Awaitable[None]]) -> None:
        cut = answer.cut_after
        response = rendered(answer)
        if cut is None:
            return await response(scope, receive, send)
        await send({"type": "http.response.start", "status": answer.status, "headers": response.raw_headers})
        await send({"type": "http.response.body", "body": bytes(response.body)[:cut], "more_body": True})
        return await hang_up(receive, send)


async def recorded(request: Request, prefix: str) -> Exchange:
    whole = request.scope["path"]
    path, query, headers = whole.removeprefix(prefix), dict(request.query_params), dict(request.headers)
    return Exchange(request.method, path, query, headers, await request.body(), not whole.startswith(prefix))


def failed(fault: Fault) -> Answer:
    body = fault.body if fault.body is not None else {"message": "Server Error", "status": str(fault.status)}
    return Answer(body, fault.status or 500, fault.headers)


def rendered(answer: Answer) -> Response:
    if answer.content is None or isinstance(answer.content, bytes):
        return Response(answer.content or b"", answer.status, dict(answer.headers))
    kind = {"content-type": "application/json; charset=utf-8"}
    return Response(json.dumps(answer.content), answer.status, {**kind, **answer.headers})


async def hang_up(receive: Any, send: Any) -> None:
    """Close the connection under the answer, and wait until the server has noticed."""
    send.__self__.transport.close()
    while (await receive())["type"] != "http.disconnect":
        pass
