"""scoregate as a wheel. From its folder, which the tests have it from, uv would build it for each environment."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.integration.cached_environments import UV

ROOT = Path(__file__).parents[3]
FOLDER = TemporaryDirectory(prefix="scoregate-wheel-")


@cache
def own_wheel() -> str:
    """The requirement that installs it."""
    subprocess.run([UV, "build", "--quiet", "--wheel", "--out-dir", FOLDER.name, str(ROOT)], check=True)
    (wheel,) = Path(FOLDER.name).glob("*.whl")
    return f"scoregate @ {wheel.as_uri()}"


@pytest.fixture
def installed_from_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let environments of suites get scoregate from the wheel."""
    monkeypatch.setattr("scoregate.features.setup.environment.sdk_requirement", own_wheel)
