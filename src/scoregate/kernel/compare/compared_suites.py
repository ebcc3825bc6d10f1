"""What a comparison compares: pairs of suites, for features that compare parts of suites, or suites with each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from scoregate.kernel.compare.extra_trials import ExtraTrials
from scoregate.kernel.compare.row_labels import AdjustRows
from scoregate.kernel.compare.setups import pair_setups
from scoregate.kernel.types.fingerprint_changes import describe_fingerprint_change
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.policy import Criteria
from scoregate.kernel.types.runs.run import Run, SuiteResult
from scoregate.kernel.types.slots import Slot


def pair_suites(new: Iterable[SuiteResult], baseline: Iterable[SuiteResult]) -> Iterator[tuple[int, int]]:
    """Pair suites by setup. Then those with equal id and parameters: by file, by label, and without an alternative.

    Args:
        new: the suites of a run.
        baseline: the suites of its baseline, or of another run.

    Yields:
        The indices of two suites that belong together, in both.
    """
    unpaired, base_unpaired = dict(enumerate(new)), dict(enumerate(baseline))
    for index, base_index in list(pair_setups(unpaired, base_unpaired)):
        del unpaired[index], base_unpaired[base_index]
        yield index, base_index
    for match in ("file", "label", "only one"):
        for index, suite in list(unpaired.items()):
            candidates = [b for b, other in base_unpaired.items() if _is_same_suite(suite, other)]
            if match == "file":
                candidates = [b for b in candidates if base_unpaired[b].script == suite.script][:1]
            elif match == "label":
                candidates = [b for b in candidates if base_unpaired[b].label == suite.label][:1]
            if len(candidates) == 1:
                del unpaired[index], base_unpaired[candidates[0]]
                yield index, candidates[0]


def _is_same_suite(one: SuiteResult, other: SuiteResult) -> bool:
    """Whether two suites have the same id and parameters."""
    return one.id == other.id and dict(one.params or {}) == dict(other.params or {})


def list_same_suites(baseline: SuiteResult, runs: Sequence[Run]) -> Iterator[SuiteResult]:
    """The suite of a baseline in each of other runs that has it with the same evaluators."""
    for run in runs:
        for other in run.suites:
            if _is_same_suite(baseline, other) and baseline.script == other.script:
                shared = baseline.evaluators.keys() & other.evaluators.keys()
                if not any(describe_fingerprint_change(baseline.evaluators[n], other.evaluators[n]) for n in shared):
                    yield other
                break


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
