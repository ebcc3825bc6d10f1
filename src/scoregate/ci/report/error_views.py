"""What raised: scripts, suites, then cases by kind of error, the most frequent first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from scoregate.ci.report.harvest import ErrorView, trace
from scoregate.ci.report.text import one_line
from scoregate.core.events import ErrorInfo
from scoregate.core.record import Run


def error_views(run: Run, of_cases: Iterable[ErrorView]) -> tuple[ErrorView, ...]:
    """All errors of a run, those of cases already counted."""
    return (*_of_run(run), *sorted(of_cases, key=lambda error: -error.trials))


def _of_run(run: Run) -> Iterator[ErrorView]:
    for script in run.scripts:
        if script.error is not None:
            yield _view(script.name, script.error)
    for suite in run.suites:
        yield from (_view(suite.label, error) for error in suite.errors)


def _view(where: str, error: ErrorInfo) -> ErrorView:
    message = one_line(error.message, 200)
    return ErrorView(where, None, error.type, message, error.advice, trials=0, trace=trace(error), gated=True)
