"""Annotations: what does not hold, at the line of its suite, and cases that newly fail, each at its own line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from posixpath import join

from scoregate.ci.report.case_views import FailingCase
from scoregate.ci.report.suite_views import SuiteView
from scoregate.ci.report.text import one_line
from scoregate.ci.report.view import ReportView
from scoregate.core.rules import Finding

# A runner shows ten of a kind for a step and drops the rest. One more says how many are left, and there must be room
# for an error that ends us, and for warnings of what could not be delivered.
MOST = {"error": 8, "warning": 4, "notice": 5}
_MESSAGE = 1_000


@dataclass(frozen=True, slots=True)
class Annotation:
    """A line of a file and what is wrong there; without a file it is about the whole. `line` is from 1."""

    level: str
    title: str
    message: str
    file: str | None = None
    line: int | None = None


def annotate(view: ReportView) -> Iterator[Annotation]:
    """An error for each finding that does not hold, a warning for each that only warns, and a notice for each of the
    worst cases that newly fail, where they were read from a file."""
    suites = {suite.label: suite for suite in view.suites}
    yield from _of_kind("error", view.failed, suites, folder=view.context.folder)
    yield from _of_kind("warning", view.warnings, suites, folder=view.context.folder)
    if view.newly:
        placed = (case for case in view.failing if case.origin is not None)
        yield from map(_of_case, islice(placed, MOST["notice"]))


def _of_kind(
    level: str, findings: Sequence[Finding], suites: Mapping[str, SuiteView], *, folder: str
) -> Iterator[Annotation]:
    yield from islice(_each(level, findings, suites, folder=folder), MOST[level])
    if (left := len(findings) - MOST[level]) > 0:
        yield Annotation(level, "scoregate", f"{left} more in the job's summary")


def _each(
    level: str, findings: Iterable[Finding], suites: Mapping[str, SuiteView], *, folder: str
) -> Iterator[Annotation]:
    for found in findings:
        suite = suites.get(found.suite or "")
        title = " · ".join(part for part in ("scoregate", found.suite, found.evaluator) if part)
        limit = f"; limit {found.limit} ({found.origin})" if found.has_limit else ""
        message = f"{found.title}: {found.value}{limit}"
        file = join(folder, suite.file) if suite and suite.file else None
        line = suite.line if suite else None
        yield Annotation(level, one_line(title, 250), one_line(message, _MESSAGE), file, line)


def _of_case(case: FailingCase) -> Annotation:
    assert case.origin is not None
    missed = (f"{miss.evaluator} {miss.shown}, needs {miss.threshold}: {miss.why}".rstrip(": ") for miss in case.misses)
    told = f"newly failing: {case.name}: {'; '.join(missed)}"
    title = f"scoregate · {case.suite}"
    return Annotation("notice", one_line(title, 250), one_line(told, _MESSAGE), case.origin.file, case.origin.line)
