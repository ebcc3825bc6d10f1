"""Evals as a gate on pull requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scoregate.version import __version__

if TYPE_CHECKING:
    from scoregate.client import Client
    from scoregate.client import Client as Judgeval
    from scoregate.enums import ExecutionMode, TestType
    from scoregate.evals import evaluate
    from scoregate.kernel.types.media import Media
    from scoregate.offline_tests import Tracer

__all__ = ["Client", "ExecutionMode", "Judgeval", "Media", "TestType", "Tracer", "__version__", "evaluate"]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> object:
    """The names of `__all__`, imported when they are asked for. `Judgeval` is another name of `Client`."""
    if name == "evaluate":
        from scoregate.evals import evaluate

        return evaluate
    if name == "Media":
        from scoregate.kernel.types.media import Media

        return Media
    if name in ("ExecutionMode", "TestType"):
        from scoregate import enums

        return getattr(enums, name)
    if name == "Tracer":
        from scoregate.offline_tests import Tracer

        return Tracer
    if name not in ("Client", "Judgeval"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from scoregate.client import Client

    return Client
