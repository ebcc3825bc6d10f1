"""What the tests of `evaluate` with models share: a project, and a model that gives the answers of the test."""

from __future__ import annotations

from tests.integration.judging.conftest import root, server

__all__ = ["root", "server"]
