"""A project of one's own, a server with tools, and a model that calls them."""

from __future__ import annotations

from tests.integration.host.conftest import project
from tests.integration.judging.conftest import root, server

__all__ = ["project", "root", "server"]
