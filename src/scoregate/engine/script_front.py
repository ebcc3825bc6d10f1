"""The front of suites in scripts and notebooks: progress in a notebook, a summary in a terminal, `assert_test`."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

from scoregate.engine.driver import Front
from scoregate.engine.environment import Selection
from scoregate.engine.event_log import EventLog
from scoregate.engine.terminal import one_line, print_text
from scoregate.errors import SuiteFailed
from scoregate.kernel.types.suite import Suite

if TYPE_CHECKING:
    from scoregate.engine.eval_result import EvalResult

_MAX_NAME_LENGTH = 60
_UPDATE_INTERVAL_S = 0.2


class ScriptFront(Front):
    """The API of functions that users call in a script, a notebook or a test.

    Args:
        build: makes the suite of the selected cases.
        assert_test: whether a suite that does not pass raises.
        review: the job for people who review the outputs, as an event has it; None without one.
    """

    in_new_thread = False
    may_skip = True

    def __init__(
        self, build: Callable[[Selection], Suite], *, assert_test: bool, review: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(build)
        self._assert_test, self._review = assert_test, review
        self._progress: NotebookProgress | None = None

    def start(self, suite: Suite, *, alone: bool) -> AbstractContextManager[Callable[[], None] | None]:  # noqa: ARG002
        """Show the progress in a notebook."""
        self._progress = progress = start_progress(suite)
        return nullcontext(None if progress is None else progress.advance)

    def end_log(self, log: EventLog) -> bool:
        """Ask for the review. Returns whether `assert_test` is set and the variant did not pass."""
        if self._review is not None:
            log.emit("review_requested", **self._review)
        if not self._assert_test:
            return False
        from scoregate.engine.own_events import reduce_log

        return not replace(reduce_log(log), complete=True).passed

    def conclude(self, result: EvalResult, *, alone: bool) -> None:
        """Print the summary, unless a host or a notebook shows the result.

        Raises:
            SuiteFailed: `assert_test` is set and the suite did not pass.
        """
        if self._progress is not None:
            self._progress.finish(passed=result.passed)
        if not (alone or self._assert_test):
            return
        from scoregate.engine.summary import summary

        if alone and self._progress is None:
            print_text(summary(result))
        if self._assert_test and not result.passed:
            raise SuiteFailed(summary(result))


class NotebookProgress:
    """The line of one run of a suite. It counts trials, and ends with a mark; the result's table has the rest.

    Args:
        suite: the suite.
        display: the function `display` of IPython.
    """

    def __init__(self, suite: Suite, display: Any) -> None:
        self._name, self._total = one_line(suite.id, _MAX_NAME_LENGTH), suite.trials * len(suite.variants)
        unit = "case" if self._total == len(suite.cases) else "trial"
        self._unit = unit if self._total == 1 else f"{unit}s"
        self._done = 0
        self._started = self._updated = perf_counter()
        self._lock = threading.Lock()
        self._handle: Any = None
        with suppress(Exception):  # a notebook that shows nothing does not stop the run
            self._handle = display(self._format("…"), raw=True, display_id=True)

    def advance(self) -> None:
        """Count a finished trial, from any thread. The line changes at most five times a second."""
        with self._lock:
            self._done += 1
            if (now := perf_counter()) - self._updated < _UPDATE_INTERVAL_S:
                return
            self._updated = now
        self._update("…")

    def finish(self, *, passed: bool) -> None:
        """Show that the suite has ended.

        Args:
            passed: whether it passed.
        """
        self._update("✓" if passed else "✗", f" · {perf_counter() - self._started:.1f} s")

    def _update(self, mark: str, suffix: str = "") -> None:
        with suppress(Exception):
            self._handle.update(self._format(mark, suffix), raw=True)

    def _format(self, mark: str, suffix: str = "") -> dict[str, str]:
        from html import escape

        text = f"{mark} {self._name} · {self._done} of {self._total} {self._unit}{suffix}"
        bar = f'<progress value="{self._done}" max="{max(1, self._total)}"></progress> ' if mark == "…" else ""
        return {"text/plain": text, "text/html": f"{bar}{escape(text)}"}


def start_progress(suite: Suite) -> NotebookProgress | None:
    """The progress of a suite if this process is the kernel of a notebook; otherwise None."""
    ipython: Any = sys.modules.get("IPython")  # in a notebook it is imported
    shell = ipython.get_ipython() if hasattr(ipython, "get_ipython") else None
    if getattr(shell, "kernel", None) is None:
        return None
    from IPython.display import display  # type: ignore[import-not-found,unused-ignore]

    return NotebookProgress(suite, display)
