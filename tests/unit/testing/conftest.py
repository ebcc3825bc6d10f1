"""What the tests of the SDK share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def nothing_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment asks for nothing, whatever this machine has set."""
    for name in [name for name in os.environ if name.startswith(("SCOREGATE_", "AUTOBLOCKS_"))]:
        monkeypatch.delenv(name)


@pytest.fixture
def events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which a host listens."""
    folder = tmp_path / "events"
    folder.mkdir()
    monkeypatch.setenv("SCOREGATE_EVENTS", str(folder))
    return folder
