"""The installed version of ragas, and its metrics by name."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import metadata
from typing import Any

from scoregate.errors import MissingExtra

_OLDEST, _TOO_NEW = (0, 2), (0, 5)
_ADVICE = "pip install 'scoregate[ragas]'"
_import_lock = threading.Lock()


def installed_version() -> str | None:
    """The installed version of ragas; None if it is not installed. Does not import it."""
    try:
        return metadata.version("ragas")
    except metadata.PackageNotFoundError:
        return None


def metric_class(module: str, name: str) -> Any:
    """The class of a metric.

    It comes from the module that defines it, because later versions warn about the names in the package itself.

    Raises:
        MissingExtra: ragas or one of its dependencies is missing, or its version does not have this metric.
    """
    _import("ragas")
    return _get_attribute(_import(f"ragas.metrics.{module}"), name)


def make_sample(fields: dict[str, Any]) -> Any:
    """The input of a metric.

    Raises:
        MissingExtra: ragas is missing, or not supported.
        pydantic.ValidationError: a field has the wrong type.
    """
    return _get_attribute(_import("ragas.dataset_schema"), "SingleTurnSample")(**fields)


def _get_attribute(module: Any, name: str) -> Any:
    try:
        return getattr(module, name)
    except AttributeError:
        raise MissingExtra(f"ragas {installed_version()} has no {name}", advice=_ADVICE) from None


@cache
def _import(module: str) -> Any:
    _check_version(installed_version())
    with _import_lock:
        try:
            with _without_loop_patch():
                imported = importlib.import_module(module)
                # ragas reads RAGAS_DO_NOT_TRACK once, perhaps before it is set; make it read again.
                analytics: Any = importlib.import_module("ragas._analytics")
                getattr(analytics.do_not_track, "cache_clear", lambda: None)()
        except ImportError as error:
            raise MissingExtra(f"ragas {installed_version()} cannot be imported: {error}", advice=_ADVICE) from error
    return imported


def _check_version(installed: str | None) -> None:
    if installed is None:
        raise MissingExtra("evaluators of ragas need the ragas package, which is not installed", advice=_ADVICE)
    major, minor, *_ = (int(part) if part.isdecimal() else 0 for part in [*installed.split("."), "0"])
    if not _OLDEST <= (major, minor) < _TOO_NEW:
        raise MissingExtra(f"ragas {installed} is installed; its versions 0.2 to 0.4 are supported", advice=_ADVICE)


@contextmanager
def _without_loop_patch() -> Iterator[None]:
    """Some versions patch all event loops of the process on import; prevent that."""
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
