"""The story on one page: discover, plan, find a base, launch, record, compare, judge, report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from anyio import to_thread

from scoregate.ci.adapt import adapt
from scoregate.ci.baseline import Baseline
from scoregate.ci.confirm import confirm
from scoregate.ci.interpreter import Interpreter
from scoregate.ci.parts import Amend, Ports, Reporting
from scoregate.ci.plan import Plan, make_plan
from scoregate.ci.policies import chosen_policy, with_gates
from scoregate.ci.remember import recall, remember
from scoregate.ci.report.view import ReportView
from scoregate.ci.settings import BaselineKind, Settings
from scoregate.ci.unless import unless
from scoregate.core.calibration import Calibrations
from scoregate.core.compare import Comparison, compare
from scoregate.core.gate import Verdict, judge
from scoregate.core.history import History
from scoregate.core.lineage import line_of
from scoregate.core.record import Run

INTERRUPTED = 130
_NOT_RUN = Baseline(None, "suites are not run here, nor those of the base; name another baseline", unreadable=True)
_NOT_SOUGHT = Baseline(None, "the run was interrupted")
_NOT_PREPARED = Interpreter(("python",), "the run was interrupted")


@dataclass(frozen=True, slots=True)
class Outcome:
    """Where the story ends; `warnings` tell what could not be delivered, `pending` that the comment is among it.

    `view` is what was reported, None where nothing was. `comment` is its address, where there is one.
    """

    comparison: Comparison
    verdict: Verdict
    view: ReportView | None = None
    warnings: tuple[str, ...] = ()
    pending: bool = False
    comment: str = ""
    interrupted: bool = False

    @property
    def exit_code(self) -> int:
        """The verdict's, or 130 where the run was interrupted."""
        return INTERRUPTED if self.interrupted else self.verdict.exit_code


async def gate(settings: Settings, ports: Ports) -> Outcome:
    """Run the suites and judge them."""
    found = await ports.discover(settings)
    settings = with_gates(settings, found.sources)
    async with ports.reporting.announced():
        baseline = await unless(ports.stop, first_baseline(settings, ports.reporting), stopped=_NOT_SOUGHT)
        interpreter = await unless(ports.stop, ports.prepare(settings), stopped=_NOT_PREPARED)
        plan = make_plan(found, settings, interpreter=interpreter, root=ports.root)
        if settings.baseline_kind is BaselineKind.RERUN and not ports.stop.is_set():
            baseline = await _by_now(await ports.rerun(plan, settings), ports.reporting)
        plan = ports.arm(plan, baseline.run)
        history = await recall(baseline, settings, ports)
        resumed = await ports.resume(plan, settings)
        run = await ports.record(resumed.plan, settings, (*settings.notices, *found.notices, *resumed.notices))
        run = resumed.settle(run)
        ports.amend(run)
        run = remember(run, history, baseline, ports.amend)
        if run.complete:
            run, baseline = await _further(run, baseline, plan, settings, ports)
        run = _cut_short(run, ports) if ports.stop.is_set() else run
        run = await ports.settle(run, ports.amend)
        outcome = await _told(judged(run, baseline, settings, ports.reporting.calibrations), ports.reporting)
    return replace(outcome, interrupted=ports.stop.is_set())


def _not_kept(_: Run) -> None:
    """Nothing of the run is on disk here."""


async def gate_merged(run: Run, settings: Settings, reporting: Reporting, *, amend: Amend = _not_kept) -> Outcome:
    """Judge a run that was put together from several, or made before; `amend` writes again what is known of it."""
    async with reporting.announced():
        run = await to_thread.run_sync(reporting.counted, run)
        rerun = settings.baseline_kind is BaselineKind.RERUN
        baseline = _NOT_RUN if rerun else await first_baseline(settings, reporting)
        history = line_of(baseline.run) if baseline.run is not None else History()
        run = remember(run, history, baseline, amend)
        return await _told(judged(run, baseline, settings, reporting.calibrations), reporting)


async def _further(run: Run, baseline: Baseline, plan: Plan, settings: Settings, ports: Ports) -> tuple[Run, Baseline]:
    """What is run besides the suites themselves, where it was asked for: more repeats, confirmations."""
    if settings.repeats == "auto":
        run, baseline = await adapt(run, baseline, plan, settings, ports)
        baseline = await _by_now(baseline, ports.reporting)
    return await confirm(judged(run, baseline, settings).comparison, plan, settings, ports), baseline


def _cut_short(run: Run, ports: Ports) -> Run:
    """Not the whole of what was asked for, whatever part of it was stopped: a base, repeats, confirmations."""
    run = replace(run, complete=False)
    ports.amend(run)
    return run


def judged(
    run: Run, baseline: Baseline, settings: Settings, calibrations: Callable[[], Calibrations] = dict
) -> Outcome:
    """Compare a run with its base and apply the policy; nothing is run.

    Args:
        calibrations: tells how well judges agree with people; asked only where the policy asks for it.
    """
    chosen = chosen_policy(settings, baseline.run)
    policy = chosen.policy
    comparison = compare(
        run,
        baseline.run,
        baseline.note,
        unreadable=baseline.unreadable,
        pool=baseline.pool,
        criteria=policy.criteria,
        criteria_of=policy.criteria_of,
    )
    known = calibrations() if policy.asks_for_calibration else {}
    verdict = judge(
        comparison, policy, policy_changes=chosen.changes, policy_problem=chosen.problem, calibrations=known
    )
    return Outcome(comparison, verdict)


async def _told(outcome: Outcome, reporting: Reporting) -> Outcome:
    view = reporting.view(outcome.comparison, outcome.verdict)
    delivery = await reporting.publish(view)
    comment = delivery.outputs.get("comment-url", "")
    return replace(outcome, view=view, warnings=delivery.warnings, pending=delivery.pending, comment=comment)


async def _by_now(baseline: Baseline, reporting: Reporting) -> Baseline:
    return await to_thread.run_sync(baseline.with_runs, reporting.counted)


async def first_baseline(settings: Settings, reporting: Reporting) -> Baseline:
    """The first base that a source has, with what people have said since; without one, why there is none."""
    found = list[Baseline]()
    for source in reporting.baselines:
        baseline = await source(settings)
        if baseline is not None and baseline.run is not None:
            return await _by_now(baseline, reporting)
        found += [baseline] if baseline is not None else []
    return Baseline(None, "; ".join(each.note for each in found), unreadable=any(each.unreadable for each in found))
