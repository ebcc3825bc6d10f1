"""What the tests of judges share: a separate project and a scripted model."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fakes.openai import OpenAIServer


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project's folder; the environment asks for nothing else, and nothing is read from a cache."""
    for name in [name for name in os.environ if name.startswith(("SCOREGATE_", "AUTOBLOCKS_", "OPENAI_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("SCOREGATE_ROOT", str(tmp_path))
    monkeypatch.setenv("SCOREGATE_CACHE", "off")
    return tmp_path


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    with OpenAIServer.start() as running:
        for name, value in running.environment.items():
            monkeypatch.setenv(name, value)
        yield running
