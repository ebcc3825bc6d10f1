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

from scoregate.errors import ScoregateError, UsageError
from scoregate.kernel.report.html import assets

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

    def opens(self, token: str) -> bool:
        """Whether a token is valid; a ticket is valid only once."""
        if ticket := next((each for each in self._tickets if _equal(each, token)), None):
            self._tickets.discard(ticket)
            return True
        return _equal(token, self.token)


class Guard:
    """Answers 403 without access, and sets security headers: `POLICY`, unless a response has its own."""

    def __init__(self, app: ASGIApp, keys: AccessKeys) -> None:
        self._app = app
        self._keys = keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        keys, headers = self._keys, Headers(scope=scope)
        # Another name that resolves to 127.0.0.1 may be one of an attacker.
        is_host = headers.get("host") == f"127.0.0.1:{keys.port}"
        is_safe = scope["method"] in _SAFE_METHODS
        # No bytes of a query are invalid in Latin-1.
        token = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        # `opens` last: it uses up a ticket.
        has_token = scope["path"] == "/" and is_safe and is_host and keys.opens(token)
        # Older browsers don't send Sec-Fetch-Site.
        from_page = headers.get("origin") == keys.origin and headers.get("sec-fetch-site") in (None, "same-origin")
        refusal = None
        if not is_host:
            refusal = f"Open {keys.origin} with this host name."
        elif not has_token and not _equal(_cookie(headers, keys.name), keys.cookie):
            refusal = f"Open the address with the token that `scoregate {keys.command}` printed."
        elif not is_safe and not from_page:
            refusal = "Only the page itself can do this."
        app = self._app if refusal is None else PlainTextResponse(f"{refusal}\n", 403)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                response_headers = MutableHeaders(scope=message)
                response_headers.update(_HEADERS)
                response_headers.setdefault("Content-Security-Policy", "; ".join(POLICY))
                if has_token and refusal is None:
                    cookie = f"{keys.name}={keys.cookie}; HttpOnly; SameSite=Strict; Path=/"
                    response_headers["Set-Cookie"] = cookie
            await send(message)

        await app(scope, receive, send_with_headers)


def _cookie(headers: Headers, name: str) -> str:
    try:
        cookie = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:  # cookies of other programs on this host arrive here, too
        return ""
    return cookie.value if cookie is not None else ""


def _equal(one: str, other: str) -> bool:
    return secrets.compare_digest(one.encode(), other.encode())  # `compare_digest` takes only ASCII as text


def serve(
    make_app: Callable[[AccessKeys], Starlette], command: str, on_start: Callable[[AccessKeys], None], *, port: int = 0
) -> None:
    """Serve a page until it is interrupted.

    Args:
        make_app: creates the app from the keys that give access to it.
        command: the name of the command that serves it.
        on_start: called with the keys when the server listens.
        port: the port; 0 for a free one.

    Raises:
        UsageError: the port is not available.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as sock:
        # Else the same port is refused for a minute after the last use.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Bound here and not by uvicorn: the cookie and the address need the port.
        try:
            sock.bind(("127.0.0.1", port))
        except OSError as error:
            raise UsageError(
                f"port {port} is not available: {error.strerror}",
                advice="Choose another with --port, or omit it to use a free one.",
            ) from None
        sock.listen()
        keys = AccessKeys(sock.getsockname()[1], command)
        # Ctrl-C ends the page without an error as soon as its address is shown.
        with contextlib.suppress(KeyboardInterrupt):
            on_start(keys)
            uvicorn.Server(_config(make_app(keys))).run(sockets=[sock])


def _config(app: Starlette) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        lifespan="off",
        ws="none",
        log_config=None,  # uvicorn would set up the logging of the whole process
        log_level="critical",
        access_log=False,
        proxy_headers=False,  # uvicorn trusts X-Forwarded-For of 127.0.0.1 by default
        server_header=False,
        timeout_graceful_shutdown=1,
    )


_STATIC_SUFFIXES = (".css", ".js")
Handler = Callable[[Request, Exception], Awaitable[Response]]


def page_routes(static: Path, headers: Mapping[str, str] | None = None) -> list[Route]:
    """The routes of a page, and of the scripts and styles in its folder.

    `headers` are for the page only.
    """
    files = {name: assets.STATIC / name for name in assets.SHARED}
    files |= {path.name: path for path in static.iterdir() if path.suffix in _STATIC_SUFFIXES}

    async def page(request: Request) -> Response:  # noqa: ARG001
        return FileResponse(static / "page.html", headers=headers)

    async def file(request: Request) -> Response:
        if (path := files.get(request.path_params["name"])) is None:
            raise HTTPException(HTTPStatus.NOT_FOUND)
        return FileResponse(path)

    async def icon(request: Request) -> Response:  # noqa: ARG001
        return Response(status_code=HTTPStatus.NO_CONTENT)

    return [Route("/", page), Route("/favicon.ico", icon), Route("/static/{name}", file)]


def error_handlers(answer: Callable[[str, int], Response]) -> dict[Any, Handler]:
    """Handlers for the errors of a page; `answer` creates a response from a message and a status."""

    async def answer_http_error(request: Request, error: Exception) -> Response:  # noqa: ARG001
        assert isinstance(error, HTTPException)
        return answer(error.detail, error.status_code)

    async def answer_conflict(request: Request, error: Exception) -> Response:  # noqa: ARG001
        return answer(str(error), HTTPStatus.CONFLICT)

    return {HTTPException: answer_http_error, ScoregateError: answer_conflict}
