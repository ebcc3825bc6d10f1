"""What the tests of suites as processes share."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.integration.sdk.scripts import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)
