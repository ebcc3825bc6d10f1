"""Convert exceptions of user code to data: limited in size, without scoregate's own frames, without raising again."""

from __future__ import annotations

import os
import traceback
from asyncio import CancelledError

from scoregate.errors import ScoregateError
from scoregate.kernel.types.event_values import MAX_MESSAGE, MAX_TRACEBACK, ErrorInfo, truncate_text

# Exceptions that end the run instead of one case: Ctrl-C, and those by which the event loop ends coroutines.
EXIT_EXCEPTIONS = (KeyboardInterrupt, GeneratorExit, CancelledError)
_PACKAGE_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep  # noqa: PTH100, PTH120
_CLOSED_LOOP_ADVICE = (
    "The client was opened in an event loop that is closed now. Inside a running loop, as in a notebook, every suite "
    "has its own event loop. Create the client inside fn, or pass it through scoregate.models.wrap."
)
_ANYIO_FOLDER = os.sep + "anyio" + os.sep


def make_error_info(error: BaseException) -> ErrorInfo:
    """Return the error's type, message, advice and traceback, without the frames of scoregate and anyio."""
    frame = error.__traceback__
    while frame is not None:
        file = frame.tb_frame.f_code.co_filename
        if not file.startswith(_PACKAGE_FOLDER) and _ANYIO_FOLDER not in file:
            break
        frame = frame.tb_next
    try:
        lines = traceback.format_exception(type(error), error, frame or error.__traceback__, limit=-20)
    except Exception:  # foreign exceptions may raise anything when they are printed
        lines = []
    return ErrorInfo(
        type=type(error).__name__,
        message=truncate_text(_error_text(error), MAX_MESSAGE),
        traceback=truncate_text("".join(lines), MAX_TRACEBACK),
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
        if advice := str(getattr(error, "advice", "")):
            return advice
        cause: BaseException | None = error
        for _ in range(10):
            if cause is None:
                break
            if isinstance(cause, RuntimeError) and str(cause) == "Event loop is closed":
                return _CLOSED_LOOP_ADVICE
            cause = cause.__cause__ or cause.__context__
    except Exception:  # foreign exceptions may raise anything when they are read
        return ""
    return ""
