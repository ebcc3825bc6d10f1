"""What the tests of metrics share: a project of one's own, and a model that answers as it is told."""

from __future__ import annotations

from tests.integration.judging.conftest import root, server

__all__ = ["root", "server"]
