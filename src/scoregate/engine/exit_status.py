"""The exit code of a suite's file that is run by itself, without a host."""

from __future__ import annotations

import atexit
import os
import sys
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scoregate.core.runs.run import SuiteResult

UNMEASURABLE = 3


def is_script(frame: FrameType) -> bool:
    """Whether a frame belongs to the file that Python was started with, and not to a prompt or a notebook."""
    is_main = frame.f_globals.get("__name__") == "__main__" and "__file__" in frame.f_globals
    return is_main and not hasattr(sys, "ps1") and not sys.flags.interactive


def is_unmeasured(result: SuiteResult) -> bool:
    """Whether a suite without a single result was run: no case has a score, or waits for people."""
    return not any(part.evaluations or part.pending for part in result.variants or (result,))


class _FailingExit:
    """Ends this process with exit code 3 when the interpreter deletes it, after all other handlers and output.

    Python offers no other way to change the exit code of a process that ends normally.
    """

    def __init__(self) -> None:
        self._exit, self._process_id, self._pid, self._is_raised = os._exit, os.getpid, os.getpid(), False

    def note_exception(self) -> None:
        """If an exception was printed, the exit code is 1 already."""
        self._is_raised = hasattr(sys, "last_value")

    def __del__(self) -> None:
        if not self._is_raised and self._process_id() == self._pid:
            self._exit(UNMEASURABLE)


_failing: list[_FailingExit] = []


def fail_at_exit() -> None:
    """End this process with exit code 3 once it ends, unless an exception ends it."""
    if not _failing:
        _failing.append(_FailingExit())
        atexit.register(_note_exception)


def _note_exception() -> None:
    _failing[0].note_exception()
