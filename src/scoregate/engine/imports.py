"""Where in the user's repository a suite was started."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import Any

from scoregate.core.events import Origin

_PACKAGE = Path(__file__).parent.parent
_STATED: ContextVar[Origin | None] = ContextVar("scoregate_origin", default=None)


@contextmanager
def use_origin(origin: Origin) -> Iterator[None]:
    """Suites that are started in this block, by nobody's code, stand there."""
    token = _STATED.set(origin)
    try:
        yield
    finally:
        _STATED.reset(token)


def caller_origin() -> Origin | None:
    """The line of the user's code that called us, relative to the repository's root."""
    if (origin := _STATED.get()) is not None:
        return origin
    frame = sys._getframe(1)
    while frame is not None and Path(frame.f_code.co_filename).is_relative_to(_PACKAGE):
        if frame.f_back is None:
            return None
        frame = frame.f_back
    return Origin(relative_path(frame.f_code.co_filename), frame.f_lineno)


def relative_path(file: str) -> str:
    """The path of a file from the repository's root, with slashes; as it is where it is not below that."""
    return _relative_to(file, os.environ.get("SCOREGATE_ROOT") or str(Path.cwd()))


@lru_cache(maxsize=256)
def _relative_to(file: str, root: str) -> str:
    try:
        return Path(file).resolve().relative_to(Path(root).resolve()).as_posix()
    except (ValueError, OSError):
        return file


def import_target(name: str) -> Any:
    """What "package.module:name.of.it" names.

    Raises:
        ValueError: it is not written so. Exception: whatever the module raises when it is imported, or does not have.
    """
    module, _, path = name.partition(":")
    if not module or not path:
        raise ValueError("it is not written as module:name")
    found: Any = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    return found


def module_name(thing: Callable[..., Any]) -> str:
    """The module of a class or a function, a script by its file's name."""
    module = thing.__module__
    if module == "__main__" and (file := getattr(sys.modules[module], "__file__", None)):
        return Path(file).stem
    return module
