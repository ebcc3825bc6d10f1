"""Measure units: run the suites that read them in edited copies, and the cases that differ again in both trees."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import comb
from statistics import NormalDist
from typing import TypeAlias

import anyio
from anyio import to_thread

from scoregate.errors import ScoregateError
from scoregate.features.interventions.edited_trees.edited_runs import UNEDITED, Contents, EditedRuns, find_gap
from scoregate.features.interventions.edited_trees.edits import Broken
from scoregate.features.interventions.mutation.outcomes import LEVEL, Measured, TriedCase, is_hopeless, is_noisy
from scoregate.features.interventions.mutation.unedited_tree import UneditedTree, identify_trial, sign_trial
from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.compare.flips import Flip
from scoregate.kernel.gate.finding import Finding
from scoregate.kernel.gate.run_rules import find_script_failures
from scoregate.kernel.job.fresh_trials import FailingCase, find_level
from scoregate.kernel.judge.judge import judge
from scoregate.kernel.judge.judgement import Baseline, ComparedSides, Judged, LoadJudgeSteps
from scoregate.kernel.run.plan import Plan, repeat_launches
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.runs.cases import Status
from scoregate.kernel.types.runs.confirmations import Confirmation, fisher_p, with_confirmations
from scoregate.kernel.types.runs.run import Run

LEAST_ROUNDS, _MOST_ROUNDS = 8, 14
MOST_CASES = 20
"""Of the cases that differ, so many run again."""
_NOTE = "the unedited tree"


def count_rounds(units: int) -> int:
    """How many fresh trials a case needs in each tree, so that one that always fails can be noticed among the units.

    The smallest k at which Fisher's p of k failures and k passes, 1 / C(2k, k), is below the level of one unit of all,
    for the least of the three tests of a unit, and at least 8.
    """
    rounds = LEAST_ROUNDS
    while rounds < _MOST_ROUNDS and 4 / comb(2 * rounds, rounds) > LEVEL / max(1, units):
        rounds += 1
    return rounds


def count_more_rounds(rounds: int) -> int:
    """How many fresh trials a case gets whose trials in one tree differ."""
    return rounds * 3 // 2


Tries: TypeAlias = dict[FailingCase, list[bool]]
"""Whether each fresh trial of a case passed."""


@dataclass
class UnitTries:
    """The fresh trials of the cases of a unit.

    Models may have changed since an earlier command. So a case has as many of its trials in both trees: what changed
    shows in both alike.

    Attributes:
        edited: those in the edited tree, of earlier commands and of this one.
        earlier_base: those of earlier commands in the unedited tree.
    """

    edited: Tries = field(default_factory=dict)
    earlier_base: Tries = field(default_factory=dict)

    def pair(self, base: Mapping[FailingCase, Sequence[bool]]) -> list[tuple[FailingCase, list[bool], list[bool]]]:
        """What a later command goes on from: the trials of cases in the edited tree, and as many in the unedited one.

        Args:
            base: the trials of this command in the unedited tree.
        """
        sides = (
            (case, each, [*self.earlier_base.get(case, ()), *base.get(case, ())]) for case, each in self.edited.items()
        )
        counts = ((case, one, two, min(len(one), len(two))) for case, one, two in sides)
        return [(case, one[:count], two[:count]) for case, one, two, count in counts if count]


class _GapError(Exception):
    """A unit can't be measured now."""


@dataclass
class UnitMeasurement:
    """Measures edited trees against the unedited one.

    Attributes:
        runs: run suites in copies of the tree.
        unedited: what was measured of the tree without edits.
        load: loads the steps of features, which judge.
        rounds: how many fresh trials a case gets in each tree.
        units: how many units are one family.
        explain_end: why no further trial may run; empty if one may.
        base_tries: the fresh trials in the unedited tree, of all units.
    """

    runs: EditedRuns
    unedited: UneditedTree
    load: LoadJudgeSteps
    rounds: int = LEAST_ROUNDS
    units: int = 1
    explain_end: Callable[[], str] = str
    base_tries: Tries = field(default_factory=dict)
    _base_gates: dict[frozenset[str], list[frozenset[str]]] = field(default_factory=dict)
    _red: dict[frozenset[str], frozenset[tuple[str, ...]]] = field(default_factory=dict)
    _count: int = 0
    _lock: anyio.Lock = field(default_factory=anyio.Lock)

    async def measure(self, contents: Contents, scripts: frozenset[str], tries: UnitTries) -> Measured:
        """Measure an edit.

        Args:
            contents: the files that it changes.
            scripts: the scripts that read them.
            tries: its fresh trials so far; further ones are added.
        """
        self._count += 1
        folder = f"unit-{self._count}"
        try:
            return await self._measure(contents, scripts, folder, tries)
        except _GapError as gap:
            return Measured(gap=str(gap))
        except ScoregateError as error:
            return Measured(gap=error.message)
        finally:
            shutil.rmtree(self.runs.ports.reporting.context.out / folder, ignore_errors=True)

    async def _measure(self, contents: Contents, scripts: frozenset[str], folder: str, tries: UnitTries) -> Measured:
        async with self.runs.open_run(contents, lambda plan: _select(plan, scripts), folder=folder) as run:
            first = await to_thread.run_sync(self._compare, run, scripts)
        if isinstance(first, Measured):
            return first
        fell = await self._try_again(contents, first.fell, tries)
        rose = await self._try_again(contents, first.rose, tries, is_rise=True)
        measured = await to_thread.run_sync(self._judge, first, scripts, fell, rose)
        if measured.gates and not fell:
            return replace(measured, tried_gates=await self._try_gates(contents, scripts, measured.gates))
        return measured

    def _compare(self, run: Run, scripts: frozenset[str]) -> Measured | _FirstRun:
        failures = find_script_failures(run)
        if new := [why for name, why in failures.items() if name not in self.unedited.failures]:
            return Measured(broken=new[0])
        if not run.end.complete:
            return Measured(gap="the run was stopped")
        if gap := find_gap(run):
            return Measured(gap=gap)
        if (same := self._explain_same(run, scripts)) is not None:
            return same
        return _FirstRun.make(run, self._judge_run(run, scripts))

    def _explain_same(self, run: Run, scripts: frozenset[str]) -> Measured | None:
        """What it means if everything that was asked and answered is that of the unedited tree, byte for byte."""
        known = {key: value for key, value in self.unedited.signatures.items() if key[0] in scripts}
        found = {identify_trial(suite, trial): sign_trial(trial) for suite in run.suites for trial in suite.cases}
        if found == known:
            return Measured(is_exercised=False) if all(each.is_known for each in known.values()) else None
        answers = [{key: each.digest for key, each in side.items()} for side in (found, known)]
        if answers[0] == answers[1] and all(each.is_known for each in known.values()):
            return Measured(gap="it changes how outputs are scored, and not the outputs")
        return None

    def _judge_run(self, run: Run, scripts: frozenset[str]) -> Judged:
        sides = ComparedSides(
            run,
            Baseline(self.unedited.select(scripts), _NOTE),
            self.runs.settings,
            calibrations=self.runs.ports.reporting.calibrations,
        )
        return judge(sides, self.load)

    async def _try_again(
        self, contents: Contents, cases: Mapping[FailingCase, str], tries: UnitTries, *, is_rise: bool = False
    ) -> tuple[TriedCase, ...]:
        """Fresh trials of cases in both trees; those of the unedited tree are shared by all units."""
        chosen = dict(list(cases.items())[:MOST_CASES])
        base: Mapping[FailingCase, Sequence[bool]] = {}
        rounds, number = self.rounds if chosen else 0, 0
        while number < rounds:
            number += 1
            if end := self.explain_end():
                raise _GapError(end)
            base = await self._add_base_trials(chosen, number, tries.earlier_base)
            await self._add_trials(contents, dict.fromkeys(chosen, number), tries.edited)
            tried = _list_tried(chosen, tries.edited, base)
            if number == self.rounds // 2 and is_hopeless(tried, is_rise=is_rise):
                break
            if number == self.rounds and is_noisy(tried):
                rounds = count_more_rounds(self.rounds)
        return _list_tried(chosen, tries.edited, base)

    async def _try_gates(
        self, contents: Contents, scripts: frozenset[str], gates: Sequence[str]
    ) -> tuple[TriedCase, ...]:
        """Run whole suites again in both trees: whether gates fail each time, for which no single case fell."""
        tries: dict[str, list[bool]] = {gate: [] for gate in gates}
        known = self._base_gates.setdefault(scripts, [])
        for number in range(1, self.rounds + 1):
            if end := self.explain_end():
                raise _GapError(end)
            async with self._lock:
                if len(known) < number:
                    known.append(await self._find_red_again(UNEDITED, scripts))
            red = await self._find_red_again(contents, scripts)
            for gate, passed in tries.items():
                passed.append(gate not in red)
            if all(all(passed) for passed in tries.values()):
                break
        base = {gate: tuple(gate not in red for red in known) for gate in tries}
        return tuple(TriedCase("", gate, gate, tuple(passed), base[gate]) for gate, passed in tries.items())

    async def _find_red_again(self, contents: Contents, scripts: frozenset[str]) -> frozenset[str]:
        """The gates that do not hold in a fresh run, without the cache."""
        async with self.runs.open_run(contents, lambda plan: repeat_launches(plan, scripts)) as run:
            if gap := find_gap(run):
                raise _GapError(gap)
            judged = await to_thread.run_sync(self._judge_run, run, scripts)
            return frozenset(_list_red(judged.verdict.findings).values())

    async def _add_base_trials(
        self, cases: Iterable[FailingCase], count: int, earlier: Tries
    ) -> Mapping[FailingCase, Sequence[bool]]:
        """The trials of cases in the unedited tree, at least this many with the earlier ones if they have results."""
        known = {case: earlier.get(case, []) for case in cases}
        async with self._lock:
            await self._add_trials(UNEDITED, {case: count - len(each) for case, each in known.items()}, self.base_tries)
            return {case: (*each, *self.base_tries[case]) for case, each in known.items()}

    async def _add_trials(self, contents: Contents, counts: Mapping[FailingCase, int], tries: Tries) -> None:
        """Run the cases again that have fewer trials than their counts."""
        if missing := [case for case, count in counts.items() if len(tries.setdefault(case, [])) < count]:
            outcome = await self.runs.run_once(contents, missing)
            if isinstance(outcome, Broken):
                raise _GapError(outcome.reason)
            for case, passed in outcome.items():
                tries[case].append(passed)

    def _judge(
        self,
        first: _FirstRun,
        scripts: frozenset[str],
        fell: tuple[TriedCase, ...],
        rose: tuple[TriedCase, ...],
    ) -> Measured:
        confirmations = _confirm(fell)
        judged = (
            self._judge_run(with_confirmations(first.run, confirmations), scripts) if confirmations else first.judged
        )
        red = _list_red(judged.verdict.findings)
        new = red.keys() - self._find_red(scripts)
        rows = [row for row in judged.comparison.rows if row.delta is not None]
        factor = _find_factor(len(rows), self.units)
        changes = (row.estimate.detectable for row in rows)
        detectable = [each * factor for each in changes if each is not None and each * factor <= 1]
        return Measured(
            fell=fell,
            rose=rose,
            p_worse=min([1.0, *(row.p_worse * len(rows) for row in rows)]),
            p_better=min([1.0, *(row.p_better * len(rows) for row in rows)]),
            gates=tuple(sorted({red[each] for each in new})),
            detectable=max(detectable, default=None),
        )

    def _find_red(self, scripts: frozenset[str]) -> frozenset[tuple[str, ...]]:
        """The gates that do not hold in the unedited tree: they can notice nothing."""
        if scripts not in self._red:
            judged = self._judge_run(self.unedited.select(scripts), scripts)
            self._red[scripts] = frozenset(_list_red(judged.verdict.findings))
        return self._red[scripts]

    def list_red_gates(self) -> list[str]:
        """The names of the gates that do not hold in the unedited tree."""
        everything = frozenset(each.name for each in self.runs.plan.launches)
        judged = self._judge_run(self.unedited.select(everything), everything)
        return sorted(set(_list_red(judged.verdict.findings).values()))


@dataclass(frozen=True)
class _FirstRun:
    """The first run of an edited tree, how it compares with the unedited one, and the names of cases that differ."""

    run: Run
    judged: Judged
    fell: Mapping[FailingCase, str]
    rose: Mapping[FailingCase, str]

    @classmethod
    def make(cls, run: Run, judged: Judged) -> _FirstRun:
        """Find the cases that differ; this reads the run from disk."""
        comparison = judged.comparison
        names = {FailingCase.make(suite, trial.hash): trial.name for suite in run.suites for trial in suite.cases}
        fell = {*_list_flipped(comparison, comparison.newly_failing), *_list_new_errors(comparison)}
        rose = {*_list_flipped(comparison, comparison.newly_passing)}
        named = ({case: names.get(case, case.case) for case in sorted(side, key=_by_hash)} for side in (fell, rose))
        return cls(run, judged, *named)


def _by_hash(case: FailingCase) -> tuple[str, str]:
    return case.case, case.label


def _list_flipped(comparison: Comparison, flips: Iterable[Flip]) -> Iterator[FailingCase]:
    for flip in flips:
        suite = comparison.run.suites[flip.suite]
        yield FailingCase.make(suite, suite.columns.hashes[flip.row])


def _find_factor(rows: int, units: int) -> float:
    """How much larger a change must be than the detectable one, to be noticed at the corrected level, at 80 % power."""
    quantile = NormalDist().inv_cdf
    corrected = 1 - LEVEL / (4 * max(1, rows) * units)
    return (quantile(corrected) + quantile(0.8)) / (quantile(0.975) + quantile(0.8))


def _list_new_errors(comparison: Comparison) -> Iterator[FailingCase]:
    """The cases that passed in the unedited tree, and have an error in the edited one."""
    base_suites = comparison.base.suites if comparison.base is not None else ()
    for index, base_index in comparison.pairs:
        suite, base = comparison.run.suites[index], base_suites[base_index]
        passed = {case for row, case in enumerate(base.columns.hashes) if base.columns.status(row) is Status.PASSED}
        for row in suite.columns.errored_rows():
            if suite.columns.hashes[row] in passed:
                yield FailingCase.make(suite, suite.columns.hashes[row])


def _list_tried(
    names: Mapping[FailingCase, str],
    tries: Mapping[FailingCase, Sequence[bool]],
    base: Mapping[FailingCase, Sequence[bool]],
) -> tuple[TriedCase, ...]:
    return tuple(
        TriedCase(case.label, case.case, name, tuple(tries[case]), tuple(base.get(case, ())))
        for case, name in names.items()
    )


def _confirm(cases: Sequence[TriedCase]) -> list[Confirmation]:
    tried = [each for each in cases if each.tries and each.base_tries]
    level = find_level([fisher_p(each.tries, each.base_tries) for each in tried])
    return [Confirmation(each.suite, each.case, each.tries, each.base_tries, level) for each in tried]


def _list_red(findings: Iterable[Finding]) -> dict[tuple[str, ...], str]:
    """The names of gates that do not hold, by what identifies them."""
    return {
        (each.rule, each.suite or "", each.evaluator or "", each.part or ""): describe_gate(each)
        for each in findings
        if each.conclusion is not Conclusion.PASSED
    }


def describe_gate(finding: Finding) -> str:
    """The name of a gate, such as `Regression of support-bot: exact`."""
    place = f" {finding.preposition} {finding.suite}" if finding.suite else ""
    return f"{finding.title}{place}{f': {finding.evaluator}' if finding.evaluator else ''}"


def _select(plan: Plan, scripts: frozenset[str]) -> Plan:
    return replace(plan, launches=tuple(each for each in plan.launches if each.name in scripts))
