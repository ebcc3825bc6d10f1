"""Evals as a gate on pull requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scoregate.version import __version__

if TYPE_CHECKING:
    from scoregate.client import Client
    from scoregate.client import Client as Judgeval
    from scoregate.enums import ExecutionMode, TestType
    from scoregate.evals import evaluate
    from scoregate.evals.case import Case, ScoreContext
    from scoregate.evals.typed_dataset import Dataset
    from scoregate.kernel.types.media import Media
    from scoregate.offline_tests import Tracer

__all__ = [
    "Case",
    "Client",
    "Dataset",
    "ExecutionMode",
    "Judgeval",
    "Media",
    "ScoreContext",
    "TestType",
    "Tracer",
    "__version__",
    "evaluate",
]


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name not in ("TYPE_CHECKING", "annotations", "_MODULES"))})


_MODULES = {
    "Case": "evals.case",
    "Client": "client",
    "Dataset": "evals.typed_dataset",
    "ExecutionMode": "enums",
    "Judgeval": "client",
    "Media": "kernel.types.media",
    "ScoreContext": "evals.case",
    "TestType": "enums",
    "Tracer": "offline_tests",
    "evaluate": "evals",
}


def __getattr__(name: str) -> object:
    """The names of `__all__`, imported when they are asked for. `Judgeval` is another name of `Client`."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), "Client" if name == "Judgeval" else name)
