"""A few lines about a result, for the terminal and for assertion messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from scoregate.core.case import CaseResult, Status
from scoregate.core.evaluation import Evaluation
from scoregate.core.events import ErrorInfo
from scoregate.core.record import SuiteResult
from scoregate.engine.printing import one_line

_MOST = 5
_LONGEST = 300


def summary(result: SuiteResult) -> str:
    """What ran, the mean scores, and the first few cases that failed or erred."""
    if result.variants:
        return "\n".join(summary(variant) for variant in result.variants)
    return "\n".join([_headline(result), *_details(result)])


def _headline(result: SuiteResult) -> str:
    columns = result.columns
    counts = {status: columns.count(status) for status in Status}
    cases = "1 case" if len(columns) == 1 else f"{len(columns)} cases"
    parts = [cases, *(f"{count} {status}" for status, count in counts.items() if count)]
    parts += [f"{columns.pending} waiting for people"] if columns.pending else []
    means = [(name, result.mean(name)) for name in result.evaluators]
    parts += [f"{name} {mean:.3f}" for name, mean in means if mean is not None]
    mark = "✓" if result.passed else "✗"
    return f"{mark} {_line(result.label)}: {' · '.join(map(_line, parts))}"


def _details(result: SuiteResult) -> Iterator[str]:
    told: set[str] = set()
    for error in result.errors:
        yield f"    {_line(error.message)}"
        yield from _advice([error], told)
    bad = result.columns.count(Status.FAILED) + result.columns.count(Status.ERRORED)
    shown = 0
    for case in result.cases if bad else ():
        if case.status in (Status.FAILED, Status.ERRORED):
            yield f"    {case.status} {_line(case.name)}: {_line(_why(case))}"
            yield from _advice((each.error for each in case.errors), told)
            shown += 1
        if shown == _MOST:
            break
    if bad > shown:
        yield f"    … and {bad - shown} more"


def _advice(errors: Iterable[ErrorInfo], told: set[str]) -> Iterator[str]:
    """What to do about them; the same advice is given once."""
    for text in (_line(error.advice) for error in errors):
        if text and text not in told and len(told) < _MOST:
            told.add(text)
            yield f"      → {text}"


def _why(case: CaseResult) -> str:
    errors = [f"{error.evaluator or 'fn'}: {error.error.type}: {error.error.message}" for error in case.errors]
    missed = [
        f"{name} {evaluation.score:.3g}, not {evaluation.threshold}{_because(evaluation)}"
        for name, evaluation in sorted(case.evaluations.items())
        if evaluation.passed is False
    ]
    return "; ".join([*missed, *errors])


def _because(evaluation: Evaluation) -> str:
    unmet = [assertion.criterion for assertion in evaluation.assertions or () if not assertion.passed]
    reasons = {**_mapping(evaluation.metadata), **({"unmet": unmet} if unmet else {})}
    return f" ({', '.join(f'{name}: {value}' for name, value in reasons.items())})" if reasons else ""


def _mapping(metadata: object) -> dict[str, object]:
    return {name: told for name, told in metadata.items() if name != "prompt"} if isinstance(metadata, Mapping) else {}


def _line(text: str) -> str:
    return one_line(text, _LONGEST)
