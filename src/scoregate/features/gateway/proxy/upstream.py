"""Connections to providers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import lru_cache
from urllib.request import getproxies, proxy_bypass

import aiohttp
from yarl import URL

from scoregate.features.gateway.proxy.questions import Question, Refusal

MAX_CONNECTIONS = 200
MAX_ANSWER_BYTES = 128 * 1024 * 1024
_CONNECT_TIMEOUT_S = 20.0
_READ_TIMEOUT_S = 600.0
_NOT_FORWARDED = {
    "accept-encoding", "api-key", "authorization", "connection", "content-length", "cookie", "expect", "forwarded",
    "host", "keep-alive", "origin", "proxy-authorization", "proxy-connection", "referer", "te", "trailer",
    "transfer-encoding", "upgrade", "via", "x-api-key", "x-goog-api-key", "x-real-ip",
}  # fmt: skip
_PREFIXES = ("x-scoregate-", "x-forwarded-", "sec-", "proxy-")
_NOT_RETURNED = {
    "connection", "content-encoding", "content-length", "keep-alive", "location", "proxy-authenticate", "server",
    "set-cookie", "strict-transport-security", "te", "trailer", "transfer-encoding", "upgrade", "www-authenticate",
}  # fmt: skip


def filter_request_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers of a suite's request that a provider gets: without keys, cookies, and those of the connection."""
    return {
        name: value for name, value in headers.items() if name not in _NOT_FORWARDED and not name.startswith(_PREFIXES)
    }


def filter_response_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers of a provider's answer that a suite gets, with names in lower case."""
    lower = ((name.lower(), value) for name, value in headers.items())
    return {name: value for name, value in lower if name not in _NOT_RETURNED}


class Upstream:
    """A pool of connections to all providers. It follows no redirect, so that a key goes to its provider only."""

    def __init__(self) -> None:
        # A long answer may take any time, if it isn't silent.
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_TIMEOUT_S, sock_read=_READ_TIMEOUT_S)
        self._client = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=MAX_CONNECTIONS, ttl_dns_cache=60),
            timeout=timeout,
            cookie_jar=aiohttp.DummyCookieJar(),  # a cookie for one suite must not reach the calls of another
            auto_decompress=True,
            skip_auto_headers=("User-Agent", "Content-Type", "Accept"),  # the provider gets what the suite sent
        )

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()

    @asynccontextmanager
    async def send(
        self, question: Question, headers: Mapping[str, str], body: bytes
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Send a question to its provider; the block reads the answer.

        Args:
            question: the question.
            headers: the headers of the suite's request.
            body: the body to send.

        Raises:
            Refusal: there is no connection, or the provider redirects to another address.
        """
        provider = question.provider
        query = f"?{question.query}" if question.query else ""
        url = URL(f"{provider.base_url}/{question.path}{query}", encoded=True)
        request_headers = {**filter_request_headers(headers), "accept-encoding": "identity", **provider.key_headers()}
        try:
            async with self._client.request(
                question.method,
                url,
                headers=request_headers,
                data=body or None,
                allow_redirects=False,
                proxy=_find_proxy(provider.base_url),
            ) as response:
                if 300 <= response.status < 400 and response.status != 304:
                    raise Refusal(
                        502,
                        "redirect_refused",
                        f"{provider.host} redirects to another address; the gateway never follows with a key",
                    )
                yield response
        except (TimeoutError, aiohttp.ClientConnectorError, aiohttp.ServerTimeoutError) as error:
            reason = "no answer in time" if isinstance(error, asyncio.TimeoutError) else "no connection"
            is_sent = not isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError)
            code = "provider_failed" if is_sent else "provider_unreachable"
            raise Refusal(502, code, f"{reason} from {provider.host}") from None
        except aiohttp.ClientError as error:
            message = f"the answer of {provider.host} broke off ({type(error).__name__})"
            raise Refusal(502, "provider_failed", message) from None


async def read_answer(response: aiohttp.ClientResponse) -> bytes:
    """Read the body of an answer.

    Raises:
        Refusal: it is too large.
    """
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > MAX_ANSWER_BYTES:
            raise Refusal(502, "answer_too_large", f"an answer is larger than {MAX_ANSWER_BYTES:,} bytes")
    return bytes(body)


@lru_cache(maxsize=64)
def _find_proxy(address: str) -> str | None:
    """The proxy of the environment for an address.

    With `trust_env`, aiohttp looks for it in a thread for each call, and reads passwords for providers from ~/.netrc.
    """
    url = URL(address)
    return None if proxy_bypass(url.host or "") else getproxies().get(url.scheme)
