"""The pipeline: discover, find a baseline, plan, launch, record, compare, judge, report."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

import anyio
from anyio import to_thread

from scoregate.kernel.host.process import run_until_stopped
from scoregate.kernel.job.base_settings import add_base_values
from scoregate.kernel.job.job import make_report_context
from scoregate.kernel.job.ports import AmendRun, Ports, Reporting
from scoregate.kernel.job.steps import (
    LoadSteps,
    Outcome,
    PlannedRun,
    Step,
    Work,
    change_plan,
    find_sides,
    finish_plan,
    measure_base,
    measure_more,
    store,
)
from scoregate.kernel.judge.judge import compare_sides, judge, judge_sides
from scoregate.kernel.judge.judgement import Baseline, ComparedSides, Judged, list_sections
from scoregate.kernel.judge.settings import BaselineKind, Settings
from scoregate.kernel.run.frameworks import describe_frameworks
from scoregate.kernel.run.interpreter import Interpreter
from scoregate.kernel.run.plan import DiscoveredSuites, make_plan
from scoregate.kernel.run.tree_settings import merge_suite_gates
from scoregate.kernel.types.runs.fallen import FELL
from scoregate.kernel.types.runs.history import history_after, merge_histories, with_history_of
from scoregate.kernel.types.runs.past_runs import History
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.slots import NO_SLOTS, Slots

_LATEST_PRELOAD_S = 1.0
_NOT_RUN = Baseline(
    None, "this command runs no suites, so it can't rerun the baseline; name another baseline", unreadable=True
)
NOT_SOUGHT = Baseline(None, "the run was interrupted")
_NOT_PREPARED = Interpreter(("python",), "the run was interrupted")


async def run_gate(settings: Settings, ports: Ports, load: LoadSteps) -> Outcome:
    """Run the suites and judge them.

    Args:
        settings: the settings of the project.
        ports: what the pipeline acts through.
        load: loads the steps of features, in the order in which their hooks are called.
    """
    suites = await ports.discover(settings)
    settings = merge_suite_gates(settings, suites.sources)
    facts = ports.reporting.context.facts
    steps = load(replace(facts, settings=settings, sources=suites.sources, slots=ports.requests))
    async with ports.reporting.announce():
        work = await _measure(suites, settings, ports, steps, load)
        sides = ComparedSides(work.run, work.baseline, settings, work.slots, ports.reporting.calibrations)
        judged = judge(sides, load)
        _keep_after_judge(work.run, judged, ports.amend)
        for step in steps:
            judged = await step.check_verdict(work, judged, lambda run: judge(replace(sides, run=run), load))
        outcome = await _report(judged, ports.reporting, steps)
    return replace(outcome, interrupted=ports.stop.is_set())


async def _measure(
    suites: DiscoveredSuites, settings: Settings, ports: Ports, steps: Sequence[Step], load: LoadSteps
) -> Work:
    """Run the suites and what features measure more, and find what the run is compared with."""
    planned = await _plan(suites, settings, ports, steps)
    baseline, slots = planned.baseline, planned.slots
    # Before the run is recorded, which replaces the last one in its folder.
    history = await load_history(baseline, settings, ports)
    finished = await finish_plan(steps, planned, ports)
    run = await _record(finished, ports, steps)
    run = with_history(run, history, baseline, ports.amend, steps, finished.slots)
    sides = ComparedSides(run, baseline, settings, slots, ports.reporting.calibrations)
    compare, judge_both = partial(compare_sides, sides, load=load), partial(judge_sides, sides, load=load)
    work = await measure_more(steps, Work(run, baseline, planned.plan, settings, ports, slots, compare, judge_both))
    if work.baseline is not baseline:
        baseline = await _apply_reviews(work.baseline, ports.reporting)
    return replace(work, run=await settle_run(work.run, ports), baseline=baseline)


async def _plan(suites: DiscoveredSuites, settings: Settings, ports: Ports, steps: Sequence[Step]) -> PlannedRun:
    """What will run and what it is compared with, before results of earlier runs are reused."""
    context, stop = ports.reporting.context, ports.stop
    slots = await run_until_stopped(stop, find_sides(steps, context, settings), stopped=NO_SLOTS)
    baseline = await run_until_stopped(stop, find_baseline(settings, ports.reporting), stopped=NOT_SOUGHT)
    interpreter = await run_until_stopped(stop, ports.prepare(settings, suites.sources), stopped=_NOT_PREPARED)
    plan = make_plan(suites, settings, interpreter=interpreter, root=ports.root)
    frameworks = describe_frameworks(suites.frameworks, has_settings=bool(settings.file_values))
    notices = (*settings.notices, *frameworks, *suites.notices, *suites.explain_missing())
    planned = PlannedRun(plan, baseline, settings, context, notices=notices, slots=slots)
    planned = replace(planned, baseline=await _measure_base(planned, ports, steps))
    return add_base_values(await change_plan(steps, planned), ports)


async def _measure_base(planned: PlannedRun, ports: Ports, steps: Sequence[Step]) -> Baseline:
    """The baseline, after running the base here if the settings ask for it, or if features need it."""
    if ports.stop.is_set():
        return planned.baseline
    if planned.settings.baseline_kind is not BaselineKind.RERUN:
        return await measure_base(steps, planned, ports)
    measured = await ports.rerun(planned.plan, planned.settings, slots=planned.slots)
    return await _apply_reviews(measured, ports.reporting)


async def _record(planned: PlannedRun, ports: Ports, steps: Sequence[Step]) -> Run:
    """Run the suites."""
    asked = steps if planned.settings.selection.max_failures is not None else ()  # to find an excuse imports more
    excuses = [each for step in asked if (each := step.excuse(planned.slots, planned.baseline.run)) is not None]
    async with _preload(ports):
        return await ports.record(planned.plan, planned.settings, planned.notices, excuses=excuses)


async def settle_run(run: Run, ports: Ports) -> Run:
    """The run after its last suite. It is not complete if anything was stopped: suites, a base, or further cases."""
    if ports.stop.is_set():
        run = run.interrupt()
        ports.amend(run)
    return await ports.settle(run, ports.amend)


@asynccontextmanager
async def _preload(ports: Ports) -> AsyncIterator[None]:
    """Import what the end of a run needs while the first script starts, which takes longer (measured)."""

    async def preload() -> None:
        with anyio.move_on_after(_LATEST_PRELOAD_S):  # on a cluster, no process starts here
            await ports.started.wait()
        await to_thread.run_sync(ports.reporting.preload)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(preload)
        yield
        tasks.cancel_scope.cancel()


async def gate_finished_run(
    run: Run,
    settings: Settings,
    reporting: Reporting,
    load: LoadSteps,
    *,
    amend: AmendRun = lambda _: None,
    check: Callable[[ComparedSides], Run] = lambda sides: sides.run,
) -> Outcome:
    """Judge a run that was merged from several, or made before.

    Args:
        run: the run.
        settings: the settings of the project.
        reporting: finds the baseline, and delivers the reports.
        load: loads the steps of features.
        amend: writes `run.json` again; nothing if the run has no folder here.
        check: returns the run with what is only known once its baseline is.
    """
    steps = load(replace(reporting.context.facts, settings=settings, runs=(run,)))
    async with reporting.announce():
        slots = await find_sides(steps, reporting.context, settings, finished=run)
        run = await to_thread.run_sync(reporting.apply_reviews, run)
        rerun = settings.baseline_kind is BaselineKind.RERUN
        baseline = _NOT_RUN if rerun else await find_baseline(settings, reporting)
        history = history_after(baseline.run) if baseline.run is not None else History()
        run = with_history(run, history, baseline, amend, steps, slots)
        sides = ComparedSides(run, baseline, settings, slots, reporting.calibrations)
        run = check(sides)
        judged = judge(replace(sides, run=run), load)
        _keep_after_judge(run, judged, amend)
        return await _report(judged, reporting, steps)


async def find_baseline(settings: Settings, reporting: Reporting) -> Baseline:
    """The baseline of the first source that has one, with the reviews since; without one, the reasons."""
    missing = list[Baseline]()
    for source in reporting.baselines:
        baseline = await source(settings)
        if baseline is not None and baseline.run is not None:
            baseline = replace(baseline, pool=()) if reporting.is_scheduled else baseline
            return await _apply_reviews(baseline, reporting)
        missing += [baseline] if baseline is not None else []
    notes = "; ".join(each.note for each in missing)
    return Baseline(None, notes, unreadable=any(each.unreadable for each in missing))


async def _apply_reviews(baseline: Baseline, reporting: Reporting) -> Baseline:
    return await to_thread.run_sync(baseline.with_runs, reporting.apply_reviews)


async def load_history(baseline: Baseline, settings: Settings, ports: Ports) -> History:
    """Load the history before the last run is overwritten. A baseline that is rerun has no history.

    If the baseline is a folder on disk, its history is merged with that of the last run, which has the runs in between.
    """
    kind = settings.baseline_kind
    history = history_after(baseline.run) if baseline.run is not None and kind is not BaselineKind.RERUN else None
    if history is not None and not baseline.folder:
        return history
    previous = await ports.read_previous_run()
    if previous is None:
        return history or History()
    return history_after(previous) if history is None else merge_histories(history, history_after(previous))


def with_history(
    run: Run, history: History, baseline: Baseline, amend: AmendRun, steps: Sequence[Step], slots: Slots
) -> Run:
    """The run with its history, the baseline, and what features store, on disk too."""
    changed = store(steps, replace(with_history_of(run, history), compared_with=baseline.reference), slots)
    if changed != run:
        amend(changed)
    return changed


def _keep_after_judge(run: Run, judged: Judged, amend: AmendRun) -> None:
    """Write to disk what features keep of the judgement, for the next run."""
    changed = _mark_fallen(run, judged)
    for step in judged.steps:
        changed = step.after_judge(changed, judged.comparison)
    if changed is not run:
        amend(changed)


def _mark_fallen(run: Run, judged: Judged) -> Run:
    from scoregate.kernel.gate.fallen import has_fallen

    fell = has_fallen(judged.comparison, judged.verdict, [check for step in judged.steps for check in step.checks])
    return run if fell == (FELL.name in run.slots) else replace(run, slots=run.slots.put(FELL, fell or None))


async def _report(judged: Judged, reporting: Reporting, steps: Sequence[Step]) -> Outcome:
    from scoregate.kernel.report.build_view import build_view

    comparison = judged.comparison
    for step in steps:
        comparison = await step.before_report(comparison, reporting.context)
    sections = list_sections(replace(judged, comparison=comparison))
    view = build_view(comparison, judged.verdict, make_report_context(reporting.context), sections)
    delivery = await reporting.publish(view)
    comment = delivery.outputs.get("comment-url", "")
    return Outcome(judged.comparison, judged.verdict, judged.steps, view, delivery.warnings, delivery.pending, comment)
