"""The lock holds everything that the command line needs, each file by its hash, and names no place of ours."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LOCK, BUILD = ((ROOT / f"requirements{kind}.lock").read_text(encoding="utf-8") for kind in ("", "-build"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0].lower() for requirement in requirements}


def test_every_requirement_is_locked() -> None:
    locked = set(re.findall(r"^([a-z0-9._-]+)==", LOCK, re.MULTILINE))
    assert names([*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["cli"]]) <= locked


@pytest.mark.parametrize("lock", [LOCK, BUILD], ids=["run", "build"])
def test_every_locked_version_has_hashes_and_no_address(lock: str) -> None:
    entries = [entry for entry in re.split(r"\n(?=[a-z])", lock) if "==" in entry]
    assert len(entries) > 5
    assert all("--hash=sha256:" in entry for entry in entries)
    assert "://" not in lock


def test_what_builds_the_image_is_locked() -> None:
    assert {"uv", "hatchling"} <= set(re.findall(r"^([a-z0-9._-]+)==", BUILD, re.MULTILINE))
