"""Shared fixtures of the engine's tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty working directory, without variables of scoregate."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("SCOREGATE_")]:
        monkeypatch.delenv(name)
