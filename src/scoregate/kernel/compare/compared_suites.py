"""What a comparison compares, for features that compare parts of suites, or suites with each other."""

from __future__ import annotations

from collections.abc import Sequence

from scoregate.kernel.compare.adjusted_rows import AdjustRows
from scoregate.kernel.compare.extra_trials import ExtraTrials
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.policy import Criteria
from scoregate.kernel.types.runs.run import Run, SuiteResult
from scoregate.kernel.types.slots import Slot


@record
class ComparedSuite:
    """A suite of a run, and what its parts are compared with.

    Attributes:
        suite: the suite.
        criteria: its criteria.
        baselines: the same suite in the runs of the baseline, the newest first; empty without one. Of a suite that
            keeps cases, they have all cases: a limit on a part holds for all of them.
        extras: more trials of some cases on both sides.
    """

    suite: SuiteResult
    criteria: Criteria
    baselines: Sequence[SuiteResult] = ()
    extras: ExtraTrials | None = None


@record
class ComparedSuites:
    """The suites of a run as they are compared: without cases that don't count, and the names as in the run.

    Attributes:
        run: the run.
        suites: its suites, in their order.
        criteria: the level and the smallest effects that count.
        adjusters: adjust rows before they are labelled.
    """

    run: Run
    suites: tuple[ComparedSuite, ...]
    criteria: Criteria
    adjusters: Sequence[AdjustRows] = ()


COMPARED: Slot[ComparedSuites] = Slot("compared")
"""Only while a run is judged: it holds all runs of the baseline."""
