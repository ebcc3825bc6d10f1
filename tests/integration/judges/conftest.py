"""What the tests of judges with versions share: a project, a scripted model, and the client."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.integration.judging.conftest import root, server
from tests.integration.store.conftest import project

from scoregate.client import Client

__all__ = ["project", "root", "server"]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def client(root: Path) -> Client:
    return Client(project_name="support-bot", store=root)
