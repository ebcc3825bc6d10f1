"""Scripts of which only rows of data files changed: their other cases keep the results of the base's run."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from anyio import to_thread

from scoregate.ci.plan import KeptCases
from scoregate.ci.report import number_format
from scoregate.ci.resume import ResumedPlan, offer_results, suite_key
from scoregate.ci.user_ids import Identity
from scoregate.core.runs.dependencies import CarriedFrom, RunDependencies, add_earlier_uses
from scoregate.core.runs.evidence import TrialOrigin, list_sources
from scoregate.core.runs.run import Run, SuiteResult

_RESUMED = "an earlier attempt measured some of its cases"


async def offer_kept_cases(resumed: ResumedPlan, folder: Path, identity: Identity | None) -> ResumedPlan:
    """Offer the base's results to scripts of which only rows changed.

    A script takes the result of a case only if the case and the evaluators are the same. This replaces what an earlier
    attempt offers to such a script, so that all results which it takes are those of the base.

    Args:
        resumed: the plan, with what an earlier attempt offers.
        folder: is created for the files that the suites read.
        identity: the user that reads them.
    """
    plan = resumed.plan
    if plan.kept is None:
        return resumed
    launches = tuple(each for each in plan.launches if each.name in plan.kept.scripts)
    part = replace(plan, launches=launches)
    offered = await to_thread.run_sync(offer_results, plan.kept.run, part, folder, identity)
    known = {launch.name: launch for launch in offered.plan.launches}
    launches = tuple(known.get(each.name, each) for each in plan.launches)
    return replace(resumed, plan=replace(plan, launches=launches, offered=(*plan.offered, plan.kept.run)))


def add_kept_cases(run: Run, kept: KeptCases | None) -> Run:
    """The run, in which suites know which base's results their cases keep, with notices of it.

    Args:
        run: the run.
        kept: what it keeps; None for nothing.
    """
    known = {} if kept is None else {suite_key(suite): suite for suite in kept.run.suites}
    suites, notices, partly = list(run.suites), list[str](), set[str]()
    for index, suite in enumerate(run.suites):
        base = known.get(suite_key(suite))
        files = () if kept is None else kept.scripts.get(suite.script or "", ())
        if kept is None or base is None or not files or not suite.columns.reused:
            continue
        source = base.trials.find_run(TrialOrigin.CARRIED) or describe_source(kept.run)
        is_whole = suite.columns.reused == len(suite.columns) == len(base.columns)
        sources = list_sources(carried=source) if is_whole else list_sources(kept=source)
        suites[index] = replace(suite, trials=replace(suite.trials, sources=sources))
        partly.add(suite.script or "")
        notices.append(_describe(suite, source, files))
    resumed = {suite.script for suite in run.suites if suite.script and suite.columns.reused} - partly
    dependencies = _doubt(run.dependencies, resumed)
    if kept is not None:
        dependencies = add_earlier_uses(dependencies, kept.run.dependencies, partly)
    return replace(run, suites=tuple(suites), notices=(*run.notices, *notices), dependencies=dependencies)


def describe_source(run: Run) -> CarriedFrom:
    """The run whose results another run keeps, as reports name it."""
    name = run.name if run.commit is not None else f"run {run.id[:8]}"
    return CarriedFrom(run.id, f"{name} with uncommitted changes" if run.dirty else name, run.finished)


def _describe(suite: SuiteResult, source: CarriedFrom, files: Collection[str]) -> str:
    total = len(suite.columns)
    ran = total - suite.columns.reused
    return (
        f"{suite.label}: {ran:,} of {number_format.count(total, 'case')} ran, because only rows of {', '.join(files)} "
        f"changed; the others are not affected and keep the results of {source.name}"
    )


def _doubt(dependencies: RunDependencies, scripts: Collection[str]) -> RunDependencies:
    """The same, in which it is unknown what some scripts use: not all of their cases ran."""
    if not scripts:
        return dependencies
    known = (
        replace(each, uses=(), modules=(), unknown=each.unknown or _RESUMED) if each.script in scripts else each
        for each in dependencies.scripts
    )
    return replace(dependencies, scripts=tuple(known))


def describe_rows(files: Collection[str]) -> str:
    """Why a script runs of which only rows changed."""
    return f"cases whose rows in {', '.join(files)} changed"
