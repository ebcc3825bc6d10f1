"""Find the line that starts a suite, and import objects by name."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from types import FrameType
from typing import Any

from scoregate.kernel.types.event_values import Origin

_PACKAGE = Path(__file__).parent.parent
_CURRENT_ORIGIN: ContextVar[Origin | None] = ContextVar("scoregate_origin", default=None)


@contextmanager
def use_origin(origin: Origin) -> Iterator[None]:
    """Use this origin for suites that start in the block, because no code of the user starts them."""
    token = _CURRENT_ORIGIN.set(origin)
    try:
        yield
    finally:
        _CURRENT_ORIGIN.reset(token)


def caller_origin() -> Origin | None:
    """Find the line of the user's code that called scoregate, with its path from the repository's root."""
    if (origin := _CURRENT_ORIGIN.get()) is not None:
        return origin
    frame = find_caller()
    return None if frame is None else Origin(relative_path(frame.f_code.co_filename), frame.f_lineno)


def find_caller_file() -> Path | None:
    """The file of the user's code that called scoregate; None if the code is in no file, as in a console."""
    frame = find_caller()
    path = None if frame is None else Path(frame.f_code.co_filename)
    return path if path is not None and path.is_file() else None


def find_caller() -> FrameType | None:
    """The frame of the user's code that called scoregate."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and Path(frame.f_code.co_filename).is_relative_to(_PACKAGE):
        frame = frame.f_back
    return frame


def relative_path(file: str) -> str:
    """The path of a file from the repository's root, with slashes; unchanged if the file is outside the root."""
    return _relative_to(file, os.environ.get("SCOREGATE_ROOT") or str(Path.cwd()))


@lru_cache(maxsize=256)
def _relative_to(file: str, root: str) -> str:
    try:
        return Path(file).resolve().relative_to(Path(root).resolve()).as_posix()
    except (ValueError, OSError):
        return file


def import_target(name: str) -> Any:
    """Import the object with a name such as "package.module:name.of.it".

    Raises:
        ValueError: the name has another form.
        AttributeError: the module has no such object.
        Exception: any exception that the module raises when it is imported.
    """
    module, _, path = name.partition(":")
    if not module or not path:
        raise ValueError("it is not written as module:name")
    target: Any = importlib.import_module(module)
    for part in path.split("."):
        target = getattr(target, part)
    return target


def module_name(target: Callable[..., Any]) -> str:
    """The name of the module of a class or function; for a script, the name of its file."""
    module = target.__module__
    if module == "__main__" and (file := getattr(sys.modules[module], "__file__", None)):
        return Path(file).stem
    return module
