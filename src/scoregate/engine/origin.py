"""Where in the user's repository a suite was started."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path

from scoregate.core.parts import Origin

_PACKAGE = Path(__file__).parent.parent
_STATED: ContextVar[Origin | None] = ContextVar("scoregate_origin", default=None)


@contextmanager
def stated(origin: Origin) -> Iterator[None]:
    """Suites that are started in this block, by nobody's code, stand there."""
    token = _STATED.set(origin)
    try:
        yield
    finally:
        _STATED.reset(token)


def caller() -> Origin | None:
    """The line of the user's code that called us, relative to the repository's root."""
    if (origin := _STATED.get()) is not None:
        return origin
    frame = sys._getframe(1)
    while frame is not None and Path(frame.f_code.co_filename).is_relative_to(_PACKAGE):
        if frame.f_back is None:
            return None
        frame = frame.f_back
    return Origin(relative(frame.f_code.co_filename), frame.f_lineno)


def relative(file: str) -> str:
    """The path of a file from the repository's root, with slashes; as it is where it is not below that."""
    return _relative(file, os.environ.get("SCOREGATE_ROOT") or str(Path.cwd()))


@lru_cache(maxsize=256)
def _relative(file: str, root: str) -> str:
    try:
        return Path(file).resolve().relative_to(Path(root).resolve()).as_posix()
    except (ValueError, OSError):
        return file
