"""A project with models that write tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fakes.fixtures import openai_server
from tests.fakes.openai import OpenAIServer
from tests.fakes.writer import answer_with_tests
from tests.integration.store.conftest import project

__all__ = ["openai_server", "project"]


@pytest.fixture
def writer(openai_server: OpenAIServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> OpenAIServer:
    """The server of the project's model, which gives every batch all that it asks for."""
    answer_with_tests(openai_server)
    monkeypatch.chdir(tmp_path)
    for name, value in {**openai_server.environment, "SCOREGATE_ROOT": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    return openai_server
