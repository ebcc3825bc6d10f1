"""The server of the local pages: access tokens, static files, start and stop."""

from __future__ import annotations

import contextlib
import secrets
import socket
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from scoregate.ci.report.html import assets
from scoregate.errors import ScoregateError, UsageError

POLICY = (
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
)
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_SAFE_METHODS = ("GET", "HEAD")


@dataclass(frozen=True, slots=True)
class AccessKeys:
    """The access to a local page: the token in its address, then a cookie. Both are new at each start.

    `command` is the command that serves the page.
    """

    port: int
    command: str
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    _tickets: set[str] = field(default_factory=set)

    @property
    def name(self) -> str:
        """The name of the cookie. It contains the port, since browsers share cookies between ports of a host."""
        return f"scoregate-{self.command}-{self.port}"

    @property
    def origin(self) -> str:
        """The origin of the page."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def address(self) -> str:
        """The address that a person opens."""
        return f"{self.origin}/?token={self.token}"

    def ticket(self) -> str:
        """An address that is valid once: other users of the machine can see the arguments of a browser."""
        self._tickets.add(ticket := secrets.token_urlsafe(24))
        return f"{self.origin}/?token={ticket}"

    def opens(self, given: str) -> bool:
        """Whether a token is valid; a ticket is valid only once."""
        if ticket := next((each for each in self._tickets if _equal(each, given)), None):
            self._tickets.discard(ticket)
            return True
        return _equal(given, self.token)


class Guard:
    """Answers 403 without access, and sets security headers: `POLICY`, unless a response has its own."""

    def __init__(self, app: ASGIApp, keys: AccessKeys) -> None:
        self._app = app
        self._keys = keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        first = self._has_token(scope, headers)
        refused = self._refusal(scope, headers, first=first)
        app = self._app if refused is None else PlainTextResponse(f"{refused}\n", 403)

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = MutableHeaders(scope=message)
                given.update(_HEADERS)
                given.setdefault("Content-Security-Policy", "; ".join(POLICY))
                if first and refused is None:
                    given["Set-Cookie"] = f"{self._keys.name}={self._keys.cookie}; HttpOnly; SameSite=Strict; Path=/"
            await send(message)

        await app(scope, receive, sending)

    def _refusal(self, scope: Scope, headers: Headers, *, first: bool) -> str | None:
        keys = self._keys
        if not self._is_host(headers):
            return f"Open {keys.origin} with this host name."
        if not first and not _equal(_cookie(headers, keys.name), keys.cookie):
            return f"Open the address with the token that `scoregate {keys.command}` printed."
        if scope["method"] not in _SAFE_METHODS and (
            headers.get("origin") != keys.origin or headers.get("sec-fetch-site", "same-origin") != "same-origin"
        ):
            return "Only the page itself can do this."
        return None

    def _is_host(self, headers: Headers) -> bool:
        return headers.get("host") == f"127.0.0.1:{self._keys.port}"

    def _has_token(self, scope: Scope, headers: Headers) -> bool:
        if scope["path"] != "/" or scope["method"] not in _SAFE_METHODS or not self._is_host(headers):
            return False
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])
        return self._keys.opens(given[0])


def _cookie(headers: Headers, name: str) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return found.value if found is not None else ""


def _equal(one: str, other: str) -> bool:
    return secrets.compare_digest(one.encode(), other.encode())


def serve(
    app_of: Callable[[AccessKeys], Starlette], command: str, on_start: Callable[[AccessKeys], None], *, port: int = 0
) -> None:
    """Serve a page until it is interrupted.

    Args:
        app_of: creates the app, which these keys unlock.
        command: the command that serves it.
        on_start: gets the keys when the server listens.
        port: 0 for a free one.

    Raises:
        UsageError: the port is not available.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        _bind(sock, port)
        sock.listen()
        keys = AccessKeys(sock.getsockname()[1], command)
        on_start(keys)
        with contextlib.suppress(KeyboardInterrupt):
            uvicorn.Server(_config(app_of(keys))).run(sockets=[sock])


def _bind(sock: socket.socket, port: int) -> None:
    try:
        sock.bind(("127.0.0.1", port))
    except OSError as error:
        raise UsageError(
            f"port {port} is not available: {error.strerror}",
            advice="Choose another with --port, or omit it to use a free one.",
        ) from None


def _config(app: Starlette) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        lifespan="off",
        ws="none",
        log_config=None,
        log_level="critical",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=1,
    )


_FETCHED = (".css", ".js")
Handler = Callable[[Request, Exception], Awaitable[Response]]


def page_routes(static: Path, headers: Mapping[str, str] | None = None) -> list[Route]:
    """The routes of a page, and of the scripts and styles in its folder.

    `headers` are for the page only.
    """
    files = {name: assets.STATIC / name for name in assets.SHARED}
    files |= {path.name: path for path in static.iterdir() if path.suffix in _FETCHED}

    async def page(request: Request) -> Response:  # noqa: ARG001
        return FileResponse(static / "page.html", headers=headers)

    async def file(request: Request) -> Response:
        if (path := files.get(request.path_params["name"])) is None:
            raise HTTPException(HTTPStatus.NOT_FOUND)
        return FileResponse(path)

    return [Route("/", page), Route("/favicon.ico", _no_content), Route("/static/{name}", file)]


def error_handlers(answer: Callable[[str, int], Response]) -> dict[Any, Handler]:
    """Handlers for the errors of a page; `answer` creates a response from a message and a status."""

    async def refused(request: Request, error: Exception) -> Response:  # noqa: ARG001
        assert isinstance(error, HTTPException)
        return answer(error.detail, error.status_code)

    async def failed(request: Request, error: Exception) -> Response:  # noqa: ARG001
        return answer(str(error), HTTPStatus.CONFLICT)

    return {HTTPException: refused, ScoregateError: failed}


async def _no_content(request: Request) -> Response:  # noqa: ARG001
    return Response(status_code=HTTPStatus.NO_CONTENT)
