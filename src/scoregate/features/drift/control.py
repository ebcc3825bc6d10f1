"""The drift control: a random part of the base's cases, run again at the base's commit in the same job.

All attempts, pushes and shards that have one base draw the same sample. Each shard runs those of its cases that the
shard itself has run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from math import ceil

from scoregate.errors import ScoregateError
from scoregate.features.drift.declare import DRIFT_CONTROL
from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.job.base_commit import explain_base_cannot_run, name_base_commit
from scoregate.kernel.job.ports import Ports
from scoregate.kernel.judge.archive import CONTROL, RUN_FOLDER
from scoregate.kernel.judge.judgement import Baseline
from scoregate.kernel.judge.settings import BaselineKind, Settings
from scoregate.kernel.judge.settings.limit_fields import replays_calls
from scoregate.kernel.run.plan import Plan, restrict_plan
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.runs.evidence import TrialRole, Use
from scoregate.kernel.types.runs.run import Run, SuiteResult
from scoregate.kernel.types.selection import CaseChoice, CaseLabels

NO_CASES = "no suite of this run has results in the base"
_LONGEST_PROBLEM = 500
Cases = dict[str, dict[str, list[str]]]  # hashes by script and suite id


async def run_drift_control(run: Run, baseline: Baseline, plan: Plan, settings: Settings, ports: Ports) -> Run:
    """The run with its control; a notice says why there is none. Without a control nothing is corrected.

    Args:
        run: the run, or the run of a shard.
        baseline: what it is compared with.
        plan: the plan of the run.
        settings: the settings of the project.
        ports: runs the cases in the base's tree.
    """
    base = baseline.run
    if ports.stop.is_set():
        return run  # other notices say so
    if base is None:
        return run if run.scope.shard is None else _without_control(run, "it found no baseline", ports)
    if problem := await _explain_missing(run, base, settings, ports):
        return _without_control(run, problem, ports)
    # Each attempt and each push asks the same cases: another sample would be another chance.
    seed = int.from_bytes(hashlib.blake2b((base.code.commit or "").encode(), digest_size=4).digest())
    if cases := _choose_cases(run, base, plan, share=DRIFT_CONTROL.of(settings), seed=seed):
        return await _run_control(run, base, plan, settings, ports, cases=cases, seed=seed)
    return _without_control(run, NO_CASES, ports)


async def _run_control(
    run: Run, base: Run, plan: Plan, settings: Settings, ports: Ports, *, cases: Cases, seed: int
) -> Run:
    number = sum(len(hashes) for suites in cases.values() for hashes in suites.values())
    title = f"{DRIFT_CONTROL.of(settings):g} of the cases of {base.name}, seed {seed}"
    at_base = name_base_commit(settings, base, title)
    try:
        part = restrict_plan(plan, cases, repeats=1)
        control = await ports.rerun(part, at_base, folder=f"{RUN_FOLDER}/{CONTROL}")
    except ScoregateError as error:
        return _without_control(run, error.message.rstrip("."), ports, has_failed=True)
    if control.run is None or not control.run.end.complete:
        problem = "it was interrupted" if control.run is not None else control.note
        return _without_control(run, problem, ports, has_failed=True)
    run = run.add_companion(TrialRole.CONTROL, control.run)
    problems = [f"In the drift control, {'; '.join(control.note.split('; ')[1:])}."] if control.unreadable else []
    # What the controls of all shards measured together is reported once they are merged.
    notices = [describe_control(control.run, number), *problems] if run.scope.shard is None else problems
    run = run.add_notices(*notices)
    ports.amend(run)
    return run


def describe_control(control: Run, number: int) -> str:
    """How many cases ran again, of which sample, and what this cost.

    Args:
        control: the run of these cases.
        number: their number.
    """
    paid = number_format.extra_cost([control])
    notice = f"Drift control: {number_format.count(number, 'case')} ran again ({control.code.message})"
    return f"{notice}{f'; this {paid}' if paid else ''}."


def _without_control(run: Run, problem: str, ports: Ports, *, has_failed: bool = False) -> Run:
    """The run without a control. A shard only notes why; `merge` corrects nothing, unless it has no case to measure."""
    if run.scope.shard is not None:
        run = run.with_shard(replace(run.scope.shard, no_control=problem[:_LONGEST_PROBLEM]))
    else:
        notice = f"The drift control {'failed' if has_failed else 'did not run'}, so nothing is corrected: {problem}."
        run = run.add_notices(notice)
    ports.amend(run)
    return run


async def _explain_missing(run: Run, base: Run, settings: Settings, ports: Ports) -> str:
    """Why a control can't measure the providers alone; empty if it can."""
    if settings.baseline_kind is BaselineKind.RERUN:
        return '`baseline = "rerun"` measures the whole base in this job'
    if replays_calls(settings):
        return "the gateway replays answers, which don't drift"
    if base.code.commit == run.code.commit and base.code.commit is not None and not (base.code.dirty or run.code.dirty):
        return "this run is of the base's own commit, so that every change is drift"
    return await explain_base_cannot_run(run, base, settings, ports)


def _choose_cases(run: Run, base: Run, plan: Plan, *, share: float, seed: int) -> Cases:
    """A random sample of the base's cases of each suite that ran on both sides with all of its cases.

    A part of a suite has the cases of the whole suite's sample that are in it. Those that no part has count nowhere.
    """
    chosen: Cases = {}
    for suite, other in _list_suites(run, base, {launch.name for launch in plan.launches}):
        hashes = list(dict.fromkeys(other.columns.hashes))
        choice = CaseChoice(sample=ceil(share * len(hashes)), seed=seed)
        sample = choice.draw_sample([CaseLabels(each) for each in hashes])
        if suite.part is not None:
            sample &= set(suite.columns.hashes)
        if sample:
            cases = chosen.setdefault(other.script or "", {}).setdefault(other.id, [])
            cases += (each for each in hashes if each in sample)
    return chosen


def _list_suites(run: Run, base: Run, scripts: set[str]) -> Iterator[tuple[SuiteResult, SuiteResult]]:
    """Each suite of the run with that of the base, if both are of one script of the plan."""
    comparison = compare(run, base)
    for index, base_index in comparison.pairs_for(Use.CONTROL):
        suite, other = run.suites[index], base.suites[base_index]
        is_planned = other.script is not None and other.script == suite.script and other.script in scripts
        if is_planned and suite.evidence.counts_all(Use.CONTROL):
            yield suite, other
