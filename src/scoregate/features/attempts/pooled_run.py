"""A run with the trials of earlier attempts and pushes as further repeats of its cases."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from scoregate.features.attempts.keys import PooledRuns
from scoregate.features.attempts.shards import leave_out_shards, list_shard_runs
from scoregate.kernel.compare.pooled_trials import TrialPool
from scoregate.kernel.types.fingerprint_changes import describe_fingerprint_change
from scoregate.kernel.types.runs.evidence import TrialRole
from scoregate.kernel.types.runs.run import Run, SuiteResult
from scoregate.kernel.types.runs.suite_states import digest_states


def pool_earlier(run: Run, compared: Collection[str] = ()) -> tuple[Run, PooledRuns | None]:
    """The run with the trials of its earlier attempts and pushes, and how many count; None without any.

    Trials that met an error, and those of cases that were changed, do not count. Neither do scores of an evaluator
    that gave this attempt none for the case: lost scores are those of this attempt. Of a push, suites count that
    nothing changed since then, and none if a control measures how far the provider has moved since the base's run.

    Args:
        run: the run with its companions. That of a part of the cases counts alone.
        compared: the ids of the runs that it is compared with, which are no attempts.
    """
    pool = _Earlier(TrialPool.of(run))
    if run.scope.is_whole:
        shards = set(list_shard_runs(run))
        for number, attempt in enumerate(run.companions_of(TrialRole.MAIN), 1):
            if attempt.id not in compared:
                pool.add_attempt(leave_out_shards(attempt, shards), number)
                shards |= list_shard_runs(attempt)
        pushes = () if run.companions_of(TrialRole.CONTROL) else run.companions_of(TrialRole.PUSH)
        states = digest_states(run) if pushes else {}
        for push in pushes:
            if push.id not in compared:
                pool.add_push(push, states)
    return pool.finish()


@dataclass(slots=True)
class _Earlier:
    """Collects the trials of earlier runs.

    Attributes:
        pool: the trials so far.
        attempts: the number of attempts that add any.
        pushes: the same of pushes.
        unchanged: the places of the suites that get trials of pushes.
        gaps: why suites of attempts do not count.
    """

    pool: TrialPool
    attempts: int = 0
    pushes: int = 0
    unchanged: set[int] = field(default_factory=set)
    gaps: list[str] = field(default_factory=list)

    def add_attempt(self, attempt: Run, number: int) -> None:
        """Add what an attempt has measured."""
        run, places = self.pool.run, dict[int, int]()
        for index, place in self.pool.pair_measured(attempt):
            if problem := _find_problem(run, run.suites[index], attempt, attempt.suites[place]):
                self.gaps.append(f"{run.suites[index].label} of attempt {number}: {problem}")
            else:
                places[index] = place
        self.attempts += self.pool.add(attempt, places)
        self._add_again(attempt, places)

    def add_push(self, push: Run, states: Mapping[str, str]) -> None:
        """Add what a push has measured of suites that nothing changed since then, by the states of their scripts."""
        then, run = digest_states(push), self.pool.run
        same = {script for script, state in states.items() if then.get(script) == state}
        places = {
            index: place
            for index, place in self.pool.pair_measured(push)
            if run.suites[index].script in same and not _find_problem(run, run.suites[index], push, push.suites[place])
        }
        if self.pool.add(push, places):
            self.pushes += 1
            self.unchanged |= self.pool.added[-1].places
            self._add_again(push, places)

    def _add_again(self, earlier: Run, counted: Collection[int]) -> None:
        """Add the further runs of an earlier one, of suites that count. Without them, chance in it would count."""
        for again in earlier.companions_of(TrialRole.AGAIN):
            self.pool.add(again, {at: place for at, place in self.pool.pair_measured(again) if at in counted})

    def finish(self) -> tuple[Run, PooledRuns | None]:
        """The run with all trials, and what counts."""
        run = self.pool.run
        if not self.pool.added and not self.gaps:
            return run, None
        pooled = PooledRuns(
            max(run.end.attempt, len(run.companions_of(TrialRole.MAIN)) + 1),
            self.attempts,
            self.pushes,
            tuple(run.suites[place].label for place in sorted(self.unchanged)),
            tuple(self.gaps),
        )
        return self.pool.finish(), pooled


def _find_problem(run: Run, suite: SuiteResult, earlier: Run, other: SuiteResult) -> str:
    """Why the trials of a suite don't count; empty if they do."""
    if added := other.evaluators.keys() - suite.evaluators.keys():
        return f"{min(added)} is no scorer any more"
    for name in suite.evaluators.keys() & other.evaluators.keys():
        if change := describe_fingerprint_change(suite.evaluators[name], other.evaluators[name]):
            return f"{name}: {change}"
    if any(info.battles for info in suite.evaluators.values()) and not _have_same_base(run, earlier):
        return "its outputs were compared with those of another baseline"
    return ""


def _have_same_base(run: Run, earlier: Run) -> bool:
    base, other = run.compared_with, earlier.compared_with
    return base is not None and other is not None and base.id == other.id != ""
