"""Which suites a change can affect: only these run, the others keep the results of the base's run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from anyio import to_thread

from scoregate import __version__
from scoregate.ci.archive import RunWriter
from scoregate.ci.baseline import Baseline
from scoregate.ci.dependencies.changes import Changes
from scoregate.ci.dependencies.project import find_folder, read_project_tree
from scoregate.ci.dependencies.recording import digest_launch
from scoregate.ci.dependencies.tree import Tree
from scoregate.ci.job import WRITING_EVENTS, JobContext
from scoregate.ci.kept_cases import describe_rows, describe_source
from scoregate.ci.plan import AffectedPlan, CarriedScripts, KeptCases, Plan
from scoregate.ci.report import number_format
from scoregate.ci.resume import read_conditions
from scoregate.ci.settings import BaselineKind, ExecutorKind, Settings
from scoregate.core.runs.dependencies import merge_dependencies
from scoregate.core.runs.evidence import TrialOrigin, Trials, list_sources
from scoregate.core.runs.run import Run, SuiteResult

_NO_RECORD = "the base's run did not record what its suites depend on (it needs `affected` too)"


async def choose_affected(context: JobContext, plan: Plan, settings: Settings, baseline: Baseline) -> AffectedPlan:
    """Leave out the launches of a plan that nothing in the change can affect; in doubt they stay.

    Args:
        context: the job's context.
        plan: the plan of all suites.
        settings: the settings of the project.
        baseline: the base's run, whose results the others keep.
    """
    tree = await read_project_tree(plan.root, settings)
    why = await explain_all(context, plan, settings, baseline.run, tree)
    if why or baseline.run is None or tree is None:
        notices = () if baseline.run is None else (f"All suites ran: {why}",)
        return AffectedPlan(plan, {each.name: why for each in plan.launches}, notices)
    job = context.connection
    keeps_cases = job is None or job.github.event_name not in WRITING_EVENTS
    folder = find_folder(plan.root, tree)
    return await to_thread.run_sync(_choose, plan, baseline.run, tree, folder, keeps_cases)


async def explain_all(
    context: JobContext,
    plan: Plan,
    settings: Settings,
    base: Run | None,
    tree: Tree | None,
    *,
    needs_record: bool = True,
) -> str:
    """Why all suites run; empty if that depends on each.

    Args:
        context: the job's context.
        plan: the plan of all suites.
        settings: the settings of the project.
        base: the base's run.
        tree: the files of the project.
        needs_record: whether the base's run must have recorded what its suites depend on.
    """
    why = _explain_job(context, settings, base, tree) or ("" if base is None else _explain_base(base, needs_record))
    if not why and base is not None:
        conditions, known = await read_conditions(plan.root, settings, None), base.conditions
        if known is None or known.settings != conditions.settings:
            why = "settings that change results differ from the base's, such as the model or the interpreter"
    return why


def _explain_job(context: JobContext, settings: Settings, base: Run | None, tree: Tree | None) -> str:
    job = context.connection
    is_named_by_change = settings.baseline_kind is BaselineKind.FILE and settings.is_from_change("baseline")
    is_part = bool(settings.selection.description or settings.filters or settings.narrowed)
    reasons = {
        "this is not a pull request, and its results are a base for others": job is not None
        and job.github.event_name in WRITING_EVENTS
        and not (settings.affected_push and job.github.event_name == "push"),
        '`baseline = "rerun"` runs the base\'s suites too, so there are no results to keep': settings.baseline_kind
        is BaselineKind.RERUN,
        "workers of a cluster record nothing": settings.executor is not ExecutorKind.LOCAL,
        "the change itself names its baseline": job is not None and is_named_by_change,
        "a part of the suites or cases was named": is_part,
        "git can't list the files of this project": tree is None,
        "there is no base to compare with": base is None,
    }
    return next((text for text, holds in reasons.items() if holds), "")


def _explain_base(base: Run, needs_record: bool) -> str:
    """Why no results of a run can be kept; empty if some may."""
    if needs_record and not base.dependencies.is_recorded:
        return _NO_RECORD
    if base.version != __version__:
        return f"the base's run was made by scoregate {base.version}"
    is_filtered = base.filters != base.file_filters
    if not base.complete or base.selection or base.narrowed or base.shard or is_filtered or base.stopped:
        return "the base's run has not all results"
    return ""


def _choose(plan: Plan, base: Run, tree: Tree, folder: str, keeps_cases: bool) -> AffectedPlan:
    changes = Changes(base.dependencies, tree, folder)
    reasons, rows = dict[str, str](), dict[str, tuple[str, ...]]()
    for launch in plan.launches:
        scripts, digest = base.dependencies.find_scripts(launch.name), digest_launch(launch)
        problem = "the base's run has no record of it" if not scripts else next(explain_results(base, launch.name), "")
        why = problem or next(filter(None, (changes.find_reason(each, digest) for each in scripts)), "")
        reasons[launch.name] = why
        is_candidate = why and not problem and keeps_cases and len(scripts) == 1
        if files := changes.find_changed_rows(scripts[0], digest) if is_candidate else ():
            rows[launch.name], reasons[launch.name] = files, describe_rows(files)
    plan = replace(plan, kept=KeptCases(base, rows)) if rows else plan
    kept = frozenset(name for name, why in reasons.items() if not why)
    if not kept:
        notices = () if rows else ("All suites ran: each may be affected by the change",)
        return AffectedPlan(plan, reasons, notices)
    launches = tuple(launch for launch in plan.launches if launch.name not in kept)
    suites = sum(suite.script in kept for suite in base.suites)
    notice = (
        f"{number_format.count(suites, 'suite')} did not run, because nothing that it depends on changed: "
        if suites == 1
        else f"{suites:,} suites did not run, because nothing that they depend on changed: "
    )
    notice += f"the results are those of {describe_source(base).name}"
    return AffectedPlan(replace(plan, launches=launches, carried=CarriedScripts(base, kept)), reasons, (notice,))


def explain_results(base: Run, script: str) -> Iterator[str]:
    """Why the base's results of a script can't be kept."""
    from scoregate.core.gate.run_rules import find_script_failures

    suites = [suite for suite in base.suites if suite.script == script]
    names = [each.name for each in base.scripts]
    if not suites:
        yield "the base's run has no results of it"
    if names.count(script) != 1 or script in find_script_failures(base):
        yield "it failed in the base's run"
    for suite in suites:
        yield from _explain_suite(suite)


def _explain_suite(suite: SuiteResult) -> Iterator[str]:
    columns = suite.columns
    if not suite.complete or suite.errors or suite.skipped or suite.unfinished or suite.part is not None:
        yield f"the base's results of {suite.label} are not complete"
    if len(columns.errored_rows()):
        yield f"cases of {suite.label} have errors in the base's run"
    if suite.pending or any(info.battles for info in suite.evaluators.values()):
        yield f"{suite.label} is compared with earlier outputs, or waits for people"


def add_carried(run: Run, carried: CarriedScripts, writer: RunWriter) -> Run:
    """The run with the suites that it carries over, whose cases are written.

    Args:
        run: the run.
        carried: what it carries over.
        writer: writes the cases of the run.

    Raises:
        RecordError: they can't be written.
    """
    suites, places = list(run.suites), dict[int, int]()
    labels = {suite.label for suite in suites}
    for index, suite in enumerate(carried.run.suites):
        if suite.script in carried.scripts:
            places[index] = len(suites)
            label = f"{suite.id} ({suite.script})" if suite.label in labels else suite.label
            source = suite.trials.find_run(TrialOrigin.CARRIED) or describe_source(carried.run)
            suites.append(replace(suite, label=label, trials=Trials(suite.columns, list_sources(carried=source))))
    writer.add_media_of(carried.run)
    for case in carried.run.cases:
        if case.suite in places:
            writer.add(replace(case, suite=places[case.suite]))
    scripts = [*run.scripts, *(each for each in carried.run.scripts if each.name in carried.scripts)]
    return replace(
        run,
        suites=tuple(suites),
        scripts=tuple(sorted(scripts, key=lambda each: each.name)),
        dependencies=merge_dependencies(run.dependencies, carried.run.dependencies, carried.scripts),
    )
