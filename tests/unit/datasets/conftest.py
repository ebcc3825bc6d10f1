"""Datasets in a temporary folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from scoregate import Client
from scoregate.datasets import Datasets


@pytest.fixture
def datasets(tmp_path: Path) -> Datasets:
    return Client(store=tmp_path).datasets


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of the dataset `golden`."""
    return tmp_path / ".scoregate" / "datasets" / "golden"
