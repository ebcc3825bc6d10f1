"""Which requests of HTTP clients name their case: those to the gateway, also of a library that is imported later."""

from __future__ import annotations

import asyncio
import http.client
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from scoregate.engine import client_headers
from scoregate.engine.environment import name_calls_at_gateway
from scoregate.kernel.types.call_headers import ADDRESS_VARIABLE
from scoregate.kernel.types.usage import METER, UsageMeter

LIBRARY = """
class Client:
    def send(self, request, *args, **options):
        "Send it."
        return request.headers, args, options

class AsyncClient:
    async def send(self, request, *args, **options):
        return request.headers, args, options
"""


class Socket:
    """Takes what a connection sends."""

    def __init__(self) -> None:
        self.sent = b""

    def sendall(self, data: bytes) -> None:
        self.sent += data

    def close(self) -> None: ...


@pytest.fixture(autouse=True)
def _case(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A case runs, and every patch is taken back after the test."""
    monkeypatch.setattr(http.client.HTTPConnection, "endheaders", http.client.HTTPConnection.endheaders)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    for name in ("httpx", "httpx2"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    client_headers.name_calls.cache_clear()
    token = METER.set(UsageMeter(2, "c", suite="s"))
    yield
    METER.reset(token)
    client_headers.name_calls.cache_clear()


def post(host: str, port: int) -> str:
    """What is sent to a host."""
    connection = http.client.HTTPConnection(host, port)
    connection.sock = socket = Socket()  # type: ignore[assignment]
    connection.request("POST", "/v1", b"{}", {"X-Own": "1"})
    return socket.sent.decode().lower()


def test_a_request_names_its_case_if_host_and_port_are_those_of_the_gateway(monkeypatch: pytest.MonkeyPatch) -> None:
    for address, host, port, named in (
        ("http://127.0.0.1:8080", "127.0.0.1", 8080, True),
        ("http://127.0.0.1:8080", "127.0.0.1", 80801, False),
        ("http://127.0.0.1:8080", "127.0.0.2", 8080, False),
        ("http://[::1]:8080", "::1", 8080, True),
        ("http://[::1]:8080", "::2", 8080, False),
    ):
        monkeypatch.setenv(ADDRESS_VARIABLE, address)
        name_calls_at_gateway()
        sent = post(host, port)
        assert ("x-scoregate-case: c\r\n" in sent, "x-own: 1\r\n" in sent) == (named, True), (address, host)


def test_without_a_gateway_nothing_is_patched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ADDRESS_VARIABLE, raising=False)
    before = http.client.HTTPConnection.endheaders, list(sys.meta_path)
    name_calls_at_gateway()
    assert (http.client.HTTPConnection.endheaders, sys.meta_path) == before


def test_a_library_that_is_imported_later_names_its_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "httpx2.py").write_text(LIBRARY, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv(ADDRESS_VARIABLE, "http://127.0.0.1:8080")
    name_calls_at_gateway()
    assert "httpx2" not in sys.modules
    library: Any = importlib.import_module("httpx2")
    assert library.__file__ == str(tmp_path / "httpx2.py")
    assert library.Client.send.__doc__ == "Send it."

    def request(url: str, **headers: str) -> Any:
        return SimpleNamespace(url=url, headers=headers)

    gateway = "http://127.0.0.1:8080/openai"
    named = {"x-scoregate-suite": "s", "x-scoregate-case": "c", "x-scoregate-repeat": "2"}
    assert library.Client().send(request(gateway), 1, stream=True) == (named, (1,), {"stream": True})
    assert asyncio.run(library.AsyncClient().send(request(gateway), 1, a=2)) == (named, (1,), {"a": 2})
    for other in ("http://127.0.0.1:8080", "http://127.0.0.1:80800/openai", "https://api.openai.com/v1"):
        assert library.Client().send(request(other))[0] == {}
    own = {"x-scoregate-case": "own"}
    assert library.Client().send(request(gateway, **own))[0] == own
    monkeypatch.delitem(sys.modules, "httpx2")
