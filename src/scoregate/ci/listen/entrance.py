"""Where calls come in: read, understood, done and answered, and never answered by an error that nobody hears of."""

from __future__ import annotations

import traceback
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from contextlib import suppress
from typing import Any

import anyio
from pydantic_core import to_json

from scoregate.ci.listen.bodies import Hung, Receive, read_body
from scoregate.ci.listen.calls import Call, call_of
from scoregate.ci.listen.cloud_desk import ask_cloud, is_cloud
from scoregate.ci.listen.desk import Desk
from scoregate.ci.listen.endpoints import ENDPOINTS
from scoregate.ci.listen.refused import Refused
from scoregate.core.events import ErrorInfo

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
_AGENT = b"user-agent"
_NOT_FOUND = 404, {"error": "not found"}


class Entrance:
    """An ASGI application that speaks the protocol, mounted below a token which says who speaks."""

    def __init__(self, desks: Mapping[str, Desk]) -> None:
        self._desks = desks
        self._turn = anyio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take one call."""
        desk = self._desks.get(scope["path_params"]["token"])
        path: str = scope["path"][len(scope["root_path"]) :]
        if desk is not None and (scope["method"] == "POST" or is_cloud(path)):
            with suppress(Hung):
                await _answer(send, *await self._taken(desk, path, scope, receive=receive))
        elif desk is not None and path in ("", "/"):
            await _answer(send, 200, "scoregate")
        else:
            await _answer(send, *_NOT_FOUND)

    async def _taken(self, desk: Desk, path: str, scope: Scope, *, receive: Receive) -> tuple[int, Any]:
        body, refused = b"", None
        try:
            body = await read_body(receive, self._turn)
        except Refused as error:
            refused = error
        if desk.closed:
            return _NOT_FOUND
        if refused is not None:
            return refused.status, _refuse(desk, None, path, refused=refused)
        body = desk.redact(body)
        return await ask_cloud(desk, scope, body) if is_cloud(path) else _reply(desk, path, body, agent=_agent(scope))


def _reply(desk: Desk, path: str, body: bytes, *, agent: str) -> tuple[int, Any]:
    call = None
    try:
        if (act := ENDPOINTS.get(path)) is None:
            raise Refused("there is no such call in the protocol", status=404)
        call = call_of(path, body, agent)
        return 200, act(desk, call)
    except Refused as refused:
        return refused.status, _refuse(desk, call, path, refused=refused)
    except Exception as error:  # ours: the suite learns of it, and so does the report
        told = ErrorInfo(type(error).__name__, f"scoregate failed: {error!s:.500}", traceback.format_exc(limit=-20))
        desk.unanswered(call, f"POST {path:.100}", told)
        return 500, {"error": f"scoregate failed: {type(error).__name__}"}


def _refuse(desk: Desk, call: Call | None, path: str, *, refused: Refused) -> Any:
    told = ErrorInfo("Refused", refused.why, advice="Update scoregate, if it is the SDK that says so.")
    desk.unanswered(call, f"POST {path:.100}", told)
    return {"error": refused.why}


def _agent(scope: Scope) -> str:
    return next((value.decode("latin-1") for name, value in scope["headers"] if name == _AGENT), "")


async def _answer(send: Send, status: int, reply: Any) -> None:
    content = to_json(reply)
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(content))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})
