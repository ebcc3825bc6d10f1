"""A separate store for the tests of entities."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from scoregate.entities import use_store
from scoregate.store import Store


@pytest.fixture(autouse=True)
def store(tmp_path: Path) -> Iterator[Store]:
    with use_store(tmp_path) as chosen:
        yield chosen


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """The store's folder."""
    return tmp_path / ".scoregate"
