"""What the tests of metrics share: a separate project and a scripted model."""

from __future__ import annotations

from tests.integration.judging.conftest import root, server

__all__ = ["root", "server"]
