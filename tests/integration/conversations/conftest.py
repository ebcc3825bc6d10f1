"""What the tests of conversations share: a model that plays the user by a script, and targets that answer."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fakes.fixtures import openai_server
from tests.fakes.openai import OpenAIServer

from scoregate.kernel.types.usage import METER, UsageMeter

__all__ = ["openai_server"]


@pytest.fixture
def server(openai_server: OpenAIServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> OpenAIServer:
    """The fake, found by the environment; nothing is read from a cache unless a test asks for it."""
    for name in [name for name in os.environ if name.startswith(("SCOREGATE_", "OPENAI_"))]:
        monkeypatch.delenv(name)
    for name, value in openai_server.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("SCOREGATE_ROOT", str(tmp_path))
    monkeypatch.setenv("SCOREGATE_CACHE", "off")
    return openai_server


@pytest.fixture
def meter() -> Iterator[UsageMeter]:
    """What the calls of the test are counted on."""
    meter = UsageMeter()
    token = METER.set(meter)
    yield meter
    METER.reset(token)
