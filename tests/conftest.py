"""What every test may use, and which tests may not run beside each other."""

from __future__ import annotations

from pathlib import Path

import pytest

TESTS = Path(__file__).parent
# What takes long to make is made once for all of the folder: an image, environments of other SDKs.
TOGETHER = {TESTS / "e2e/container", TESTS / "integration/foreign", TESTS / "integration/ragas"}


def pytest_itemcollected(item: pytest.Item) -> None:
    """With `--dist loadgroup`, one worker runs all tests of a file, or of such a folder."""
    folder = item.path.parent
    item.add_marker(pytest.mark.xdist_group(str(folder if folder in TOGETHER else item.path)))


@pytest.fixture
def anyio_backend() -> str:
    """Async tests run on asyncio, as the product does."""
    return "asyncio"
