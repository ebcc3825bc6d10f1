"""Models asked over HTTP: the fake, and an environment in which it is OpenAI."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fakes.fixtures import openai_server
from tests.fakes.openai import OpenAIServer

from scoregate.kernel.types.usage import METER, UsageMeter

__all__ = ["openai_server"]


@pytest.fixture
def server(openai_server: OpenAIServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> OpenAIServer:
    """The fake, found by the environment; answers are kept in a folder of the test's own."""
    for name, value in openai_server.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("SCOREGATE_ROOT", str(tmp_path))
    return openai_server


@pytest.fixture
def meter() -> Iterator[UsageMeter]:
    """What the calls of the test are counted on."""
    meter = UsageMeter()
    token = METER.set(meter)
    yield meter
    METER.reset(token)
