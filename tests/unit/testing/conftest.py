"""Shared fixtures of the SDK's tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def nothing_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove variables of scoregate that this machine has set."""
    for name in [name for name in os.environ if name.startswith(("SCOREGATE_", "AUTOBLOCKS_"))]:
        monkeypatch.delenv(name)


@pytest.fixture
def events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for events that a host reads."""
    folder = tmp_path / "events"
    folder.mkdir()
    monkeypatch.setenv("SCOREGATE_EVENTS", str(folder))
    return folder
