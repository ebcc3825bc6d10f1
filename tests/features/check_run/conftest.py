"""A repository on the fake of GitHub, as the tests of its client have it."""

from __future__ import annotations

from tests.integration.github.conftest import github, place, repo

__all__ = ["github", "place", "repo"]
