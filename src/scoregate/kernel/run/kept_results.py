"""Results of the base's run that a run keeps: those of whole scripts, and those of cases."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from scoregate.kernel.judge.archive import RunWriter
from scoregate.kernel.run.plan import CarriedScripts, KeptCases
from scoregate.kernel.run.reuse import suite_key
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.runs.dependencies import CarriedFrom, RunDependencies, add_earlier_uses, merge_dependencies
from scoregate.kernel.types.runs.evidence import TrialOrigin, Trials, list_sources
from scoregate.kernel.types.runs.run import Run, SuiteResult

_RESUMED = "an earlier attempt measured some of its cases"


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
    name = run.name if run.code.commit is not None else f"run {run.id[:8]}"
    return CarriedFrom(run.id, f"{name} with uncommitted changes" if run.code.dirty else name, run.end.finished)


def describe_unaffected(number: int, noun: str, base: Run) -> str:
    """The notice of suites or arms that did not run.

    Args:
        number: how many they are.
        noun: what they are, in the singular.
        base: the run whose results they keep.
    """
    depends = "it depends" if number == 1 else "they depend"
    did_not_run = f"{number_format.count(number, noun)} did not run, because nothing that {depends} on changed"
    return f"{did_not_run}: the results are those of {describe_source(base).name}"


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
