"""Where the fake listens, and how it stops."""

from __future__ import annotations

import subprocess
import sys
import time
from asyncio import BaseEventLoop, TimerHandle
from typing import Any

import httpx
import pytest
from tests.fakes.github import GitHub


def test_an_enterprise_server_has_a_prefix() -> None:
    with GitHub.start(prefix="/api/v3") as server:
        server.repository("acme/shop").commit()
        headers = {"authorization": f"Bearer {server.token(contents='read')}"}
        page = httpx.get(f"{server.url}/repos/acme/shop/commits?per_page=1", headers=headers, timeout=60)
        assert (page.status_code, server.requests[0].path) == (200, "/repos/acme/shop/commits")
        assert page.json()[0]["url"].startswith(f"{server.server_url}/api/v3/repos/acme/shop/")
        viewer = httpx.post(
            server.graphql_url, json={"query": "query { viewer { login } }"}, headers=headers, timeout=60
        )
        assert (viewer.status_code, server.graphql_url) == (200, f"{server.server_url}/api/graphql")
        assert httpx.get(f"{server.server_url}/repos/acme/shop", headers=headers, timeout=60).status_code == 404
        server.violations.clear()


def test_addresses_use_the_given_host() -> None:
    with GitHub.start(listen="0.0.0.0", host="localhost", server_url="https://github.example") as server:
        assert server.url.startswith("http://localhost:")
        assert server.storage.url.startswith("http://localhost:")
        assert server.environment["GITHUB_SERVER_URL"] == "https://github.example"
        assert httpx.get(f"{server.url}/user", timeout=60).status_code == 401


def test_another_process_reaches_it(github: GitHub) -> None:
    code = "import sys, urllib.request as r; r.urlopen(r.Request(sys.argv[1], headers={'Authorization': sys.argv[2]}))"
    subprocess.run([sys.executable, "-c", code, f"{github.url}/user", f"token {github.token('octocat')}"], check=True)
    assert [exchange.path for exchange in github.requests] == ["/user"]


def test_it_starts_and_stops_without_a_look_at_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    waits_s: list[float] = []
    call_at = BaseEventLoop.call_at

    def record_wait(loop: BaseEventLoop, when: float, *arguments: Any, **options: Any) -> TimerHandle:
        waits_s.append(when - loop.time())
        return call_at(loop, when, *arguments, **options)

    monkeypatch.setattr(BaseEventLoop, "call_at", record_wait)
    GitHub.start().close()
    assert waits_s == []


def test_it_stops_despite_slow_answers() -> None:
    with GitHub.start() as server:
        server.slow("GET", "*", 300)
        with pytest.raises(httpx.ReadTimeout):
            httpx.get(f"{server.url}/user", timeout=httpx.Timeout(60, read=0.1))
        started = time.perf_counter()
    assert time.perf_counter() - started < 60
