"""A reader's project in which a page about another framework is followed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType

import pytest
from tests.docs.page import read_blocks
from tests.docs.project import ROOT, Project, execute

PAGES = ROOT / "docs" / "migrate"


class Reader(Project):
    """Follows the page from its first block to its last."""

    def follow(self, module: ModuleType | None = None) -> None:
        """Execute all blocks; those that are "run by" a function, by one of this module."""
        for block in read_blocks(self.page):
            execute(block, self, module)


@pytest.fixture
def reader(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Reader]:
    """A reader of the page that the test's file is named after."""
    page = PAGES / f"{request.path.stem.removeprefix('test_')}.md"
    folder = tmp_path / "project"
    with ExitStack() as stack:
        yield Reader(folder, page, stack)
