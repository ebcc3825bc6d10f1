"""Arms of the base: results that this run keeps, or the base's version of skills, which runs here without any."""

from __future__ import annotations

from dataclasses import replace

from scoregate.features.arms.contents import CONTENT, add_contents, read_options
from scoregate.kernel.job.base_results import explain_all, explain_results
from scoregate.kernel.job.github.context import pull_request
from scoregate.kernel.job.ports import Ports
from scoregate.kernel.job.steps import PlannedRun
from scoregate.kernel.judge.archive import BASE_FOLDER
from scoregate.kernel.judge.judgement import Baseline
from scoregate.kernel.judge.settings import BaselineKind
from scoregate.kernel.judge.settings.limit_fields import doubts_base, list_settings
from scoregate.kernel.run.dependencies.project import read_project_tree
from scoregate.kernel.run.kept_results import describe_unaffected
from scoregate.kernel.run.plan import Launch
from scoregate.kernel.types.declarations.declaration import Effect
from scoregate.kernel.types.runs.arms import Arm
from scoregate.kernel.types.runs.run import Run

_FOLDER = f"{BASE_FOLDER}/arms"
# Besides the cases, it names the folder of the run, which may differ between jobs.
_HIDDEN = "hidden"


async def carry_arms(planned: PlannedRun) -> PlannedRun:
    """Leave out the arms that are the same as in the base's run; they keep its results.

    With `--all` all arms run, and with a setting that keeps results of the base from being reused.

    Args:
        planned: the plan so far, and the base's run.
    """
    settings, base = planned.settings, planned.baseline.run
    plan = await add_contents(planned.plan, settings, planned.context.environ)
    planned = replace(planned, plan=plan)
    deciding = list_settings(Effect.KEEPS_RESULTS)
    runs_all = any(settings.is_for_run(each.name) and not each.of(settings) for each in deciding)
    if base is None or doubts_base(settings) or runs_all:
        return planned
    if await explain_all(planned, await read_project_tree(plan.root, settings), needs_record=False):
        return planned
    kept = frozenset(each.name for each in plan.launches if each.source.arm and _is_same(each, base))
    if not kept:
        return planned
    return replace(
        planned,
        plan=plan.carry_scripts(base, kept),
        notices=(*planned.notices, describe_unaffected(len(kept), "arm", base)),
        reasons={name: "" if name in kept else why for name, why in planned.reasons.items()},
    )


def _is_same(launch: Launch, base: Run) -> bool:
    """Whether an arm is the same as in the base's run, and its results there are complete."""
    options = read_options(launch.argv)
    base_options = next((read_options(each.command) for each in base.scripts if each.name == launch.name), {})
    names = (options.keys() | base_options.keys()) - {_HIDDEN}
    is_equal = all(options.get(name) == base_options.get(name) for name in names)
    return bool(options.get(CONTENT)) and is_equal and not next(explain_results(base, launch.name), "")


async def measure_base_arms(planned: PlannedRun, ports: Ports) -> Baseline:
    """The base's version of each skill, run in this job, if a pull request's base has no stored results.

    Other suites have no baseline then, so nothing is run if one is required for them.

    Args:
        planned: the plan, and what was found instead of a base's run.
        ports: runs the arms in the base's tree.
    """
    plan, settings, baseline = planned.plan, planned.settings, planned.baseline
    connection = planned.context.connection
    launches = tuple(launch for launch in plan.launches if launch.source.arm is Arm.WITH)
    has_others = any(launch.source.arm is None for launch in plan.launches)
    if connection is None or pull_request(connection.github) is None or not launches:
        return baseline
    if baseline.unreadable or settings.baseline_kind is not BaselineKind.AUTO:
        return baseline
    if has_others and settings.require_baseline:
        return baseline
    part = replace(plan, launches=launches, broken=(), carried=None)
    at_base = settings.model_copy(update={"baseline": str(BaselineKind.RERUN)})
    measured = await ports.rerun(part, at_base, folder=_FOLDER, slots=planned.slots)
    if measured.run is None or not measured.run.suites:
        note = measured.note if measured.run is None else "the base has none of these skills"
        return replace(baseline, note="; ".join(filter(None, (baseline.note, note))))
    return measured
