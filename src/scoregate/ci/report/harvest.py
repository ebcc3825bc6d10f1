"""One pass over the cases on disk: the few that are shown in full, and every error counted."""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass, field
from typing import TypeAlias

from scoregate.ci.report.excerpts import as_text, shown_score, why, why_lines
from scoregate.ci.report.talks import Heard, heard
from scoregate.ci.report.text import name, one_line, visible
from scoregate.core.case import CaseKey, CaseResult
from scoregate.core.evaluation import Evaluation
from scoregate.core.parts import ErrorInfo, Origin

Where: TypeAlias = tuple[int, CaseKey]
_KINDS = 200
_REASON = 2_000
_TRACE = 4_000


@dataclass(frozen=True, slots=True)
class Miss:
    """One evaluator whose threshold a case missed; `base` is its score in the base, None where unknown.

    `shown` is the score in as many digits as it takes to see that it misses, `why` all reasons on a short line,
    `reasons` each on a line of its own, as much of it as anybody reads.
    """

    evaluator: str
    base: float | None
    score: float
    shown: str
    threshold: str
    why: str
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ErrorView:
    """One error and how many trials met it, `case` being the first; without a case it concerns more than one.

    `trace` is the end of where it was raised, or else the whole message. `gated`: a finding of the gate has it too.
    """

    where: str
    evaluator: str | None
    type: str
    message: str
    advice: str
    trials: int
    case: str | None = None
    trace: str = ""
    gated: bool = False


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What is kept of a case: its name, its output as bounded text, the thresholds that it missed.

    `heard` is its conversation; None where its output is none. `origin` is the line that it was read from.
    """

    name: str
    output: str
    misses: tuple[Miss, ...]
    heard: Heard | None = None
    origin: Origin | None = None


@dataclass(slots=True)
class Harvest:
    """What one pass brought home."""

    snapshots: dict[Where, Snapshot] = field(default_factory=dict)
    errors: dict[tuple[int, str | None, str, str], ErrorView] = field(default_factory=dict)


def harvest(cases: Iterable[CaseResult], wanted: Set[Where], *, errors: int, labels: tuple[str, ...]) -> Harvest:
    """Read `cases` until the wanted ones are found and the errors of `errors` trials are counted; of 0, none is."""
    crop, waiting, counting = Harvest(), set(wanted), errors > 0
    for case in cases if waiting or errors else ():
        if (place := (case.suite, case.key)) in waiting:
            waiting.discard(place)
            crop.snapshots[place] = snapshot(case)
        if counting and case.errors:
            _count_errors(crop, case, labels[case.suite])
            errors -= 1
        if not waiting and errors <= 0:
            break
    return crop


def snapshot(case: CaseResult) -> Snapshot:
    """What is kept of one case."""
    misses = (_miss(who, found) for who, found in case.evaluations.items() if found.passed is False)
    return Snapshot(name(case.name or case.hash), as_text(case.output), tuple(misses), heard(case), case.origin)


def _miss(evaluator: str, found: Evaluation) -> Miss:
    shown = shown_score(found.score, found.threshold)
    told = tuple(why_lines(found, _REASON))
    return Miss(evaluator, None, found.score, shown, str(found.threshold), why(found), told)


def _count_errors(crop: Harvest, case: CaseResult, label: str) -> None:
    for error in case.errors:
        kind = (case.suite, error.evaluator, error.error.type, one_line(error.error.message, 200))
        if (seen := crop.errors.get(kind)) is None and len(crop.errors) >= _KINDS:
            kind = (case.suite, None, "other errors", "")
            seen = crop.errors.get(kind)
        crop.errors[kind] = ErrorView(
            where=label,
            evaluator=kind[1],
            type=kind[2],
            message=kind[3],
            advice=seen.advice if seen else error.error.advice,
            trials=seen.trials + 1 if seen else 1,
            case=seen.case if seen else name(case.name or case.hash),
            trace=seen.trace if seen else trace(error.error),
        )


def trace(error: ErrorInfo) -> str:
    """The end of where an error was raised, as lines that are harmless to look at."""
    return visible((error.traceback or error.message)[-_TRACE:]).strip()
