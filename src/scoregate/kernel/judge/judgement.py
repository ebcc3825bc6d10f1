"""The baseline: the run that a run is compared with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from scoregate.kernel.judge.policy import ChosenPolicy, choose_policy
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.types.declarations.declaration import RunFacts
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.run import BaseReference, Run
from scoregate.kernel.types.slots import NO_SLOTS, Slot, Slots

if TYPE_CHECKING:
    from scoregate.kernel.compare.agreement import Calibrations
    from scoregate.kernel.compare.comparison import Comparison, CriteriaOf
    from scoregate.kernel.compare.row_labels import AdjustRows
    from scoregate.kernel.gate import Verdict
    from scoregate.kernel.gate.check import SuiteCheck
    from scoregate.kernel.types.runs.policy import Policy
    from scoregate.kernel.types.slots import Section

UNREADABLE = "a baseline that could not be read"


@record
class Baseline:
    """What a run is compared with.

    Args:
        run: None if there is none.
        note: describes it, or why there is none; empty if none was requested.
        pool: more runs of the same commit, whose scores count as repeats.
        folder: where it is on disk; empty if it was downloaded.
        unreadable: there may be a baseline, or more of it, that could not be read.
        implicit: no setting names it, so that it is the previous run on a developer's machine.
        earlier: earlier runs of its branch, with only suites for which nothing changed; None if they are no evidence.
    """

    run: Run | None
    note: str = ""
    pool: tuple[Run, ...] = ()
    folder: str = ""
    unreadable: bool = False
    implicit: bool = False
    earlier: tuple[Run, ...] | None = None

    @property
    def reference(self) -> BaseReference | None:
        """The reference that a run stores. It also records a baseline that could not be read."""
        if self.run is None:
            return BaseReference("", UNREADABLE) if self.unreadable else None
        return BaseReference(self.run.id, self.run.name, self.folder, self.implicit)

    @property
    def run_ids(self) -> frozenset[str]:
        """The ids of all its runs."""
        runs = (self.run, *self.pool, *(self.earlier or ()))
        return frozenset(each.id for each in runs if each is not None)

    def with_runs(self, change: Callable[[Run], Run]) -> Baseline:
        """The same with each of its runs changed."""
        run = None if self.run is None else change(self.run)
        return replace(self, run=run, pool=tuple(map(change, self.pool)))


CompareRuns: TypeAlias = "Callable[[Run, Baseline], Comparison]"
JudgeRun: TypeAlias = "Callable[[Run], Judged]"
JudgeSides: TypeAlias = "Callable[[Run, Baseline], Judged]"
LoadJudgeSteps: TypeAlias = "Callable[[RunFacts], Sequence[JudgeStep]]"


@record
class ComparedSides:
    """What a judgement reads.

    Attributes:
        run: the run.
        baseline: what it is compared with.
        settings: hold the policy.
        slots: what features add, such as the accepted regressions and the quarantine.
        calibrations: reads how well judges agree with people; called only if the policy needs it.
    """

    run: Run
    baseline: Baseline
    settings: Settings
    slots: Slots = NO_SLOTS
    calibrations: Callable[[], Calibrations] = dict

    def choose_policy(self) -> ChosenPolicy:
        """The policy that judges the run."""
        # The previous run on a developer's machine is no base of a change, so its policy never applies.
        return choose_policy(self.settings, None if self.baseline.implicit else self.baseline.run)

    def list_facts(self, policy: Policy) -> RunFacts:
        """What is known of the run, for the features that take part in its judgement."""
        base = () if self.baseline.run is None else (self.baseline.run,)
        return RunFacts(self.settings, runs=(self.run, *base), policy=policy, slots=self.slots)


@record
class Judged:
    """A run that was judged.

    Attributes:
        comparison: the comparison of the run with its baseline.
        verdict: the verdict of the gate rules.
        steps: the features that took part.
    """

    comparison: Comparison
    verdict: Verdict
    steps: Sequence[JudgeStep] = ()

    @property
    def exit_code(self) -> int:
        """The verdict's exit code."""
        return self.verdict.exit_code


class JudgeStep:
    """A feature's part of a judgement."""

    name: str
    number_slots: ClassVar[tuple[Slot[Any], ...]] = ()
    """Its slots of a run that only hold numbers, which reports show even of a run that untrusted code has stored."""

    @property
    def checks(self) -> tuple[SuiteCheck, ...]:
        """The checks of the gate that it adds."""
        return ()

    async def restore_sides(self, run: Run, root: Path, settings: Settings, slots: Slots) -> Slots:
        """Find what else a stored run is compared with, from what it kept, unless a command replaces it."""
        return slots

    def adjust_rows(self, run: Run, base: Run, criteria_of: CriteriaOf) -> AdjustRows | None:
        """What adjusts rows before they are labelled; None if this run has nothing to adjust them by."""
        return None

    def around_compare(self, slots: Slots, compare: CompareRuns, run: Run, baseline: Baseline) -> Comparison:
        """Compare a run with a baseline by `compare`, maybe without some of their cases."""
        return compare(run, baseline)

    def after_compare(self, comparison: Comparison, sides: ComparedSides, compare: CompareRuns) -> Comparison:
        """Add what needs the whole comparison: one with another side, or of parts of the suites (`COMPARED`)."""
        return comparison

    def after_judge(self, run: Run, comparison: Comparison) -> Run:
        """Keep in the run what the next one needs of its judgement."""
        return run

    def sections(self, judged: Judged) -> Iterable[Section]:
        """What it says in reports."""
        return ()


def find_adjusters(steps: Sequence[JudgeStep], run: Run, base: Run | None, criteria_of: CriteriaOf) -> list[AdjustRows]:
    """What adjusts the rows of a comparison, in the order of the steps."""
    found = () if base is None else (step.adjust_rows(run, base, criteria_of) for step in steps)
    return [each for each in found if each is not None]


def list_sections(judged: Judged) -> list[Section]:
    """What features say in reports."""
    from scoregate.kernel.types.slots import check_parts

    return [check_parts(section) for step in judged.steps for section in step.sections(judged)]
