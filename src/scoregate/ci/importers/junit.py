"""JUnit's XML, as test runners of every language write it: cases with pass or fail, numeric properties as scores."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any

from scoregate.ci.importers.fields import told
from scoregate.ci.importers.judgement import verdict
from scoregate.ci.importers.junit_cases import Case, Counts, cases
from scoregate.ci.importers.result_file import ResultFile
from scoregate.ci.importers.trials import PASSED, Grade, Suite, Trial, excerpt
from scoregate.core.events import ErrorInfo, Event, Origin, SuiteFinished, SuiteStarted
from scoregate.errors import ImportFailed

# Our own reports call a score so, and anybody may, to say that a property is one and what its best value is.
_OURS = "score."
_OF = re.compile(r"\s*([^/\s]+)\s*/\s*([^/\s]+)\s*")


def read(result: ResultFile) -> Iterator[Event]:
    """The events of every suite, nested ones under the names of those around them.

    Raises:
        ImportFailed: it is no JUnit XML, or lacks cases that its suites count; all others are reported before.
        ValueError: it is damaged.
    """
    others = frozenset(_never_scores(cases(result)))
    suites: dict[str, Suite] = {}
    counts = Counts()
    for case in cases(result, counts):
        name = result.named(excerpt(case.suite or result.stem))
        if name not in suites:
            suites[name] = Suite(name)
            origin = Origin(case.file) if case.file else None
            yield SuiteStarted(suite=name, origin=origin, sdk="junit")
        yield from suites[name].tell(_trial(case, others))
    for name in suites:
        yield SuiteFinished(suite=name)
    if counts.problems:
        more = f" (and {len(counts.problems) - 1} more such suites)" if len(counts.problems) > 1 else ""
        raise ImportFailed(f"cases are missing, as after a crash: {counts.problems[0]}{more}")


def _never_scores(found: Iterator[Case]) -> Iterator[str]:
    """Properties that in some case have a value that no score has, such as a count that happens to be 1 in another."""
    for case in found:
        yield from (name for name, value in case.properties.items() if not _in_range(_number(value)))


def _trial(case: Case, others: frozenset[str]) -> Trial:
    grades = [grade for name, value in case.properties.items() if (grade := _score(name, value, others)) is not None]
    scored = {grade.evaluator for grade in grades}
    kept = {name: value for name, value in case.properties.items() if name.removeprefix(_OURS) not in scored}
    return Trial(
        case.key,
        output=case.output or None,
        duration_ms=case.duration_ms,
        tags=("skipped",) if case.skipped else (),
        grades=(*_verdict(case, kept), *grades),
        error=case.error,
    )


def _verdict(case: Case, properties: Mapping[str, Any]) -> Iterator[Grade]:
    """Pass or fail; nothing of a case that was skipped or met an error."""
    if not case.skipped and (case.failure is not None or case.error is None):
        yield verdict(PASSED, case.failure is None, told(reason=case.failure or "", properties=dict(properties)))


def _score(name: str, value: str, others: frozenset[str]) -> Grade | None:
    """A property as a score, or None where it is something else."""
    if name.startswith(_OURS):
        own = name.removeprefix(_OURS)
        number, best = _scaled(value)
        if number is None:
            return Grade(own, error=ErrorInfo("NoScore", f"its property is no number: {excerpt(value, 80)}"))
        metadata = told(value=value, scale=[0, best]) if best != 1 else None
        return Grade(own, number, metadata=metadata)
    number = _number(value)
    return Grade(name, number) if name not in others and number is not None else None


def _scaled(value: str) -> tuple[float | None, float]:
    """A number and the best that it could be: `4/5`, or a number in [0, 1] alone."""
    parts = _OF.fullmatch(value)
    number, best = (_number(parts[1]), _number(parts[2])) if parts else (_number(value), 1.0)
    if number is None or best is None or best <= 0 or not isfinite(best):
        return None, 1.0
    return number / best, best


def _number(value: str) -> float | None:
    try:
        return float(value) if "_" not in value else None
    except ValueError:
        return None


def _in_range(value: float | None) -> bool:
    return value is not None and 0 <= value <= 1
