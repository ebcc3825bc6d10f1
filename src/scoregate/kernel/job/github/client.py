"""GitHub's REST API: requests, retries and error messages."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias

import anyio

from scoregate import __version__
from scoregate.errors import GitHubRefused
from scoregate.kernel.job.github.responses import parse_json, read_bounded, rows_at
from scoregate.kernel.types.backoff import backoff_s, parse_number, retry_after_s
from scoregate.kernel.types.records import record

if TYPE_CHECKING:  # these take a while to import, and most commands never call GitHub
    import ssl

    import httpx

VERSION = "2022-11-28"
TRIES = 4
MOST_PAGES = 50
LONGEST_DELAY_S = 60.0
RETRY_BUDGET_S = 180.0
_TIMEOUT = (10.0, 20.0, 20.0, 20.0)  # to connect, read, write, and get a connection
_SERVER_ERRORS = (500, 502, 503, 504)
_LIMITED = (403, 429)
_NOT_FOUND = 404
Json: TypeAlias = Any
FindCreated: TypeAlias = Callable[[], Awaitable[Json | None]]


@dataclass(slots=True)
class RetryBudget:
    """The seconds that failed tries and the delays between them may take in total.

    Nothing is retried if no time is left or once `stop` is set.
    """

    left_s: float = RETRY_BUDGET_S
    stop: anyio.Event | None = None

    def spend(self, lost_s: float, delay_s: float) -> bool:
        """Subtract a failed try and the delay after it, in seconds; False if there is no time for the delay."""
        self.left_s -= lost_s
        if delay_s > self.left_s or (self.stop is not None and self.stop.is_set()):
            return False
        self.left_s -= delay_s
        return True


@record
class Api:
    """One repository, through an open client. Paths are below the repository unless they start with a slash.

    All requests share one retry budget, so an outage of GitHub costs this time once, not for every request.
    """

    client: httpx.AsyncClient = field(repr=False)
    repository: str
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep
    retry_budget: RetryBudget = field(default_factory=RetryBudget)

    async def get(self, path: str, **query: str | int) -> Json:
        """The JSON of one response.

        Raises:
            GitHubRefused: there is none after a few tries.
        """
        return _parse_content(path, await self._request("GET", path, query=query))

    async def pages(self, path: str, key: str = "", **query: str | int) -> AsyncIterator[Json]:
        """The items of every page, one by one.

        Args:
            path: the path of the list.
            key: the key of the list, if the response is an object.
            query: the parameters of the first page.

        Raises:
            GitHubRefused: as for `get`; or there is no such list of objects, or the next page is at another address.
        """
        url, parameters = self._url(path), {"per_page": 100, **query}
        for _ in range(MOST_PAGES):
            response = await self._request("GET", url, query=parameters)
            for item in rows_at(_parse_content(path, response), *filter(None, (key,))):
                yield item
            url, parameters = self._next_url(path, response), {}
            if not url:
                return

    async def raw(self, path: str, **query: str | int) -> bytes:
        """The content of a file or a blob itself.

        Raises:
            GitHubRefused: as for `get`.
        """
        response = await self._request("GET", path, query=query, accept="application/vnd.github.raw+json")
        return response.content

    async def patch(self, path: str, body: Mapping[str, Json]) -> Json:
        """Send a change. It is sent again if there is no response, since repeating it does no harm.

        Raises:
            GitHubRefused: the change failed.
        """
        return _parse_content(path, await self._request("PATCH", path, body=body))

    async def delete(self, path: str) -> None:
        """Delete an object. It is deleted again if there is no response, and a missing one is as good as deleted.

        Raises:
            GitHubRefused: it could not be deleted.
        """
        try:
            await self._request("DELETE", path)
        except GitHubRefused as refused:
            if refused.status != _NOT_FOUND:
                raise

    async def post(self, path: str, body: Mapping[str, Json], *, find_created: FindCreated | None = None) -> Json:
        """Create an object.

        Args:
            path: the path of its collection.
            body: its fields.
            find_created: finds the object if it was created although there was no response. Without it, creating it
                twice must do no harm.

        Raises:
            GitHubRefused: it was not created, or this is unknown.
        """
        return _parse_content(path, await self._request("POST", path, body=body, find_created=find_created))

    @asynccontextmanager
    async def stream(self, path: str) -> AsyncIterator[httpx.Response]:
        """Download from the address that the API redirects to. That host never gets the token.

        Raises:
            GitHubRefused: there is nothing to download.
        """
        import httpx

        redirect = await self._request("GET", path, redirect=True)
        try:
            # A client of its own, because the API's client carries the token.
            async with (
                httpx.AsyncClient(
                    timeout=_TIMEOUT, headers={"Accept-Encoding": "identity"}, verify=_load_trust()
                ) as client,
                client.stream("GET", redirect.headers.get("location", "")) as download,
            ):
                if not download.is_success:
                    raise GitHubRefused(
                        f"GitHub, GET {path}: the download failed with status {download.status_code}",
                        status=download.status_code,
                    )
                yield download
        except httpx.RequestError as error:
            raise make_error("GET", path, error) from None
        except httpx.InvalidURL:
            raise GitHubRefused(f"GitHub, GET {path}: the address of the download is not valid") from None

    async def _request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str | int] | None = None,
        body: Mapping[str, Json] | None = None,
        accept: str = "application/vnd.github+json",
        find_created: FindCreated | None = None,
        redirect: bool = False,
    ) -> httpx.Response:
        import httpx

        request = self.client.build_request(
            method, self._url(path), params=query or None, json=body, headers={"Accept": accept}
        )
        for number in count(1):
            started = anyio.current_time()
            response: httpx.Response | httpx.RequestError
            try:
                response = await read_bounded(await self.client.send(request, stream=True))
            except httpx.RequestError as error:
                response = error
            else:
                if response.has_redirect_location if redirect else response.is_success:
                    return response
            delay_s = retry_delay_s(response, number)
            lost_s = anyio.current_time() - started
            if delay_s is None or number == TRIES or not self.retry_budget.spend(lost_s, delay_s):
                break
            await self.sleep(delay_s)
            # The response that was lost may have been that of a success.
            if find_created is not None and (created := await find_created()) is not None:
                return httpx.Response(200, json=created)
        raise make_error(method, path, response)

    def _url(self, path: str) -> str:
        return path if path.startswith(("/", "http")) else f"/repos/{self.repository}/{path}"

    def _next_url(self, path: str, response: httpx.Response) -> str:
        """The URL of the next page. It must have the same scheme, host and port, because the token is sent there."""
        import httpx

        url = response.links.get("next", {}).get("url", "")
        try:
            parsed = httpx.URL(url)
        except httpx.InvalidURL:
            parsed = httpx.URL("")
        own = self.client.base_url
        if url and (parsed.scheme, parsed.netloc, parsed.userinfo) != (own.scheme, own.netloc, b""):
            raise GitHubRefused(f"GitHub, {path}: the next page is at another address; the token is not sent there")
        return url


@asynccontextmanager
async def open_api(api_url: str, repository: str, token: str, *, stop: anyio.Event | None = None) -> AsyncIterator[Api]:
    """A client for one repository.

    Args:
        api_url: such as `https://api.github.com`.
        repository: `owner/name`.
        token: sent with every request.
        stop: once it is set, nothing is retried.
    """
    import httpx

    headers = {
        "Authorization": f"Bearer {token}",
        "X-GitHub-Api-Version": VERSION,
        "User-Agent": f"scoregate/{__version__}",
    }
    async with httpx.AsyncClient(base_url=api_url, headers=headers, timeout=_TIMEOUT, verify=_load_trust()) as client:
        yield Api(client, repository, retry_budget=RetryBudget(stop=stop))


@cache
def _load_trust() -> ssl.SSLContext:
    """The certificates that connections trust. Reading them takes about 30 ms, and a job opens several clients."""
    import httpx

    return httpx.create_ssl_context()


def _parse_content(path: str, response: httpx.Response) -> Json:
    """The JSON of a response; a proxy may have answered something else."""
    try:
        content = parse_json(response.content)
    except ValueError:
        content = None
    if isinstance(content, dict | list):
        return content
    raise GitHubRefused(f"GitHub, {path}: the response is not valid JSON", status=response.status_code)


def retry_delay_s(response: httpx.Response | httpx.RequestError, tries: int) -> float | None:
    """Seconds until a retry makes sense; None if it never does, or not within a minute.

    Args:
        response: the response, or the error of the connection.
        tries: the number of tries so far.
    """
    if isinstance(response, Exception):
        return backoff_s(tries, first_s=1.0)
    if response.status_code in _SERVER_ERRORS:
        return min(_header_delay_s(response) or backoff_s(tries, first_s=1.0), LONGEST_DELAY_S)
    if not is_rate_limited(response):
        return None
    header_s = _header_delay_s(response)
    delay_s = header_s if header_s is not None else backoff_s(tries, first_s=5.0)
    return delay_s if delay_s <= LONGEST_DELAY_S else None


def is_rate_limited(response: httpx.Response) -> bool:
    """Whether GitHub refuses the request because of a rate limit."""
    if response.status_code not in _LIMITED:
        return False
    # Secondary limits are named in the text only.
    by_headers = "retry-after" in response.headers or response.headers.get("x-ratelimit-remaining") == "0"
    return response.status_code == 429 or by_headers or "rate limit" in response.text[:2000].lower()


def _header_delay_s(response: httpx.Response) -> float | None:
    now = time.time()
    if (delay_s := retry_after_s(response.headers, now)) is not None:
        return delay_s
    reset = parse_number(response.headers.get("x-ratelimit-reset"))
    if reset is not None and response.headers.get("x-ratelimit-remaining") == "0":
        return max(1.0, reset - now)
    return None


_QUERY = re.compile(r"\?.*")
# The permission that a job needs, by the path of the request; the first match counts.
_PERMISSIONS = (
    (re.compile(r"issues/|pulls"), "pull-requests", "write"),
    (re.compile(r"statuses/"), "statuses", "write"),
    (re.compile(r"/rerun-failed-jobs$"), "actions", "write"),
    (re.compile(r"check-runs"), "checks", "write"),
    (re.compile(r"actions/"), "actions", "read"),
    (re.compile(r"git/"), "contents", "write"),
    (re.compile(r"commits|compare/|/activity(?:\?|$)"), "contents", "read"),
)


def make_error(method: str, path: str, response: httpx.Response | httpx.RequestError) -> GitHubRefused:
    """The error for a request that failed."""
    request = f"GitHub, {method} {_QUERY.sub('', path)[:200]}"
    if isinstance(response, Exception):
        return GitHubRefused(f"{request}: no response ({type(response).__name__})", advice="Run the job again later.")
    message = _read_message(response)
    return GitHubRefused(
        f"{request}: {response.status_code} {message}",
        advice=_find_advice(method, path, response.status_code, message=message, limited=is_rate_limited(response)),
        status=response.status_code,
    )


def _read_message(response: httpx.Response) -> str:
    try:
        content = parse_json(response.content)
    except ValueError:
        return response.reason_phrase
    parts = [content.get("message"), *_read_details(content.get("errors"))] if isinstance(content, dict) else []
    return ": ".join(str(part) for part in parts if part)[:300] or response.reason_phrase


def _read_details(errors: object) -> list[str]:
    first = errors[:3] if isinstance(errors, list) else []
    return [str(each.get("message") or each.get("code")) if isinstance(each, dict) else str(each) for each in first]


def _find_advice(method: str, path: str, status: int, *, message: str, limited: bool) -> str:
    if limited:
        return "The token has used up its requests. Run the job again later."
    if status == 401:
        return "The token is missing or no longer valid. Check the input github-token."
    if status == 410:
        return "It was deleted, or issues and pull requests are switched off."
    if "locked" in message.lower():
        return "The conversation is locked. Unlock it, or set `comment: off`."
    if status in (403, 404):
        return _permission_advice(method, path)
    return "GitHub has an outage. Run the job again later." if status >= 500 else ""


def _permission_advice(method: str, path: str) -> str:
    for pattern, name, level in _PERMISSIONS:
        if pattern.search(path):
            needed = "read" if method == "GET" and name != "pull-requests" else level
            return f"Add `{name}: {needed}` to the job's permissions. A fork's pull request never has more than read."
    return ""
