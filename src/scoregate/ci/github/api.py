"""GitHub's REST API: pages, retries that do no harm, and refusals in words."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias

import anyio

from scoregate import __version__
from scoregate.ci.github.answers import parse_json, read_bounded, rows_at
from scoregate.ci.github.refusals import refusal
from scoregate.ci.github.waiting import Patience, seconds_to_wait
from scoregate.errors import GitHubRefused

if TYPE_CHECKING:
    import httpx  # a heavy import, which a run outside of jobs does without

VERSION = "2022-11-28"
TRIES = 4
MOST_PAGES = 50
_TIMEOUT = (10.0, 20.0, 20.0, 20.0)  # to connect, read, write, and get a connection
Json: TypeAlias = Any
Arrived: TypeAlias = Callable[[], Awaitable[Json | None]]


@dataclass(frozen=True, slots=True)
class Api:
    """One repository, through an open client. Paths are below the repository unless they start with a slash.

    All requests together share one `patience`: a GitHub that is down costs its time once, not for each of them.
    """

    client: httpx.AsyncClient = field(repr=False)
    repository: str
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep
    patience: Patience = field(default_factory=Patience)

    async def get(self, path: str, **query: str | int) -> Json:
        """One answer.

        Raises:
            GitHubRefused: there is none, after a few tries.
        """
        return _content(path, await self._request("GET", path, query=query))

    async def pages(self, path: str, key: str = "", **query: str | int) -> AsyncIterator[Json]:
        """The items of every page, one by one.

        Args:
            key: of the list, where an answer is an object that holds it.

        Raises:
            GitHubRefused: as for `get`; or there is no such list of objects, or the next page is at another address.
        """
        url, given = self._url(path), {"per_page": 100, **query}
        for _ in range(MOST_PAGES):
            answer = await self._request("GET", url, query=given)
            for item in rows_at(_content(path, answer), *filter(None, (key,))):
                yield item
            url, given = self._next(path, answer), {}
            if not url:
                return

    async def raw(self, path: str, **query: str | int) -> bytes:
        """The content of a file or a blob itself.

        Raises:
            GitHubRefused: as for `get`.
        """
        answer = await self._request("GET", path, query=query, accept="application/vnd.github.raw+json")
        return answer.content

    async def patch(self, path: str, body: Mapping[str, Json]) -> Json:
        """Change something; sent again where no answer came, since twice is as good as once.

        Raises:
            GitHubRefused: it was not changed.
        """
        return _content(path, await self._request("PATCH", path, body=body))

    async def post(self, path: str, body: Mapping[str, Json], *, arrived: Arrived | None = None) -> Json:
        """Make something.

        Args:
            arrived: looks whether it was made after all, where no answer came; without it, twice does no harm.

        Raises:
            GitHubRefused: it was not made, or nobody knows.
        """
        return _content(path, await self._request("POST", path, body=body, arrived=arrived))

    @asynccontextmanager
    async def stream(self, path: str) -> AsyncIterator[httpx.Response]:
        """A download, from where the API redirects to; that host never gets our token.

        Raises:
            GitHubRefused: there is nothing to download.
        """
        import httpx

        answer = await self._request("GET", path, redirected=True)
        try:
            # A client of its own, since ours carries the token.
            async with (
                httpx.AsyncClient(timeout=_TIMEOUT, headers={"Accept-Encoding": "identity"}) as client,
                client.stream("GET", answer.headers.get("location", "")) as download,
            ):
                if not download.is_success:
                    raise GitHubRefused(f"the download answered {download.status_code}", status=download.status_code)
                yield download
        except httpx.RequestError as error:
            raise refusal("GET", path, error) from None
        except httpx.InvalidURL:
            raise GitHubRefused(f"GitHub, GET {path}: it redirects to an address that is none") from None

    async def _request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str | int] | None = None,
        body: Mapping[str, Json] | None = None,
        accept: str = "application/vnd.github+json",
        arrived: Arrived | None = None,
        redirected: bool = False,
    ) -> httpx.Response:
        request = self.client.build_request(
            method, self._url(path), params=query or None, json=body, headers={"Accept": accept}
        )
        for number in count(1):
            started = anyio.current_time()
            answer = await self._sent(request)
            if not isinstance(answer, Exception) and _is_answer(answer, redirected):
                return answer
            pause = seconds_to_wait(answer, number)
            lost = anyio.current_time() - started
            if pause is None or number == TRIES or not self.patience.lasts(lost, pause):
                break
            await self.sleep(pause)
            if arrived is not None and (made := await arrived()) is not None:
                import httpx

                return httpx.Response(200, json=made)
        raise refusal(method, path, answer)

    async def _sent(self, request: httpx.Request) -> httpx.Response | httpx.RequestError:
        import httpx

        try:
            answer = await self.client.send(request, stream=True)
            try:
                return await read_bounded(answer)
            finally:
                await answer.aclose()
        except httpx.RequestError as error:
            return error

    def _url(self, path: str) -> str:
        return path if path.startswith(("/", "http")) else f"/repos/{self.repository}/{path}"

    def _next(self, path: str, answer: httpx.Response) -> str:
        """The next page; only of the same scheme, host and port, since our token goes there."""
        import httpx

        url = answer.links.get("next", {}).get("url", "")
        try:
            there = httpx.URL(url)
        except httpx.InvalidURL:
            there = httpx.URL("")
        ours = self.client.base_url
        if url and (there.scheme, there.netloc, there.userinfo) != (ours.scheme, ours.netloc, b""):
            raise GitHubRefused(f"GitHub, {path}: the next page is at another address; the token is not sent there")
        return url


def _is_answer(answer: httpx.Response, redirected: bool) -> bool:
    return answer.has_redirect_location if redirected else answer.is_success


def _content(path: str, answer: httpx.Response) -> Json:
    """The JSON of an answer; whatever stands between us and GitHub may have answered something else."""
    try:
        found = parse_json(answer.content)
    except ValueError:
        found = None
    if isinstance(found, dict | list):
        return found
    raise GitHubRefused(f"GitHub, {path}: the answer is no JSON that can be read", status=answer.status_code)


@asynccontextmanager
async def open_api(api_url: str, repository: str, token: str, *, stop: anyio.Event | None = None) -> AsyncIterator[Api]:
    """A client for one repository.

    Args:
        api_url: such as `https://api.github.com`. repository: `owner/name`.
        stop: once it is set, nothing is tried a second time.
    """
    headers = {
        "Authorization": f"Bearer {token}",
        "X-GitHub-Api-Version": VERSION,
        "User-Agent": f"scoregate/{__version__}",
    }
    import httpx

    async with httpx.AsyncClient(base_url=api_url, headers=headers, timeout=_TIMEOUT) as client:
        yield Api(client, repository, patience=Patience(stop=stop))
