"""What caused it: the example bot, before the change of the page."""

from __future__ import annotations

from tests.docs.pages.mutation import prepare

__all__ = ["prepare"]
