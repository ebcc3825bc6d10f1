"""What the tests of the short API share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project as the working directory, in an environment that asks for nothing."""
    for name in [name for name in os.environ if name.startswith(("SCOREGATE_", "AUTOBLOCKS_"))]:
        monkeypatch.delenv(name)
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path
