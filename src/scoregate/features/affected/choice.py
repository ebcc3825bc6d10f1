"""Which suites a change can affect: only these run, the others keep the results of the base's run."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from anyio import to_thread

from scoregate.features.affected.changes import Changes
from scoregate.kernel.job.base_results import explain_all, explain_results
from scoregate.kernel.job.job import WRITING_EVENTS
from scoregate.kernel.job.ports import Ports
from scoregate.kernel.job.steps import PlannedRun
from scoregate.kernel.run.dependencies.project import find_folder, read_project_tree
from scoregate.kernel.run.dependencies.recording import digest_launch
from scoregate.kernel.run.dependencies.tree import Tree
from scoregate.kernel.run.kept_results import describe_unaffected
from scoregate.kernel.run.plan import KeptCases
from scoregate.kernel.run.reuse import offer_results
from scoregate.kernel.types.runs.run import Run


async def choose_affected(planned: PlannedRun) -> PlannedRun:
    """Leave out the launches of a plan that nothing in the change can affect; in doubt they stay.

    Args:
        planned: the plan of all suites, and the base, whose results the others keep.
    """
    plan, base, job = planned.plan, planned.baseline.run, planned.context.connection
    tree = await read_project_tree(plan.root, planned.settings)
    why = await explain_all(planned, tree)
    if why or base is None or tree is None:
        notices = () if base is None else (f"All suites ran: {why}",)
        reasons = {each.name: why for each in plan.launches}
        return replace(planned, reasons=reasons, notices=(*planned.notices, *notices))
    keeps_cases = job is None or job.github.event_name not in WRITING_EVENTS
    folder = find_folder(plan.root, tree)
    return await to_thread.run_sync(_choose, planned, base, tree, folder, keeps_cases)


def _choose(planned: PlannedRun, base: Run, tree: Tree, folder: str, keeps_cases: bool) -> PlannedRun:
    plan, changes = planned.plan, Changes(base.dependencies, tree, folder)
    reasons, rows = dict[str, str](), dict[str, tuple[str, ...]]()
    for launch in plan.launches:
        scripts, digest = base.dependencies.find_scripts(launch.name), digest_launch(launch)
        problem = "the base's run has no record of it" if not scripts else next(explain_results(base, launch.name), "")
        why = problem or next(filter(None, (changes.find_reason(each, digest) for each in scripts)), "")
        reasons[launch.name] = why
        is_candidate = why and not problem and keeps_cases and len(scripts) == 1
        if files := changes.find_changed_rows(scripts[0], digest) if is_candidate else ():
            rows[launch.name], reasons[launch.name] = files, f"cases whose rows in {', '.join(files)} changed"
    plan = replace(plan, kept=KeptCases(base, rows)) if rows else plan
    carried = frozenset(name for name, why in reasons.items() if not why)
    notice = _describe_choice(base, carried, has_rows=bool(rows))
    return replace(
        planned,
        plan=plan.carry_scripts(base, carried) if carried else plan,
        reasons=reasons,
        notices=(*planned.notices, *filter(None, (notice,))),
    )


def _describe_choice(base: Run, carried: Collection[str], *, has_rows: bool) -> str:
    if not carried:
        return "" if has_rows else "All suites ran: each may be affected by the change"
    return describe_unaffected(sum(suite.script in carried for suite in base.suites), "suite", base)


async def offer_kept_cases(planned: PlannedRun, kept: KeptCases, ports: Ports) -> PlannedRun:
    """Offer the base's results to scripts of which only rows changed.

    A script takes the result of a case only if the case and the evaluators are the same. This replaces what an earlier
    attempt offers to such a script, so that all results which it takes are those of the base.

    Args:
        planned: the plan, with what an earlier attempt offers.
        kept: the scripts.
        ports: where files for suites are written.
    """
    plan = planned.plan
    part = replace(plan, launches=tuple(each for each in plan.launches if each.name in kept.scripts))
    offered = await to_thread.run_sync(offer_results, kept.run, part, ports.scratch / "kept", ports.identity)
    known = {launch.name: launch for launch in offered.plan.launches}
    launches = tuple(known.get(each.name, each) for each in plan.launches)
    return replace(planned, plan=replace(plan, launches=launches, offered=(*plan.offered, kept.run)))
