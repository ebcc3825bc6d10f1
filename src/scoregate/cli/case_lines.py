"""A line for each case as it finishes, for whoever wants to see them all."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from scoregate.ci.recording import Recording
from scoregate.ci.report import numbers
from scoregate.ci.report.excerpts import shown_score
from scoregate.ci.report.text import name, one_line
from scoregate.core.case import CaseResult, Status

_SUITE, _CASE, _EVALUATOR, _ERROR = 60, 120, 40, 160
_MOST_PARTS = 12
_MARKS = {Status.PASSED: ("✓", "green"), Status.FAILED: ("✗", "red"), Status.ERRORED: ("!", "yellow")}


def case_lines(recording: Recording) -> Text:
    """`✓ demo · greeting  is-polite 1, is-brief 0.5  1.2 s`, for each that the last happening finished."""
    return Text("\n").join(_line(suite.label, case) for suite, case in recording.finished)


def _line(suite: str, case: CaseResult) -> Text:
    text = Text("  ").append(*_MARKS.get(case.status, ("·", "dim"))).append(f" {name(suite, _SUITE)} · ", "dim")
    text.append(name(case.name or case.hash, _CASE), "default")
    if case.repeat:
        text.append(f" (repeat {case.repeat + 1})", "dim")
    for at, (told, style) in enumerate(_told(case)):
        text.append(f"{', ' if at else '  '}").append(told, style)
        if at == _MOST_PARTS:
            text.append(", …")
            break
    if case.duration_ms is not None:
        text.append(f"  {numbers.duration(case.duration_ms / 1000)}", "dim")
    return text


def _told(case: CaseResult) -> Iterator[tuple[str, str]]:
    for evaluator, found in case.evaluations.items():
        missed = found.passed is False
        needs = f" (needs {found.threshold})" if missed else ""
        shown = shown_score(found.score, found.threshold)
        yield f"{name(evaluator, _EVALUATOR)} {shown}{needs}", "red" if missed else "default"
    for evaluator, naming in case.labels.items():
        yield f"{name(evaluator, _EVALUATOR)} {name(str(naming.label), _EVALUATOR)}", "default"
    for error in case.errors:
        who = f"{name(error.evaluator, _EVALUATOR)}: " if error.evaluator else ""
        yield f"{who}{name(error.error.type, _EVALUATOR)}: {one_line(error.error.message, _ERROR)}", "yellow"
