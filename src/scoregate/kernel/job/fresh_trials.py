"""Fresh trials of failing cases: they run again here, and in the base's tree, each time in a process of its own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import comb

from scoregate.errors import ScoregateError
from scoregate.kernel.compare.statistics.significance import benjamini_hochberg
from scoregate.kernel.job.base_commit import explain_base_cannot_run, name_base_commit
from scoregate.kernel.job.steps import Work
from scoregate.kernel.judge.archive import BASE_FOLDER
from scoregate.kernel.judge.settings import BaselineKind, Settings
from scoregate.kernel.run.plan import restrict_plan
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.cases import Status
from scoregate.kernel.types.runs.confirmations import Confirmation, confirmations_of, fisher_p
from scoregate.kernel.types.runs.evidence import TrialRole
from scoregate.kernel.types.runs.run import Run, SuiteResult

MOST_CASES = 15
LEVEL = 0.025
"""The false discovery rate among the cases of one run that are tested."""
_TITLE = "newly failing cases, run again"


@record
class FailingCase:
    """A failing case, identified by its launch, suite, parameters and hash.

    Attributes:
        label: the label of its suite.
        script: the name of the launch.
        suite: the id of the suite.
        params: the parameters of the suite, as JSON.
        case: its hash.
        ignored: the evaluators that do not count: a trial that fails in these alone has passed.
    """

    label: str
    script: str
    suite: str
    params: str
    case: str
    ignored: frozenset[str] = frozenset()

    @classmethod
    def make(cls, suite: SuiteResult, case: str, ignored: Iterable[str] = ()) -> FailingCase:
        """The case with this hash in a suite."""
        return cls(suite.label, suite.script or "", suite.id, _format_params(suite), case, frozenset(ignored))


@record
class BaseSide:
    """How the base runs again: the settings with which it does, or why it can't."""

    settings: Settings | None
    problem: str = ""


async def find_base_side(work: Work) -> BaseSide:
    """Whether the base of a run can run again, here and under the conditions of its run."""
    base, settings = work.baseline.run, work.settings
    if base is None:
        return BaseSide(None, "there is no baseline")
    is_measured_here = settings.baseline_kind is BaselineKind.RERUN
    problem = "" if is_measured_here else await explain_base_cannot_run(work.run, base, settings, work.ports)
    if problem:
        return BaseSide(None, problem)
    return BaseSide(name_base_commit(settings, base, _TITLE))


@dataclass(slots=True)
class FreshTrials:
    """The trials of cases on both sides.

    Attributes:
        rounds: how often each case runs on each side at most.
        tries: whether each trial passed, by case; one with an error does not count.
        base_tries: the same in the base.
        runs: the runs that measured them.
        problem: why the base did not run; empty if it did.
    """

    rounds: int
    tries: dict[FailingCase, tuple[bool, ...]]
    base_tries: dict[FailingCase, tuple[bool, ...]]
    runs: list[Run] = field(default_factory=list)
    problem: str = ""

    def list_open(self, done: int, base_done: int) -> list[FailingCase]:
        """The cases that can still differ significantly, each by its own share of the level.

        Without a base, those of suites in which none has passed.

        Args:
            done: the number of rounds that ran here.
            base_done: the same in the base.
        """
        if self.problem:
            passed = {case.label for case, tries in self.tries.items() if any(tries)}
            return [case for case in self.tries if case.label not in passed]
        failures, passes = (False,) * (self.rounds - done), (True,) * (self.rounds - base_done)
        best = [fisher_p((*tries, *failures), (*self.base_tries[case], *passes)) for case, tries in self.tries.items()]
        return [case for case, p in zip(self.tries, best, strict=True) if p <= LEVEL / len(best)]

    def make_confirmations(self) -> list[Confirmation]:
        """What the trials say about each case."""
        pairs = [(case, tries, self.base_tries[case]) for case, tries in self.tries.items()]
        level = find_level([fisher_p(tries, base) for _, tries, base in pairs])
        return [Confirmation(case.label, case.case, tries, base, level) for case, tries, base in pairs]


def find_level(ps: Sequence[float]) -> float:
    """The level that controls the false discovery rate among tests with these p.

    Source: Benjamini and Hochberg (1995), Journal of the Royal Statistical Society B 57:289.
    """
    significant = [p for p, q in zip(ps, benjamini_hochberg(ps), strict=True) if q <= LEVEL]
    return max(significant, default=LEVEL / max(1, len(ps)))


def count_rounds(cases: int) -> int:
    """How often each of several cases has to run, so that one that always fails is found even if one trial passes.

    The smallest k at which Fisher's p of k failures and k passes, 1 / C(2k, k), is at most the level of the first of
    them, and one more.
    """
    rounds = 1
    while 1 / comb(2 * rounds, rounds) > LEVEL / max(1, cases):
        rounds += 1
    return rounds + 1


async def run_fresh(cases: Iterable[FailingCase], rounds: int, work: Work, base: BaseSide, *, name: str) -> FreshTrials:
    """Run cases again here and in the base in turn. A case stops once it can't differ significantly.

    An answer can stick within a process, so each round is a process of its own, and counts once. Trials of earlier
    attempts at the same code count, too: another attempt is no other chance.

    Args:
        cases: the cases.
        rounds: how often each runs on each side at most.
        work: what was measured so far.
        base: how the base runs.
        name: the names of their folders begin with it.
    """
    cases = list(cases)
    known = _find_earlier(work.run)
    earlier = [known.get((case.label, case.case), ((), ())) for case in cases]
    tries, base_tries = (dict(zip(cases, side, strict=True)) for side in zip(*earlier, strict=True))
    fresh = FreshTrials(rounds, tries, base_tries, problem=base.problem)
    for number in range(1, rounds + 1):
        await _add_round(fresh, number, work, name)
        if base.settings is not None and not fresh.problem:
            await _add_base_round(fresh, number, work, base.settings, name)
    return fresh


def _find_earlier(run: Run) -> dict[tuple[str, str], tuple[tuple[bool, ...], tuple[bool, ...]]]:
    """The trials on both sides of earlier attempts, by suite and case. An attempt has those of the ones before it.

    A base that is measured in each attempt has the name of its commit, at which its cases ran again.
    """
    found = {}
    for attempt in run.companions_of(TrialRole.MAIN):
        base, own = attempt.compared_with, run.compared_with
        if base is None or own is None:
            continue
        for each in confirmations_of(attempt):
            is_same_base = base.id == own.id or (bool(each.base_tries) and base.name == own.name)
            if each.level is not None and is_same_base:
                found[each.suite, each.case] = (each.tries, each.base_tries)
    return found


async def _add_round(fresh: FreshTrials, number: int, work: Work, name: str) -> None:
    cases = fresh.list_open(number - 1, number - 1)
    if not cases or work.ports.stop.is_set():
        return
    run = await run_cases(cases, work, repeats=1, folder=f"{name}-{number}")
    fresh.runs.append(run)
    _add_first(fresh.tries, cases, run)


async def _add_base_round(fresh: FreshTrials, number: int, work: Work, settings: Settings, name: str) -> None:
    cases = fresh.list_open(number, number - 1)
    if not cases or work.ports.stop.is_set():
        return
    part = restrict_plan(work.plan, group_cases(cases), repeats=1)
    try:
        base = await work.ports.rerun(part, settings, folder=f"{BASE_FOLDER}/{name}-{number}")
    except ScoregateError as error:
        fresh.problem = error.message.rstrip(".")
        return
    if base.run is None:
        fresh.problem = base.note
        return
    fresh.runs.append(base.run)
    _add_first(fresh.base_tries, cases, base.run)
    if not any(fresh.base_tries.values()):
        fresh.problem = f"it has no results of these cases ({base.note})"


def _add_first(tries: dict[FailingCase, tuple[bool, ...]], cases: Iterable[FailingCase], run: Run) -> None:
    for case in cases:
        tries[case] = (*tries[case], *list_outcomes(run, case)[:1])


async def run_cases(cases: Iterable[FailingCase], work: Work, *, repeats: int, folder: str) -> Run:
    """Run cases again here.

    Args:
        cases: the cases.
        work: what was measured so far.
        repeats: how often each is run, unless it sets that itself.
        folder: where the run is recorded.
    """
    part = restrict_plan(work.plan, group_cases(cases), repeats=repeats)
    return await work.ports.record(part, work.settings, (), folder=folder)


def group_cases(cases: Iterable[FailingCase]) -> Mapping[str, Mapping[str, Sequence[str]]]:
    """The hashes of cases by launch and suite id."""
    hashes: dict[str, dict[str, list[str]]] = {}
    for case in cases:
        hashes.setdefault(case.script, {}).setdefault(case.suite, []).append(case.case)
    return hashes


def list_outcomes(run: Run, case: FailingCase) -> list[bool]:
    """Whether each trial of a case passed, by their number; one with an error does not count."""
    return [passed for _, passed in sorted(_find_outcomes(run, case))]


def _find_outcomes(run: Run, case: FailingCase) -> Iterator[tuple[int, bool]]:
    for suite in run.suites:
        if (suite.script, suite.id, _format_params(suite)) == (case.script, case.suite, case.params):
            for row, case_hash in enumerate(suite.columns.hashes):
                status = suite.columns.status(row)
                if case_hash == case.case and status in (Status.PASSED, Status.FAILED):
                    failed = suite.columns.failed_evaluators(row)
                    is_passed = status is Status.PASSED or (bool(failed) and failed <= case.ignored)
                    yield suite.columns.repeats[row], is_passed


def _format_params(suite: SuiteResult) -> str:
    return json.dumps(dict(suite.params or {}), sort_keys=True, default=str)
