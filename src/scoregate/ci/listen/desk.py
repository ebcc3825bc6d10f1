"""All that one launched command says: its runs, what is odd about them, and how they end."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scoregate.ci.listen.calls import Call, bounded
from scoregate.ci.listen.notices import Notices
from scoregate.ci.listen.ports import Book, Hear
from scoregate.ci.listen.problems import Problems
from scoregate.ci.listen.spool import Spool
from scoregate.ci.listen.suite_run import SuiteRun
from scoregate.ci.listen.telling import Readback, tell
from scoregate.core.events import Errored, ErrorInfo, ReviewRequested
from scoregate.core.filters import is_wanted

_EVERY_S = 0.1
_MOST_REVIEWS = 100


class Desk:
    """Takes what a command's SDKs say.

    Args:
        hear: is told. book: knows what they ask. suites: globs of which a suite must match one; none lets all be heard.
        redact: takes secrets out of bytes.
    """

    def __init__(self, hear: Hear, book: Book, *, suites: Sequence[str], redact: Callable[[bytes], bytes]) -> None:
        self.book = book
        self.hear = hear
        self.notices = Notices(hear)
        self.spool = Spool()
        self.redact = redact
        self.suites = tuple(suites)
        self.closed = False
        self._runs: dict[str, SuiteRun] = {}
        self._of: defaultdict[str, list[SuiteRun]] = defaultdict(list)
        self._problems = Problems()
        self._grids = 0
        self._endings: list[asyncio.Task[None]] = []

    def begin(self, suite: str, sdk: str | None, params: Mapping[str, Any] | None = None) -> SuiteRun:
        """A new run of a suite."""
        heard = is_wanted(suite, self.suites)
        run = SuiteRun(f"http-{len(self._runs) + 1}", suite, heard, sdk, params)
        self._runs[run.id] = run
        self._of[suite].append(run)
        if heard:
            self.hear.said(run.id, [run.beginning()])
            self.hear.counted(run.tally())
        else:
            self.hear.left_out(suite)
        return run

    def grid(self) -> str:
        """The id of a new search over parameters."""
        self._grids += 1
        return f"grid-{self._grids}"

    def named(self, run: object) -> SuiteRun | None:
        """The run of that id; None where there is none."""
        return self._runs.get(run) if isinstance(run, str) else None

    def known(self, call: Call) -> SuiteRun | None:
        """The run that a call speaks of: by its id, else the last open one of its suite, else the last."""
        if (run := self.named(call.data.get("runId"))) is not None:
            return run
        runs = self._of[call.suite]
        return next((run for run in reversed(runs) if run.open), runs[-1] if runs else None)

    def run_of(self, call: Call) -> SuiteRun:
        """The same; where there is none, one begins."""
        return self.known(call) or self.begin(call.suite, call.sdk)

    def touched(self, run: SuiteRun) -> None:
        """More is known of a run: whoever watches is told soon."""
        if run.timer is None:
            run.timer = asyncio.get_running_loop().call_later(_EVERY_S, self._count, run)

    def end(self, run: SuiteRun) -> None:
        """A run has ended: its cases are told from now on, while others speak."""
        run.end()
        self._endings.append(asyncio.get_running_loop().create_task(self._tell(run)))

    def problem(self, run: SuiteRun, error: ErrorInfo) -> None:
        """Something is wrong with a suite itself; the same thing is told once."""
        if run.heard and (fresh := run.problems.fresh(error)) is not None:
            self.hear.said(run.id, [Errored(suite=run.suite, stage="suite", error=fresh)])

    def unanswered(self, call: Call | None, path: str, error: ErrorInfo) -> None:
        """A call was answered by an error: its suite, as far as that is known, is not whole."""
        suite = call.data.get("testExternalId") if call is not None else None
        told = ErrorInfo(error.type, f"{path}: {error.message}", error.traceback, error.advice)
        if call is not None and isinstance(suite, str) and suite:
            self.problem(self.run_of(call), told)
        else:
            self._stray(told)

    def failed(self, suite: str | None, error: ErrorInfo) -> None:
        """Something of ours did not work for a suite, as far as that is known: it is not whole."""
        if runs := self._of.get(suite or ""):
            self.problem(runs[-1], error)
        else:
            self._stray(error)

    def review(self, run_id: str, name: str, *, assignees: Sequence[str]) -> None:
        """People are asked to judge a run; the SDKs ask once for each of them, and again where an answer was lost."""
        run = self.named(run_id)
        if run is None:
            self.notices.tell(f"a review {name!r:.100} was asked for, of a run that never started")
        elif run.heard and name not in run.reviews and len(run.reviews) < _MOST_REVIEWS:
            run.reviews.add(name)
            self.hear.said(run.id, [ReviewRequested(suite=run.suite, name=name, assignees=tuple(assignees))])

    def crowned(self, suite: str, case: str) -> None:
        """A battle had nobody to beat, and gave no score, as it may; its case is that of the last run of the suite."""
        runs = self._of.get(suite) or ()
        run = next((run for run in reversed(runs) if run.open and run.heard), None)
        if run is not None:
            run.crowned.add(bounded(case))
            self.notices.tell(
                f"suite {suite!r:.100} had no champions to beat: its outputs were kept; the next run has them to beat"
            )

    async def close(self) -> None:
        """Tell what has not been told: runs that never ended, without an end.

        Whatever `hear` raised when it was told of cases is raised here.
        """
        self.closed = True
        never_ended = [self._tell(run) for run in self._runs.values() if run.open]
        told = await asyncio.gather(*self._endings, *never_ended, return_exceptions=True)
        self.notices.close()
        self.spool.close()
        for failure in filter(None, told):
            raise failure

    def _stray(self, error: ErrorInfo) -> None:
        """An error of whichever suite is running, where that is one alone; else of the command."""
        running = [run for run in self._runs.values() if run.open]
        if len(running) == 1 and running[0].heard:
            self.problem(running[0], error)
        elif (fresh := self._problems.fresh(error)) is not None:
            self.hear.failed(fresh)

    def _count(self, run: SuiteRun) -> None:
        run.timer = None
        self.hear.counted(run.tally())

    async def _tell(self, run: SuiteRun) -> None:
        if run.timer is not None:
            run.timer.cancel()
        if run.heard:
            await tell(run, Readback(self.spool, self.redact), self.hear)
            run.forget()
