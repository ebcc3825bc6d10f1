"""One request over HTTP and its answer, bounded in time and size; what is no good answer is an error that says so."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

import anyio

from scoregate.endpoints.retries import PASSING, Passing, retry_after_s
from scoregate.endpoints.surroundings import Surroundings
from scoregate.errors import EndpointError

if TYPE_CHECKING:
    import httpx

LARGEST = 8 * 1024 * 1024
_CONNECT_S = 10.0
_MOST_REDIRECTS = 3
_SAME_METHOD = frozenset({307, 308})
_ADVICE = {
    400: "See `request_mapping`: the endpoint does not take such a body.",
    401: "See `auth`: the endpoint takes no such token or key.",
    403: "See `auth`: whose token or key this is may not do that.",
    404: "See `url` and `endpoint_path`: there is nothing at this address.",
    405: "See `method`.",
    413: "The body is too large for the endpoint.",
    415: "See `request_headers`: Content-Type.",
    422: "See `request_mapping`: the endpoint does not take such a body.",
    429: "Lower max_concurrency, or set requests_per_minute to what the endpoint allows.",
}


async def sent(client: httpx.AsyncClient, request: httpx.Request, place: Surroundings, *, timeout_s: float) -> bytes:
    """The body of the answer. Redirects are followed where they lead to the same place and change nothing of a request.

    Raises:
        EndpointError: there is none, or none that can be used. Passing: there may be one the next time.
    """
    with anyio.move_on_after(timeout_s):
        for _ in range(_MOST_REDIRECTS):
            response, body = await _once(client, request, place, timeout_s)
            if response.status_code < 300:
                return body
            if (to := _same_place(request, response)) is None:
                raise _refusal(response, body, place)
            request = _moved(request, to)
        raise place.fail(f"is redirected more than {_MOST_REDIRECTS} times", kind="http_error")
    raise place.fail(
        f"no answer within {timeout_s:g} s", kind="timeout", advice="timeout_seconds allows more; is the endpoint well?"
    )


async def _once(
    client: httpx.AsyncClient, request: httpx.Request, place: Surroundings, timeout_s: float
) -> tuple[httpx.Response, bytes]:
    import httpx

    request.extensions["timeout"] = {"connect": min(_CONNECT_S, timeout_s)}
    try:
        response = await client.send(request, stream=True, auth=None, follow_redirects=False)
        try:
            return response, await _read(response, place)
        finally:
            await response.aclose()
    except httpx.HTTPError as error:
        raise _broken(error, place) from None
    except httpx.InvalidURL as error:
        raise place.fail(f"is no address: {error}", kind="configuration_error") from None


async def _read(response: httpx.Response, place: Surroundings) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for part in response.aiter_bytes():
        size += len(part)
        if size > LARGEST:
            raise place.fail(
                f"the answer is larger than {LARGEST:,} bytes", kind="http_error", status=response.status_code
            )
        parts.append(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _broken(error: httpx.HTTPError, place: Surroundings) -> Exception:
    import httpx

    said = f"{type(error).__name__}: {place.shown(str(error)) or 'no word why'}"
    failure = place.fail(said, kind="network_error", advice="Is the address right, and is the endpoint up?")
    final = (httpx.LocalProtocolError, httpx.UnsupportedProtocol, httpx.DecodingError)
    return failure if isinstance(error, final) or "CERTIFICATE_VERIFY_FAILED" in str(error) else Passing(failure)


def _refusal(response: httpx.Response, body: bytes, place: Surroundings) -> Exception:
    status = response.status_code
    if 300 <= status < 400:
        return _redirected(response, place)
    error = refused(status, body, place)
    return Passing(error, after_s=retry_after_s(response.headers)) if status in PASSING else error


def refused(status: int, body: bytes, place: Surroundings) -> EndpointError:
    """The error for an answer with this status."""
    word = HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else "of no known meaning"
    advice = _ADVICE.get(status, "The endpoint failed; see its log." if status >= 500 else "")
    return place.fail(f"answered {status} ({word})", kind="http_error", body=body, status=status, advice=advice)


def _redirected(response: httpx.Response, place: Surroundings) -> EndpointError:
    to = urlsplit(urljoin(str(response.request.url), response.headers.get("location", "")))
    where = place.shown(f"{to.scheme}://{to.hostname}{f':{to.port}' if to.port else ''}{to.path}")
    return place.fail(
        f"answered {response.status_code}: it is redirected to {where}, which is not followed",
        kind="http_error",
        status=response.status_code,
        advice="If that is where messages are to go, headers and all, write it as `url`.",
    )


def _same_place(request: httpx.Request, response: httpx.Response) -> httpx.URL | None:
    """Where a redirect leads that may be followed: the same server, so that nobody else gets the credentials."""
    status, location = response.status_code, response.headers.get("location")
    is_kept = status in _SAME_METHOD or (request.method == "GET" and status in (301, 302, 303))
    if not location or not is_kept:
        return None
    try:
        to = request.url.join(location)
    except Exception:  # an address of anybody's
        return None
    here = (request.url.scheme, request.url.host, request.url.port)
    return to if (to.scheme, to.host, to.port) == here and to.userinfo in (b"", request.url.userinfo) else None


def _moved(request: httpx.Request, to: httpx.URL) -> httpx.Request:
    import httpx

    return httpx.Request(request.method, to, headers=request.headers.raw, content=request.content)
