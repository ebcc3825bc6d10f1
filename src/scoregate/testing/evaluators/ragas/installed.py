"""The ragas that is installed: its version, and its metrics by name."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import metadata
from typing import Any

from scoregate.errors import MissingExtra

_SINCE, _BEFORE = (0, 2), (0, 5)
_ADVICE = "pip install 'scoregate[ragas]'"
_importing = threading.Lock()


def installed_version() -> str | None:
    """The version of ragas that is installed; None where there is none. Imports nothing of it."""
    try:
        return metadata.version("ragas")
    except metadata.PackageNotFoundError:
        return None


def metric_class(module: str, name: str) -> Any:
    """The class of a metric.

    Metrics are found in the modules that define them: over the package's own names the later versions warn.

    Raises:
        MissingExtra: ragas or something that it needs is missing, or it is of a version without this metric.
    """
    _import("ragas")
    return _named(_import(f"ragas.metrics.{module}"), name)


def sample(fields: dict[str, Any]) -> Any:
    """What a metric is given.

    Raises:
        MissingExtra: as `metric_class` does.
        pydantic.ValidationError: a field is of another type than ragas wants.
    """
    return _named(_import("ragas.dataset_schema"), "SingleTurnSample")(**fields)


def _named(module: Any, name: str) -> Any:
    try:
        return getattr(module, name)
    except AttributeError:
        raise MissingExtra(f"ragas {installed_version()} has no {name}", advice=_ADVICE) from None


@cache
def _import(module: str) -> Any:
    _check(installed_version())
    with _importing:
        try:
            with _loops_left_alone():
                imported = importlib.import_module(module)
                _forget_an_early_look()
        except ImportError as error:
            raise MissingExtra(f"ragas {installed_version()} cannot be imported: {error}", advice=_ADVICE) from error
    return imported


def _check(installed: str | None) -> None:
    if installed is None:
        raise MissingExtra("evaluators of ragas need the ragas package, which is not installed", advice=_ADVICE)
    major, minor, *_ = (int(part) if part.isdecimal() else 0 for part in [*installed.split("."), "0"])
    if not _SINCE <= (major, minor) < _BEFORE:
        raise MissingExtra(f"ragas {installed} is installed; its versions 0.2 to 0.4 are supported", advice=_ADVICE)


@contextmanager
def _loops_left_alone() -> Iterator[None]:
    """Some versions patch every event loop of the process when they are imported, running ones too."""
    try:
        nest_asyncio: Any = importlib.import_module("nest_asyncio")
    except ImportError:
        yield
        return
    apply, nest_asyncio.apply = nest_asyncio.apply, lambda *_: None
    try:
        yield
    finally:
        nest_asyncio.apply = apply


def _forget_an_early_look() -> None:
    """RAGAS_DO_NOT_TRACK is read once, perhaps before we set it."""
    analytics: Any = importlib.import_module("ragas._analytics")
    getattr(analytics.do_not_track, "cache_clear", lambda: None)()
