"""The drift control: a random part of the base's cases, run again at the base's commit in the same job."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from math import ceil

from scoregate.ci import git
from scoregate.ci.archive import CONTROL, RUN_FOLDER
from scoregate.ci.baseline import Baseline
from scoregate.ci.dependencies.tree import SHARED_FILES
from scoregate.ci.extra_runs import describe_extra_cost
from scoregate.ci.plan import Plan, restrict_plan
from scoregate.ci.ports import Ports
from scoregate.ci.report import number_format
from scoregate.ci.settings import BaselineKind, GatewayMode, Settings
from scoregate.ci.settings.sources import OWN_FILE
from scoregate.core.case_choice import CaseChoice, CaseLabels
from scoregate.core.comparison import compare
from scoregate.core.run import Run
from scoregate.errors import ScoregateError

_FETCH = "fetch it; in a workflow, give actions/checkout `fetch-depth: 0`"
_WORKFLOWS = ".github/"
Cases = dict[str, dict[str, list[str]]]  # hashes by script and suite id


async def run_drift_control(run: Run, baseline: Baseline, plan: Plan, settings: Settings, ports: Ports) -> Run:
    """The run with its control; a notice says why there is none. Without a control nothing is corrected.

    Args:
        run: the run.
        baseline: what it is compared with.
        plan: the plan of the run.
        settings: the settings of the project.
        ports: runs the cases in the base's tree.
    """
    base = baseline.run
    if base is None or ports.stop.is_set():
        return run  # other notices say so
    if problem := await _explain_missing(run, base, settings, ports):
        return _with_notice(run, f"The drift control did not run, so nothing is corrected: {problem}.", ports)
    seed = int.from_bytes(hashlib.blake2b(run.id.encode(), digest_size=4).digest())
    cases = _choose_cases(run, base, plan, share=settings.drift_control, seed=seed)
    if not cases:
        problem = "no suite of this run has results in the base"
        return _with_notice(run, f"The drift control did not run, so nothing is corrected: {problem}.", ports)
    number = sum(len(hashes) for suites in cases.values() for hashes in suites.values())
    title = f"{settings.drift_control:g} of the cases of {base.name}, seed {seed}"
    at_base = settings.model_copy(update={"baseline": f"{BaselineKind.RERUN}:{base.commit}", "message": title})
    try:
        part = restrict_plan(plan, cases, repeats=1)
        found = await ports.rerun(part, at_base, folder=f"{RUN_FOLDER}/{CONTROL}")
    except ScoregateError as error:
        problem = error.message.rstrip(".")
        return _with_notice(run, f"The drift control failed, so nothing is corrected: {problem}.", ports)
    if found.run is None or not found.run.complete:
        problem = "it was interrupted" if found.run is not None else found.note
        return _with_notice(run, f"The drift control failed, so nothing is corrected: {problem}.", ports)
    paid = describe_extra_cost([found.run])
    notice = f"Drift control: {number_format.count(number, 'case')} of {base.name} ran again (seed {seed})"
    problem = f" In it, {'; '.join(found.note.split('; ')[1:])}." if found.unreadable else ""
    run = replace(run, control=found.run)
    return _with_notice(run, f"{notice}{f'; this {paid}' if paid else ''}.{problem}", ports)


def _with_notice(run: Run, notice: str, ports: Ports) -> Run:
    run = replace(run, notices=(*run.notices, notice))
    ports.amend(run)
    return run


async def _explain_missing(run: Run, base: Run, settings: Settings, ports: Ports) -> str:
    """Why a control can't measure the providers alone; empty if it can."""
    if problem := next(_explain_base(run, base, settings), ""):
        return problem
    commit = base.commit or ""
    if await git.resolve_commit(ports.root, commit) is None:
        return f"the base's commit {commit[:7]} is not in this repository ({_FETCH})"
    changed = await _list_changed_files(ports, commit)
    if changed is None:
        return "git can't list the files that changed"
    named = f"/{settings.env_file or '/'}"
    name = next((each for each in changed if _affects_environment(each) or f"/{each}".endswith(named)), "")
    return f"{name} changed, and the control would run with this change" if name else ""


def _explain_base(run: Run, base: Run, settings: Settings) -> Iterator[str]:
    """Why the base or the settings allow no control."""
    if settings.baseline_kind is BaselineKind.RERUN:
        yield '`baseline = "rerun"` measures the whole base in this job'
    if settings.gateway.mode is GatewayMode.REPLAY:
        yield "the gateway replays answers, which don't drift"
    if base.commit is None or base.dirty:
        yield "the base's run is of no commit" if base.commit is None else "the base's run has uncommitted changes"
    if base.commit == run.commit and not run.dirty:
        yield "this run is of the base's own commit, so that every change is drift"
    known, own = base.conditions, run.conditions
    if known is None or own is None or known.settings != own.settings:
        yield "settings that change results differ from the base's, such as the model, and the control would use them"


async def _list_changed_files(ports: Ports, commit: str) -> list[str] | None:
    """The tracked files that differ from a commit, with those in the work tree; None if git can't list them."""
    output = await git.read_output(ports.root, "diff", "--name-only", "--no-renames", "-z", commit, "--")
    return None if output is None else [each.decode("utf-8", "replace") for each in output.split(b"\0") if each]


def _affects_environment(path: str) -> bool:
    """Whether a file can change the packages that suites run with."""
    *folders, name = path.split("/")
    if path.startswith(_WORKFLOWS):
        return False
    return "requirements" in folders or any(fnmatchcase(name, pattern) for pattern in (*SHARED_FILES, OWN_FILE))


def _choose_cases(run: Run, base: Run, plan: Plan, *, share: float, seed: int) -> Cases:
    """A random sample of the base's cases of each suite that ran on both sides."""
    chosen: Cases = {}
    for script, suite, hashes in _list_suites(run, base, {launch.name for launch in plan.launches}):
        choice = CaseChoice(sample=ceil(share * len(hashes)), seed=seed)
        sample = choice.draw_sample([CaseLabels(each) for each in hashes])
        chosen.setdefault(script, {}).setdefault(suite, []).extend(each for each in hashes if each in sample)
    return chosen


def _list_suites(run: Run, base: Run, scripts: set[str]) -> Iterator[tuple[str, str, list[str]]]:
    """The script, the id and the hashes of each suite of the base that the run has, too."""
    comparison = compare(run, base)
    for at, base_at in comparison.measured_pairs:
        suite, other = run.suites[at], base.suites[base_at]
        hashes = list(dict.fromkeys(other.columns.hashes))
        if other.script is not None and other.script == suite.script and other.script in scripts and hashes:
            yield other.script, other.id, hashes
