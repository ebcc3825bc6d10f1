"""Shared fixtures of the short API."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project as the working directory, without variables of scoregate."""
    for name in [name for name in os.environ if name.startswith(("SCOREGATE_", "AUTOBLOCKS_"))]:
        monkeypatch.delenv(name)
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path
