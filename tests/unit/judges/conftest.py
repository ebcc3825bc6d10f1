"""A store in a temporary folder, and the judges in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from scoregate.judges import JudgesFactory
from scoregate.store import Store, open_store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path)


@pytest.fixture
def judges(store: Store) -> JudgesFactory:
    return JudgesFactory(store)
