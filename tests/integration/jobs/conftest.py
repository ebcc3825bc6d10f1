"""Jobs of a workflow against a fake of GitHub."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fakes.fixtures import github
from tests.fakes.github import GitHub
from tests.integration.jobs.world import World

__all__ = ["github"]


@pytest.fixture
def world(github: GitHub, tmp_path: Path) -> World:
    return World.new(github, tmp_path)
