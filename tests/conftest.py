"""What every test may use."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

# How long an example takes says more of the machine than of the code.
settings.register_profile("scoregate", deadline=None)
settings.load_profile("scoregate")

# What runs the tests names its own terminal's width and that it is CI; what they start would take both for its own.
for name in ("COLUMNS", "CI", "GITHUB_ACTIONS"):
    os.environ.pop(name, None)

# Files whose tests take minutes: begun first, so that no worker is left alone with one at the end.
LONG = ("e2e/", "test_readme.py", "integration/foreign/", "integration/ragas/")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files first; else the order stays."""
    items.sort(key=lambda item: not any(f"tests/{part}" in item.nodeid for part in LONG))


def pytest_xdist_auto_num_workers() -> int:
    """For `-n auto`: one more than there are cores, as many tests only wait for processes that they started."""
    return (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1) + 1


@pytest.fixture
def anyio_backend() -> str:
    """Async tests run on asyncio, as the product does."""
    return "asyncio"
