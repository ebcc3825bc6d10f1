"""Plain HTTP clients name the case of a call to the gateway, and send nothing else to anyone."""

from __future__ import annotations

import asyncio
import http.client
import importlib
import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import httpx2
import pytest
import requests
from tests.fakes.header_echo import serve_headers

from scoregate.engine import client_headers
from scoregate.kernel.types.call_headers import ADDRESS_VARIABLE
from scoregate.kernel.types.usage import METER, UsageMeter, collect_usage


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The gateway of this process; clients are restored after the test."""
    for library in (httpx, httpx2):
        monkeypatch.setattr(library.Client, "send", library.Client.send)
        monkeypatch.setattr(library.AsyncClient, "send", library.AsyncClient.send)
    monkeypatch.setattr(http.client.HTTPConnection, "endheaders", http.client.HTTPConnection.endheaders)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    with serve_headers() as found:
        monkeypatch.setenv(ADDRESS_VARIABLE, found)
        client_headers.name_calls.cache_clear()
        client_headers.name_calls()
        yield found
    client_headers.name_calls.cache_clear()


def post_urllib(url: str, **headers: str) -> Any:
    with urllib.request.urlopen(urllib.request.Request(url, b"{}", headers)) as answer:
        return json.load(answer)


async def _post_async(library: Any, url: str) -> Any:
    async with library.AsyncClient(timeout=60) as client:
        return (await client.post(url, json={})).json()


CLIENTS = {
    "urllib": post_urllib,
    "requests": lambda url: requests.post(url, json={}, timeout=60).json(),
    "httpx": lambda url: httpx.post(url, json={}, timeout=60).json(),
    "httpx2": lambda url: httpx2.post(url, json={}, timeout=60).json(),
    "httpx, async": lambda url: asyncio.run(_post_async(httpx, url)),
    "httpx2, async": lambda url: asyncio.run(_post_async(httpx2, url)),
}
NAMED = {
    "x-scoregate-suite": "1-0.jsonl",
    "x-scoregate-case": "%C3%A4%20b",
    "x-scoregate-repeat": "2",
    "x-scoregate-evaluator": "judge",
}


@pytest.fixture
def case() -> Iterator[None]:
    token = METER.set(UsageMeter(2, "ä b", "judge", suite="1-0.jsonl"))
    yield
    METER.reset(token)


@pytest.mark.usefixtures("case")
def test_each_client_names_the_case(address: str) -> None:
    for name, post in CLIENTS.items():
        assert post(f"{address}/openai/v1/chat/completions") == NAMED, name


@pytest.mark.usefixtures("case")
def test_other_addresses_get_no_headers(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for elsewhere in ("http://127.0.0.1:1", f"{address}0", "https://api.openai.com"):
        monkeypatch.setenv(ADDRESS_VARIABLE, elsewhere)
        for name, post in CLIENTS.items():
            assert post(f"{address}/v1") == {}, (elsewhere, name)


@pytest.mark.usefixtures("case")
def test_headers_of_the_client_stay(address: str) -> None:
    for headers in ({"x-scoregate-case": "own"}, {"x-scoregate-counted": "1"}):
        assert post_urllib(f"{address}/v1", **headers) == headers
        assert httpx.post(f"{address}/v1", json={}, headers=headers, timeout=60).json() == headers


def test_a_thread_without_a_case_names_the_only_suite(address: str) -> None:
    assert post_urllib(f"{address}/v1") == {}
    with collect_usage(UsageMeter(suite="a suite")):
        expected = {"x-scoregate-repeat": "0", "x-scoregate-suite": "a%20suite"}
        assert post_urllib(f"{address}/v1") == expected
        with collect_usage(UsageMeter(suite="another")):
            assert post_urllib(f"{address}/v1") == {}  # it may be of either


LATE = f"""
import sys
from scoregate.kernel.types.usage import METER, UsageMeter
from scoregate.engine.environment import name_calls_at_gateway

name_calls_at_gateway()
name_calls_at_gateway()
assert not sys.modules.keys() & {{"httpx", "httpx2"}}
METER.set(UsageMeter(2, "ä b", "judge", suite="1-0.jsonl"))
import httpx, httpx2, urllib.request, json
url = sys.argv[1] + "/v1"
named = {NAMED!r}
for library in (httpx, httpx2):
    assert library.post(url, json={{}}, timeout=60).json() == named
with urllib.request.urlopen(urllib.request.Request(url, b"")) as answer:
    assert json.load(answer) == named
"""


def test_libraries_that_are_imported_later_name_the_case(address: str) -> None:
    subprocess.run([sys.executable, "-c", LATE, address], check=True, timeout=120)


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """httpx2 is not imported yet. Without a gateway nothing names a case."""
    monkeypatch.delenv(ADDRESS_VARIABLE, raising=False)
    monkeypatch.setattr(http.client.HTTPConnection, "endheaders", http.client.HTTPConnection.endheaders)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    for library in (httpx, httpx2):
        monkeypatch.setattr(library.Client, "send", library.Client.send)
        monkeypatch.setattr(library.AsyncClient, "send", library.AsyncClient.send)
    for name in ("httpx2", "other_module"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))  # so that it is as before after the test
        monkeypatch.delitem(sys.modules, name)
    client_headers.name_calls.cache_clear()
    yield
    client_headers.name_calls.cache_clear()


class SharedLoader(Loader):
    """Finds and loads each of these modules with a client."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def find_spec(self, fullname: str, *_: object) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if fullname in self.names else None

    def exec_module(self, module: Any) -> None:
        module.Client, module.AsyncClient = type("Client", (), {"send": None}), type("AsyncClient", (), {"send": None})


class FixedLoader(SharedLoader):
    """Its methods can't be replaced, like those of a loader in C."""

    def __setattr__(self, name: str, value: object) -> None:
        if name == "exec_module":
            raise AttributeError(name)
        super().__setattr__(name, value)


def import_client(name: str) -> Any:
    return importlib.import_module(name).Client


@pytest.mark.usefixtures("later")
def test_another_module_of_the_same_loader_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "meta_path", [SharedLoader("httpx2", "other_module"), *sys.meta_path])
    client_headers.name_calls()
    assert callable(import_client("httpx2").send)
    assert import_client("other_module").send is None


@pytest.mark.usefixtures("later")
def test_a_loader_in_c_still_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "meta_path", [FixedLoader("httpx2"), *sys.meta_path])
    client_headers.name_calls()
    assert import_client("httpx2").send is None


@pytest.mark.usefixtures("later")
def test_a_folder_with_the_name_of_a_library_can_be_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "httpx2").mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    client_headers.name_calls()
    assert list(importlib.import_module("httpx2").__path__) == [str(tmp_path / "httpx2")]


@pytest.mark.usefixtures("later")
def test_a_library_that_is_not_installed_is_missed_as_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    client_headers.name_calls()
    with pytest.raises(ModuleNotFoundError, match="No module named 'httpx2'"):
        importlib.import_module("httpx2")


@pytest.mark.usefixtures("case", "address")
def test_an_address_of_ipv6_has_brackets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ADDRESS_VARIABLE, "http://[::1]:8080")
    for host, names_case in (("::1", True), ("::2", False), ("1", False)):
        connection, sent = http.client.HTTPConnection(host, 8080), list[bytes]()
        monkeypatch.setattr(connection, "send", sent.append)
        connection.putrequest("GET", "/v1")
        connection.endheaders()
        assert (b"x-scoregate-case: %C3%A4%20b" in b"".join(sent)) is names_case, host
