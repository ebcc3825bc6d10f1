"""Which failures are transient, also those of clients that are not installed here."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

from scoregate.engine.calls import is_transient


class Raised(Exception):
    """One of a client's own errors."""


def client(name: str, monkeypatch: pytest.MonkeyPatch, *errors: str) -> Any:
    module: Any = ModuleType(name)
    for error in errors:
        setattr(module, error, type(error, (Exception,), {}))
    monkeypatch.setitem(sys.modules, name, module)
    return module


@pytest.mark.parametrize("name", ["TimeoutException", "NetworkError"])
def test_httpx(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    httpx = client("httpx", monkeypatch, "TimeoutException", "NetworkError", "InvalidURL")
    assert is_transient(getattr(httpx, name)())
    assert not is_transient(httpx.InvalidURL())


def test_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    openai = client("openai", monkeypatch, "APIConnectionError", "AuthenticationError")
    assert is_transient(openai.APIConnectionError())
    assert not is_transient(openai.AuthenticationError())


def test_without_these_clients_nothing_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("httpx", "openai"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    assert not is_transient(Raised())
    assert not {"httpx", "openai"} & sys.modules.keys()


@pytest.mark.parametrize(
    ("status", "expected"),
    [(429, True), (500, True), (502, True), (599, True), (200, False), (408, False), (600, False), ("500", False)],
)
def test_a_status_decides(status: Any, expected: bool) -> None:
    error: Any = Raised()
    error.status_code = status
    assert is_transient(error) is expected
