"""The drift control: a random part of the base's cases, run again at the base's commit in the same job.

All attempts, pushes and shards that have one base draw the same sample. Each shard runs those of its cases that the
shard itself has run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from math import ceil

from scoregate.errors import ScoregateError
from scoregate.features.drift.declare import DRIFT_CONTROL
from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.host import git
from scoregate.kernel.job.ports import Ports
from scoregate.kernel.judge.archive import CONTROL, RUN_FOLDER
from scoregate.kernel.judge.judgement import Baseline
from scoregate.kernel.judge.settings import BaselineKind, Settings
from scoregate.kernel.judge.settings.limit_fields import replays_calls
from scoregate.kernel.judge.settings.sources import OWN_FILE
from scoregate.kernel.run.dependencies.project import find_folder, read_project_tree
from scoregate.kernel.run.dependencies.shared_files import SHARED_FILES, digest_shared_files
from scoregate.kernel.run.plan import Plan, restrict_plan
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.runs.evidence import TrialRole, Use
from scoregate.kernel.types.runs.run import Run, SuiteResult
from scoregate.kernel.types.selection import CaseChoice, CaseLabels

NO_CASES = "no suite of this run has results in the base"
_LONGEST_PROBLEM = 500
_GITHUB, _JOBS = ".github/", (".github/workflows/", ".github/actions/")
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
    at_base = settings.model_copy(update={"baseline": f"{BaselineKind.RERUN}:{base.code.commit}", "message": title})
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
    if problem := next(_explain_base(run, base, settings), ""):
        return problem
    commit = base.code.commit or ""
    if await git.resolve_commit(ports.root, commit) is None:
        return f"the base's commit {commit[:7]} is not in this repository ({git.FETCH_ADVICE})"
    changed = await _list_changed_files(ports, commit)
    if changed is None:
        return "git can't list the files that changed"
    named = f"/{settings.env_file or '/'}"
    tree = await read_project_tree(ports.root, settings)
    shared = {} if tree is None else digest_shared_files(tree, find_folder(ports.root, tree))
    decisive = (each for each in changed if each in shared or _affects_environment(each) or f"/{each}".endswith(named))
    name = next(decisive, "")
    return f"{name} changed, and the control would run with this change" if name else ""


def _explain_base(run: Run, base: Run, settings: Settings) -> Iterator[str]:
    """Why the base or the settings allow no control."""
    if settings.baseline_kind is BaselineKind.RERUN:
        yield '`baseline = "rerun"` measures the whole base in this job'
    if replays_calls(settings):
        yield "the gateway replays answers, which don't drift"
    if base.code.commit is None or base.code.dirty:
        yield "the base's run is of no commit" if base.code.commit is None else "the base's run has uncommitted changes"
    if base.code.commit == run.code.commit and not run.code.dirty:
        yield "this run is of the base's own commit, so that every change is drift"
    known, own = base.conditions, run.conditions
    if known is None or own is None or known.settings != own.settings:
        yield "settings that change results differ from the base's, such as the model, and the control would use them"


async def _list_changed_files(ports: Ports, commit: str) -> list[str] | None:
    """The tracked files that differ from a commit, with those in the work tree; None if git can't list them."""
    output = await git.read_output(ports.root, "diff", "--name-only", "--no-renames", "-z", commit, "--")
    return None if output is None else [each.decode("utf-8", "replace") for each in output.split(b"\0") if each]


def _affects_environment(path: str) -> bool:
    """Whether a file can change the packages or the variables that suites run with."""
    *folders, name = path.split("/")
    if path.startswith(_GITHUB):
        return path.startswith(_JOBS)
    return "requirements" in folders or any(fnmatchcase(name, pattern) for pattern in (*SHARED_FILES, OWN_FILE))


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
