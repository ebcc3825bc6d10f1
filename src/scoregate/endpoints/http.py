"""One HTTP request and its response, limited in time and size, and the errors of both."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit, urlunsplit

import anyio

from scoregate.endpoints.context import EndpointContext
from scoregate.endpoints.retry import RETRYABLE_STATUSES, TransientError
from scoregate.errors import EndpointError
from scoregate.kernel.types.backoff import retry_after_s
from scoregate.store.endpoints import StoredEndpoint

if TYPE_CHECKING:
    import httpx  # the functions that need it import it, because endpoints that are functions do without

LARGEST_RESPONSE = 8 * 1024 * 1024
_CONNECT_S = 10.0
_MOST_REDIRECTS = 3
_SAME_METHOD = frozenset({307, 308})
_ADVICE = {
    400: "See `request_mapping`: the endpoint does not accept this body.",
    401: "See `auth`: the endpoint does not accept the token or key.",
    403: "See `auth`: the token or key has no permission.",
    404: "See `url` and `endpoint_path`: there is nothing at this address.",
    405: "See `method`.",
    413: "The body is too large for the endpoint.",
    415: "See `request_headers`: Content-Type.",
    422: "See `request_mapping`: the endpoint does not accept this body.",
    429: "Lower max_concurrency, or set requests_per_minute to what the endpoint allows.",
}


async def send_request(
    client: httpx.AsyncClient, request: httpx.Request, endpoint: EndpointContext, *, timeout_s: float
) -> bytes:
    """Send a request and return the body. Redirects on the same server that keep the method are followed.

    Raises:
        EndpointError: there is no usable response.
        TransientError: a retry may succeed.
    """
    import httpx

    with anyio.move_on_after(timeout_s):
        for _ in range(_MOST_REDIRECTS):
            response, body = await _send_once(client, request, endpoint, timeout_s)
            if response.status_code < 300:
                return body
            if (target := _allowed_redirect(request, response)) is None:
                raise _response_error(response, body, endpoint)
            headers = request.headers.raw
            request = httpx.Request(request.method, target, headers=headers, content=request.content)
        raise endpoint.fail(f"is redirected more than {_MOST_REDIRECTS} times", kind="http_error")
    raise endpoint.fail(
        f"no answer within {timeout_s:g} s",
        kind="timeout",
        advice="Is the endpoint up? timeout_seconds allows more time.",
    )


async def _send_once(
    client: httpx.AsyncClient, request: httpx.Request, endpoint: EndpointContext, timeout_s: float
) -> tuple[httpx.Response, bytes]:
    import httpx

    # Only to connect: the whole call has a limit of its own, and to httpx a missing key means no limit.
    request.extensions["timeout"] = {"connect": min(_CONNECT_S, timeout_s)}
    try:
        response = await client.send(request, stream=True, auth=None, follow_redirects=False)
        parts: list[bytes] = []
        size = 0
        try:
            async for part in response.aiter_bytes():
                size += len(part)
                if size > LARGEST_RESPONSE:  # counted when decompressed: a small answer may grow without limit
                    message = f"the answer is larger than {LARGEST_RESPONSE:,} bytes"
                    raise endpoint.fail(message, kind="http_error", status=response.status_code)
                parts.append(part)
        finally:
            await response.aclose()
        return response, b"".join(parts)
    except httpx.HTTPError as error:
        message = f"{type(error).__name__}: {endpoint.sanitize(str(error)) or 'no details'}"
        failure = endpoint.fail(message, kind="network_error", advice="Is the address right, and is the endpoint up?")
        permanent = (httpx.LocalProtocolError, httpx.UnsupportedProtocol, httpx.DecodingError)
        if isinstance(error, permanent) or "CERTIFICATE_VERIFY_FAILED" in str(error):  # httpx has no type for it
            raise failure from None
        raise TransientError(failure) from None
    except httpx.InvalidURL as error:
        raise endpoint.fail(f"is not an address: {error}", kind="configuration_error") from None


def _response_error(response: httpx.Response, body: bytes, endpoint: EndpointContext) -> Exception:
    status = response.status_code
    if 300 <= status < 400:
        target = urlsplit(urljoin(str(response.request.url), response.headers.get("location", "")))
        port = f":{target.port}" if target.port else ""
        where = endpoint.sanitize(f"{target.scheme}://{target.hostname}{port}{target.path}")
        return endpoint.fail(
            f"answered {status}: it is redirected to {where}, which is not followed",
            kind="http_error",
            status=status,
            advice="If messages and their headers may go there, use this address as `url`.",
        )
    error = status_error(status, body, endpoint)
    if status not in RETRYABLE_STATUSES:
        return error
    return TransientError(error, after_s=retry_after_s(response.headers, time.time()))


def status_error(status: int, body: bytes, endpoint: EndpointContext) -> EndpointError:
    """The error for a response with this status."""
    # `in HTTPStatus` raises a TypeError before Python 3.12.
    word = HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else "of no known meaning"
    advice = _ADVICE.get(status, "The endpoint failed; see its log." if status >= 500 else "")
    return endpoint.fail(f"answered {status} ({word})", kind="http_error", body=body, status=status, advice=advice)


def _allowed_redirect(request: httpx.Request, response: httpx.Response) -> httpx.URL | None:
    """The target of a redirect, if it is on the same server, so that no other server gets the credentials."""
    status, location = response.status_code, response.headers.get("location")
    is_kept = status in _SAME_METHOD or (request.method == "GET" and status in (301, 302, 303))
    if not location or not is_kept:
        return None
    try:
        target = request.url.join(location)
    except Exception:  # untrusted input
        return None
    url = request.url
    is_same_server = (target.scheme, target.host, target.port) == (url.scheme, url.host, url.port)
    return target if is_same_server and target.userinfo in (b"", url.userinfo) else None


_IN_REQUEST: ContextVar[bool] = ContextVar("scoregate_endpoint_request", default=False)


# httpx logs complete URLs, and a query parameter may be an API key.
logging.getLogger("httpx").addFilter(lambda _: not _IN_REQUEST.get())


class ClientPool:
    """The clients of one event loop. Each message has a client to itself, whose connection is then reused."""

    def __init__(self) -> None:
        import httpx

        self._trust = httpx.create_ssl_context()  # loading the certificates takes long, so all clients share them
        self._all: list[httpx.AsyncClient] = []
        self._idle: list[httpx.AsyncClient] = []

    @contextmanager
    def one(self) -> Iterator[httpx.AsyncClient]:
        """An idle client, or a new one."""
        import httpx

        if self._idle:
            client = self._idle.pop()
        else:
            # Many servers, such as uvicorn, close idle connections after five seconds. Do not reuse one just then.
            limits = httpx.Limits(max_connections=2, max_keepalive_connections=1, keepalive_expiry=3.0)
            # One pool of 50 connections looked at all of them at each request: messages took four times as long.
            client = httpx.AsyncClient(verify=self._trust, limits=limits)
            self._all.append(client)
        token = _IN_REQUEST.set(True)
        try:
            yield client
        finally:
            _IN_REQUEST.reset(token)
            self._idle.append(client)

    async def aclose(self) -> None:
        """Close all clients. A failure to close one is ignored."""
        for client in self._all:
            with suppress(Exception):
                await client.aclose()


_LONGEST_COMMAND = 200
_SENSITIVE_PARTS = re.compile(r"//[^/?#@]*@|[?#].*$")
_SCHEMES = {
    "REST": {"http": "http", "https": "https"},
    "WebSocket": {"ws": "ws", "wss": "wss", "http": "ws", "https": "wss"},
    "MCP": {"http": "http", "https": "https"},
}


def display_address(definition: StoredEndpoint) -> str:
    """The address for messages: variables by name, without user, password and query."""
    if definition.connection_type == "SDK":
        return definition.function
    if definition.command:
        return " ".join(definition.command)[:_LONGEST_COMMAND]
    method = f"{definition.method} " if definition.connection_type == "REST" else ""
    return method + without_parameters(_join_url(definition.url, definition.endpoint_path))


def without_parameters(url: str) -> str:
    """A URL without the parts that may be secret."""
    return _SENSITIVE_PARTS.sub(lambda match: "//" if match[0].startswith("//") else "", url)


def resolve_address(definition: StoredEndpoint, endpoint: EndpointContext) -> str:
    """The URL of an endpoint.

    Raises:
        EndpointError: a variable is not set, or the scheme does not fit the connection type.
    """
    parts = urlsplit(_join_url(endpoint.fill(definition.url), endpoint.fill(definition.endpoint_path)))
    known = _SCHEMES[definition.connection_type]
    if parts.scheme not in known or not parts.hostname:
        endpoint.misconfigured(
            f"this is not an address with {' or '.join(sorted(known))}",
            f"Such as {next(iter(known))}://localhost:8000/chat.",
        )
    return urlunsplit(parts._replace(scheme=known[parts.scheme], fragment=""))


def _join_url(url: str, path: str) -> str:
    """Insert the path before the query of the URL."""
    if not path:
        return url
    before, mark, parameters = url.partition("?")
    return f"{before.rstrip('/')}/{path.lstrip('/')}{mark}{parameters}"
