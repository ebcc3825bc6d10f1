"""The exit code of a suite's file that is run by itself, without a host."""

from __future__ import annotations

import atexit
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from scoregate.engine.imports import find_caller

if TYPE_CHECKING:
    from scoregate.engine.eval_result import EvalResult

UNMEASURABLE = 3


def is_called_by_script() -> bool:
    """Whether the user's code that called scoregate is the file that Python was started with: no prompt or notebook."""
    frame = find_caller()
    names = {} if frame is None else frame.f_globals
    is_main = names.get("__name__") == "__main__" and "__file__" in names
    return is_main and not hasattr(sys, "ps1") and not sys.flags.interactive


def is_unmeasured(result: EvalResult) -> bool:
    """Whether a suite without a single result was run: no case has a score, or waits for people."""
    return not any(part.evaluations or part.pending for part in result.variants or (result,))


_failing: list[int] = []  # the ids of processes that end with exit code 3: of this one, or of those it was forked from


def fail_at_exit() -> None:
    """End this process with exit code 3 once it ends, unless an exception ends it."""
    if os.getpid() not in _failing:
        _failing.append(os.getpid())
        atexit.register(_replace_exit_code, os.getpid())


def fail_now() -> None:
    """As `fail_at_exit`, for handlers of `atexit`: those that they register are no longer called."""
    _replace_exit_code(os.getpid())


def _replace_exit_code(process: int) -> None:
    """Have the C library exit with code 3 after Python has ended.

    Python itself offers no way: `__del__` need not run at the end, and `os._exit` here would skip the handlers of
    `atexit` that were registered before (those of coverage and logging), finalizers, and the text of open files.
    """
    if process != os.getpid() or _is_ended_by_exception():  # a forked process has a result of its own
        return
    try:
        import ctypes

        libc = ctypes.CDLL(None)
        libc.__cxa_atexit(libc._exit, ctypes.c_void_p(UNMEASURABLE), None)
        libc.__cxa_atexit(libc.fflush, None, None)  # the last one that is registered is called first
    except (ImportError, OSError, AttributeError, TypeError):  # Python was built without ctypes, or on Windows
        for stream in (sys.stdout, sys.stderr):
            with suppress(AttributeError, OSError, ValueError):
                stream.flush()
        os._exit(UNMEASURABLE)


def _is_ended_by_exception() -> bool:
    """Whether an exception of the script was printed: the exit code is 1 already.

    Others set `sys.last_traceback`, too (pytest for each failed test), but the script's frame isn't in theirs.
    """
    traceback, script = getattr(sys, "last_traceback", None), vars(sys.modules["__main__"])
    while traceback is not None:
        frame = traceback.tb_frame
        if frame.f_globals is script and frame.f_code.co_name == "<module>":
            return True
        traceback = traceback.tb_next
    return False
