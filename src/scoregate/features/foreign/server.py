"""The loopback server that foreign SDKs report to."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
from pydantic_core import to_json
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from scoregate.features.foreign.cloud import PREFIX, BaselineLookup, PlatformRequest
from scoregate.features.foreign.session import SdkSession
from scoregate.features.foreign.suite_run import ListenerCallbacks
from scoregate.kernel.host.request_bodies import ClientDisconnected, Refused, read_body
from scoregate.kernel.run.embedded_server import serve_on_loopback
from scoregate.kernel.types.records import record

_ANY_METHOD = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_NOT_FOUND = 404, {"error": "not found"}


@record
class ListenerAddress:
    """The address of one launched command at the server.

    `address` is what its SDKs get. It ends in a random token, so no other user of this machine can send calls in its
    name. `suites` are globs: a suite must match one of them to be recorded; without any, all are.
    """

    address: str
    suites: tuple[str, ...] = ()


@dataclass(slots=True)
class Listener:
    """A running server at a port of 127.0.0.1, with a session for each token. `redact` removes secrets from bodies."""

    redact: Callable[[bytes], bytes]
    sessions: dict[str, SdkSession] = field(default_factory=dict)
    port: int = 0

    @asynccontextmanager
    async def connect(
        self, callbacks: ListenerCallbacks, lookup: BaselineLookup, *, suites: Sequence[str] = ()
    ) -> AsyncIterator[ListenerAddress]:
        """A session for one launched command, until the block ends.

        Then everything is reported, however the command ended. A suite that did not end is reported without its end.

        Args:
            callbacks: receive what the suites report.
            lookup: answers what SDKs ask their platform for.
            suites: globs; a suite must match one of them to be recorded. Without any, all are.
        """
        token = secrets.token_urlsafe(16)
        session = self.sessions[token] = SdkSession(callbacks, lookup, suites=suites, redact=self.redact)
        try:
            yield ListenerAddress(f"http://127.0.0.1:{self.port}/{token}", tuple(suites))
        finally:
            del self.sessions[token]
            with anyio.CancelScope(shield=True):  # the block may end by a cancellation
                await session.close()


@asynccontextmanager
async def open_listener(redact: Callable[[bytes], bytes]) -> AsyncIterator[Listener]:
    """Serve until the block ends, in this event loop."""
    listener = Listener(redact)
    async with serve_on_loopback(_make_app(listener.sessions)) as listener.port:
        yield listener


def _make_app(sessions: Mapping[str, SdkSession]) -> Starlette:
    """The application: the protocol and the platform below a token, which names the session."""
    turn = anyio.Lock()

    async def call(request: Request) -> Response:
        return await _respond(request, sessions, turn, to_platform=False)

    async def ask_platform(request: Request) -> Response:
        return await _respond(request, sessions, turn, to_platform=True)

    async def greet(request: Request) -> Response:
        token = request.path_params.get("token")
        return _json(200, "scoregate") if token is None or token in sessions else _json(*_NOT_FOUND)

    app = Starlette(
        routes=[
            Route("/", greet),
            Route("/{token}", greet),
            Route("/{token}/", greet),
            Route(f"/{{token}}{PREFIX}", ask_platform, methods=_ANY_METHOD),
            Route(f"/{{token}}{PREFIX}/{{path:path}}", ask_platform, methods=_ANY_METHOD),
            Route("/{token}", call, methods=["POST"]),
            Route("/{token}/{path:path}", call, methods=["POST"]),
        ],
        exception_handlers={HTTPException: _not_found},
    )
    app.router.redirect_slashes = False
    return app


async def _respond(
    request: Request, sessions: Mapping[str, SdkSession], turn: anyio.Lock, *, to_platform: bool
) -> Response:
    """Pass a request to its session: a call of the protocol, or a request for the platform."""
    token = request.path_params["token"]
    path = request.scope["path"].removeprefix(f"/{token}") or "/"
    if (session := sessions.get(token)) is None:
        return _json(*_NOT_FOUND)
    refused, body = None, b""
    try:
        body = session.redact(await read_body(request.receive, turn))
    except ClientDisconnected:
        return Response(status_code=400)
    except Refused as error:
        refused = error
    if session.closed:  # it may have ended while the body was read
        return _json(*_NOT_FOUND)
    if refused is not None:
        return _json(*session.refuse(path, refused))
    if not to_platform:
        return _json(*session.call(path, body, request.headers.get("user-agent", "")))
    # The path as it was sent: an encoded slash in a suite's id does not separate parts.
    raw_path = request.scope["raw_path"].decode("latin-1").partition(PREFIX)[2]
    query = request.scope["query_string"].decode("latin-1")
    return _json(*await session.ask_platform(PlatformRequest(request.method, raw_path, query, body)))


def _json(status: int, content: Any) -> Response:
    return Response(to_json(content), status, media_type="application/json")


async def _not_found(request: Request, error: Exception) -> Response:  # noqa: ARG001
    return _json(*_NOT_FOUND)
