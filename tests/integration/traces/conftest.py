"""A project of one's own."""

from __future__ import annotations

from tests.integration.host.conftest import project

__all__ = ["project"]
