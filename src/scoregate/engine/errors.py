"""Exceptions of user code as data: bounded, without our own frames, never raising anew."""

from __future__ import annotations

import os
import traceback
from asyncio import CancelledError
from types import TracebackType

from scoregate.core.events import MAX_MESSAGE, MAX_TRACEBACK, ErrorInfo, truncate_text
from scoregate.errors import ScoregateError

# What ends the run and is no data about one case: Ctrl-C, and how the event loop ends coroutines.
EXIT_EXCEPTIONS = (KeyboardInterrupt, GeneratorExit, CancelledError)
_PACKAGE_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep  # noqa: PTH100, PTH120
_CLOSED_LOOP_MESSAGES = (
    "A client was used that an event loop has opened which is gone by now: within a running loop, as in a notebook, "
    "every suite has one of its own. Make the client inside fn, or pass it through scoregate.models.wrap."
)
_CLIENT_PACKAGES = os.sep + "anyio" + os.sep


def error_info(error: BaseException) -> ErrorInfo:
    """The error's type, message and traceback, the frames of the machinery around the user's code left out."""
    return ErrorInfo(
        type=type(error).__name__,
        message=truncate_text(_error_text(error), MAX_MESSAGE),
        traceback=truncate_text(_format_traceback(error), MAX_TRACEBACK),
        advice=truncate_text(_error_advice(error), MAX_MESSAGE),
    )


def _error_text(error: BaseException) -> str:
    try:
        text = (error.message if isinstance(error, ScoregateError) else str(error)) or type(error).__name__
        if isinstance(error, BaseExceptionGroup):
            return f"{text}: {'; '.join(f'{type(inner).__name__}: {_error_text(inner)}' for inner in error.exceptions)}"
        return text
    except Exception as broken:
        return f"(its message cannot be shown: {type(broken).__name__})"


def _error_advice(error: BaseException) -> str:
    try:
        return str(getattr(error, "advice", "")) or (_CLOSED_LOOP_MESSAGES if _is_closed_loop(error) else "")
    except Exception:
        return ""


def _is_closed_loop(error: BaseException) -> bool:
    cause: BaseException | None = error
    for _ in range(10):
        if cause is None or (isinstance(cause, RuntimeError) and str(cause) == "Event loop is closed"):
            return cause is not None
        cause = cause.__cause__ or cause.__context__
    return False


def _format_traceback(error: BaseException) -> str:
    try:
        lines = traceback.format_exception(type(error), error, _user_frames(error.__traceback__), limit=-20)
    except Exception:
        return ""
    return "".join(lines)


def _user_frames(tb: TracebackType | None) -> TracebackType | None:
    start = tb
    while start is not None:
        file = start.tb_frame.f_code.co_filename
        if not file.startswith(_PACKAGE_FOLDER) and _CLIENT_PACKAGES not in file:
            return start
        start = start.tb_next
    return tb
