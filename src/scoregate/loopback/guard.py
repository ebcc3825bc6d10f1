"""Who is let in: who has the address that was printed, from a page of our own."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
_ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_READS = ("GET", "HEAD")


@dataclass(frozen=True, slots=True)
class Keys:
    """What opens a page at a port of this machine: the token of its address, then a cookie; both new at each start.

    `command` is the one that serves the page.
    """

    port: int
    command: str
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    _tickets: set[str] = field(default_factory=set)

    @property
    def name(self) -> str:
        """The cookie's. Browsers give cookies of a host to all of its ports."""
        return f"scoregate-{self.command}-{self.port}"

    @property
    def origin(self) -> str:
        """Of pages of our own."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def address(self) -> str:
        """What a person opens."""
        return f"{self.origin}/?token={self.token}"

    def ticket(self) -> str:
        """An address that lets in once: others of this machine can see with what words a browser was started."""
        self._tickets.add(ticket := secrets.token_urlsafe(24))
        return f"{self.origin}/?token={ticket}"

    def opens(self, given: str) -> bool:
        """Whether a token lets in; a ticket is spent by it."""
        if ticket := next((each for each in self._tickets if _same(each, given)), None):
            self._tickets.discard(ticket)
            return True
        return _same(given, self.token)


class Guard:
    """Answers 403 to everybody else, and tells browsers what pages may do: `POLICY`, unless an answer has its own."""

    def __init__(self, app: ASGIApp, keys: Keys) -> None:
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
                given.update(_ALWAYS)
                given.setdefault("Content-Security-Policy", "; ".join(POLICY))
                if first and refused is None:
                    given["Set-Cookie"] = f"{self._keys.name}={self._keys.cookie}; HttpOnly; SameSite=Strict; Path=/"
            await send(message)

        await app(scope, receive, sending)

    def _refusal(self, scope: Scope, headers: Headers, *, first: bool) -> str | None:
        keys = self._keys
        if not self._is_host(headers):
            return f"Open {keys.origin}, under this name."
        if not first and not _same(_cookie(headers, keys.name), keys.cookie):
            return f"Open the address that `scoregate {keys.command}` has printed, with its token."
        if scope["method"] not in _READS and (
            headers.get("origin") != keys.origin or headers.get("sec-fetch-site", "same-origin") != "same-origin"
        ):
            return "This can be done from the page itself alone."
        return None

    def _is_host(self, headers: Headers) -> bool:
        return headers.get("host") == f"127.0.0.1:{self._keys.port}"

    def _has_token(self, scope: Scope, headers: Headers) -> bool:
        if scope["path"] != "/" or scope["method"] not in _READS or not self._is_host(headers):
            return False
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])
        return self._keys.opens(given[0])


def _cookie(headers: Headers, name: str) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return found.value if found is not None else ""


def _same(one: str, other: str) -> bool:
    return secrets.compare_digest(one.encode(), other.encode())
