"""Annotations: failed gates at the line of their suite, newly failing cases at their own line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from posixpath import join

from scoregate.kernel.gate.finding import Finding
from scoregate.kernel.report.suites import SuiteView
from scoregate.kernel.report.text import one_line
from scoregate.kernel.report.view import ReportView
from scoregate.kernel.types.records import record

# A runner shows ten annotations of a kind per step and drops the rest. One reports the number of others, and one is
# reserved for an error that ends scoregate, others for failed deliveries.
MOST = {"error": 8, "warning": 4, "notice": 5}
_MESSAGE = 1_000


@record
class Annotation:
    """A message at a line of a file, from 1; without a file it is about the whole run."""

    level: str
    title: str
    message: str
    file: str | None = None
    line: int | None = None


def annotate(view: ReportView) -> Iterator[Annotation]:
    """Yield an error for each failed gate, a warning for each gate that only warns, and notices for cases.

    The notices are for the worst newly failing cases that were read from a file.
    """
    suites = {suite.label: suite for suite in view.suites}
    yield from _finding_annotations("error", view.failed, suites, folder=view.context.folder)
    yield from _finding_annotations("warning", view.verdict.warnings, suites, folder=view.context.folder)
    if view.has_newly_failing:
        placed = ((case, case.origin) for case in view.notable.failing if case.origin is not None)
        for case, origin in islice(placed, MOST["notice"]):
            missed = (f"{miss.evaluator} {miss.shown}, needs {miss.threshold}: {miss.why}" for miss in case.misses)
            message = f"newly failing: {case.name}: {'; '.join(each.rstrip(': ') for each in missed)}"
            title = one_line(f"scoregate · {case.suite}", 250)
            yield Annotation("notice", title, one_line(message, _MESSAGE), origin.file, origin.line)


def _finding_annotations(
    level: str, findings: Sequence[Finding], suites: Mapping[str, SuiteView], *, folder: str
) -> Iterator[Annotation]:
    for finding in findings[: MOST[level]]:
        suite = suites.get(finding.suite or "")
        title = " · ".join(part for part in ("scoregate", finding.suite, finding.evaluator) if part)
        limit = f"; required: {finding.limit} (set in {finding.origin})" if finding.has_limit else ""
        message = f"{finding.title}: {finding.value}{limit}"
        origin = suite.origin if suite else None
        file = join(folder, origin.file) if origin and origin.file else None
        line = origin.line if origin else None
        yield Annotation(level, one_line(title, 250), one_line(message, _MESSAGE), file, line)
    if (left := len(findings) - MOST[level]) > 0:
        yield Annotation(level, "scoregate", f"{left} more in the summary of the job")
