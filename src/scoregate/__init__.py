"""Evals as a gate on pull requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scoregate.version import __version__

if TYPE_CHECKING:
    from scoregate.client import Client
    from scoregate.client import Client as Judgeval
    from scoregate.core.media import Media
    from scoregate.evals import evaluate

__all__ = ["Client", "Judgeval", "Media", "__version__", "evaluate"]


def __getattr__(name: str) -> object:
    """`evaluate`, `Media` and `Client`, and `Judgeval` for the same: imported when they are asked for."""
    if name == "evaluate":
        from scoregate.evals import evaluate

        return evaluate
    if name == "Media":
        from scoregate.core.media import Media

        return Media
    if name not in ("Client", "Judgeval"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from scoregate.client import Client

    return Client
