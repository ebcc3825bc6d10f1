"""One row of promptfoo's results: its test, its assertions, what it used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scoregate.ci.importers.fields import count, error, flag, table, tables, text, told, usage
from scoregate.ci.importers.judgement import Scales, kept, scaled, verdict
from scoregate.ci.importers.promptfoo_survey import Survey, definition_of, description_of
from scoregate.ci.importers.trials import PASSED, Grade, Trial, digest, excerpt
from scoregate.core.figures import amount, number

_ERROR = 2


def trial(row: Mapping[str, Any], survey: Survey, *, repeats: int, scales: Scales) -> Trial:
    """The row as a trial; of `repeats` rows of one test each is a repeat."""
    description, definition = description_of(row), definition_of(row)
    inputs = table(row.get("vars"))
    named = _named(inputs)
    shared = len(survey.described.get(description, ())) > 1
    key = f"{description} ({named})" if description and shared else description or named
    tokens, response = table(row.get("tokenUsage")), table(row.get("response"))
    failed = row.get("failureReason") == _ERROR
    return Trial(
        key,
        repeat=survey.place(row) % repeats,
        input=dict(inputs),
        definition=definition,
        output=response.get("output"),
        duration_ms=amount(row.get("latencyMs")),
        usage=usage(
            tokens.get("prompt"),
            tokens.get("completion"),
            cached=tokens.get("cached"),
            cost=row.get("cost"),
        ),
        grades=() if failed else tuple(scaled(grade, scales) for grade in _grades(row)),
        error=error("ProviderError", row.get("error")) if failed else None,
    )


def _named(inputs: Mapping[str, Any]) -> str:
    """A test by its variables; where not all of them can be shown, a digest tells it from others."""
    shown = ", ".join(f"{name}={excerpt(value, 40)}" for name, value in inputs.items())
    return f"{shown} {digest(inputs)[:8]}" if "…" in shown else shown or "no variables"


def _grades(row: Mapping[str, Any]) -> Iterator[Grade]:
    """The verdict, and every assertion or metric behind it. A row that asserts nothing has none."""
    grading, passed = table(row.get("gradingResult")), flag(row.get("success"))
    parts = [part for part in tables(grading.get("componentResults")) if part.get("assertion")]
    if not parts or passed is None:
        return
    reason = told(reason=text(grading.get("reason")), score=number(row.get("score")))
    yield verdict(PASSED, passed, reason)
    own = {name: score for name, score in table(grading.get("namedScores")).items() if number(score) is not None}
    for name, score in own.items():
        yield _metric(name, number(score), [part for part in parts if _metric_of(part) == name], passed=passed)
    for part in parts:
        if _metric_of(part) not in own:
            name = _metric_of(part) or text(table(part["assertion"]).get("type"))
            yield _metric(name, number(part.get("score")), [part], passed=passed)


def _metric_of(part: Mapping[str, Any]) -> str:
    return text(table(part.get("assertion")).get("metric"))


def _metric(name: str, score: float | None, parts: list[Mapping[str, Any]], *, passed: bool) -> Grade:
    """One metric. Where it failed and the case passed all the same, its verdict is kept but does not count."""
    verdicts = [flag(part.get("pass")) for part in parts]
    met = all(verdicts) if parts and None not in verdicts else None
    limits = {number(table(part.get("assertion")).get("threshold")) for part in parts}
    counts = met is not None and score is not None and (met or not passed)
    threshold = kept(score, met, _limit(parts, limits)) if counts and score is not None else None
    why = "; ".join(reason for part in parts if (reason := text(part.get("reason"))))
    spent = [table(part.get("tokensUsed")) for part in parts]
    return Grade(
        name,
        score,
        threshold,
        told(reason=why, passed=met),
        usage(
            sum(count(used.get("prompt")) for used in spent),
            sum(count(used.get("completion")) for used in spent),
            cached=sum(count(used.get("cached")) for used in spent),
            cost=None,
        ),
    )


def _limit(parts: list[Mapping[str, Any]], limits: set[float | None]) -> float | None:
    """The assertion's own threshold. Of latency and cost it is in their own units, not in the score's."""
    if len(parts) != 1 or len(limits) != 1:
        return None
    return (
        None
        if text(table(parts[0].get("assertion")).get("type")) in ("latency", "cost", "perplexity")
        else limits.pop()
    )
