"""The repository whose evals are measured."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.docs.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """A repository; the page is of no importance."""
    with ExitStack() as stack:
        yield Project(tmp_path / "project", tmp_path / "page.md", stack)
