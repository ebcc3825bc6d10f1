"""Whether a run can keep results of the base's run, and why not."""

from __future__ import annotations

from collections.abc import Iterator

from scoregate import __version__
from scoregate.kernel.job.job import WRITING_EVENTS, JobContext
from scoregate.kernel.job.steps import PlannedRun
from scoregate.kernel.judge.settings import BaselineKind, Settings
from scoregate.kernel.judge.settings.limit_fields import list_settings, runs_elsewhere
from scoregate.kernel.run.dependencies.tree import Tree
from scoregate.kernel.run.recording import read_conditions
from scoregate.kernel.types.declarations.declaration import Effect
from scoregate.kernel.types.runs.run import Run, SuiteResult

_NO_RECORD = "the base's run did not record what its suites depend on (it needs `affected` too)"


async def explain_all(planned: PlannedRun, tree: Tree | None, *, needs_record: bool = True) -> str:
    """Why all suites run; empty if that depends on each.

    Args:
        planned: the plan of all suites, and the base.
        tree: the files of the project.
        needs_record: whether the base's run must have recorded what its suites depend on.
    """
    settings, base = planned.settings, planned.baseline.run
    why = _explain_job(planned.context, settings, base, tree)
    why = why or ("" if base is None else _explain_base(base, needs_record))
    if not why and base is not None:
        conditions, known = await read_conditions(planned.plan.root, settings, None), base.conditions
        if known is None or known.settings != conditions.settings:
            why = "settings that change results differ from the base's, such as the model or the interpreter"
    return why


def _explain_job(context: JobContext, settings: Settings, base: Run | None, tree: Tree | None) -> str:
    job = context.connection
    is_named_by_change = settings.baseline_kind is BaselineKind.FILE and settings.is_from_change("baseline")
    keeps_on_push = any(each.of(settings) for each in list_settings(Effect.KEEPS_ON_PUSH))
    is_part = bool(settings.selection.description or settings.filters or settings.narrowed)
    reasons = {
        "this is not a pull request, and its results are a base for others": job is not None
        and job.github.event_name in WRITING_EVENTS
        and not (keeps_on_push and job.github.event_name == "push"),
        '`baseline = "rerun"` runs the base\'s suites too, so there are no results to keep': settings.baseline_kind
        is BaselineKind.RERUN,
        "workers of a cluster record nothing": runs_elsewhere(settings),
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
    if base.code.version != __version__:
        return f"the base's run was made by scoregate {base.code.version}"
    if not base.is_unselected or base.end.stopped:
        return "the base's run has not all results"
    return ""


def explain_results(base: Run, script: str) -> Iterator[str]:
    """Why the base's results of a script can't be kept."""
    from scoregate.kernel.gate.run_rules import find_script_failures

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
