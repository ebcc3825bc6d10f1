"""Where in the user's code a suite was started."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from scoregate.core.parts import Origin

_PACKAGE = Path(__file__).parent.parent


def caller() -> Origin | None:
    """The line of the user's code that called us, relative to the repository's root."""
    frame = sys._getframe(1)
    while frame is not None and Path(frame.f_code.co_filename).is_relative_to(_PACKAGE):
        if frame.f_back is None:
            return None
        frame = frame.f_back
    root = os.environ.get("SCOREGATE_ROOT") or str(Path.cwd())
    return Origin(_relative(frame.f_code.co_filename, root), frame.f_lineno)


def _relative(file: str, root: str) -> str:
    try:
        return Path(file).resolve().relative_to(Path(root).resolve()).as_posix()
    except (ValueError, OSError):
        return file
