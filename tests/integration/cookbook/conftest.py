"""What the tests of the cookbook share: a model that answers as the test wants."""

from __future__ import annotations

from tests.fakes.fixtures import openai_server

__all__ = ["openai_server"]
