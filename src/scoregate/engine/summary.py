"""A short summary of a result, for the terminal and for assertion messages."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from scoregate.engine.eval_result import EvalResult
from scoregate.engine.terminal import one_line
from scoregate.kernel.types.event_values import ErrorInfo
from scoregate.kernel.types.frames import find_user_frames
from scoregate.kernel.types.runs.cases import CaseResult, Status
from scoregate.kernel.types.runs.run import SuiteResult

if TYPE_CHECKING:
    from scoregate.kernel.compare.variants import VariantRanking

_MOST_CASES, _MOST_RANKINGS = 5, 8
_LONGEST_LINE = 300


def summary(result: EvalResult) -> str:
    """A short text about a result.

    Args:
        result: the result of a suite. For a grid search each combination has its own text.

    Returns:
        One line with the counts and the mean scores, then the first five cases that failed or had errors. Each advice
        is listed once.
    """
    if result.variants:
        lines = [summary(variant) for variant in result.variants]
        return "\n".join([*lines, *(f"  {_one_line(str(each))}" for each in _rank(result.variants))])
    columns = result.columns
    counts = {status: columns.count(status) for status in Status}
    number = columns.case_count
    cases = "1 case" if number == 1 else f"{number} cases"
    trials = f" ({len(columns)} trials)" if number != len(columns) else ""
    parts = [f"{cases}{trials}", *(f"{count} {status}" for status, count in counts.items() if count)]
    parts += [f"{columns.pending} waiting for people"] if columns.pending else []
    means = [(name, result.mean(name)) for name in result.evaluators]
    parts += [f"{name} {mean:.3f}" for name, mean in means if mean is not None]
    mark = "✓" if result.passed else "✗"
    headline = f"{mark} {_one_line(result.label)}: {' · '.join(map(_one_line, parts))}"
    return "\n".join([headline, *_details(result)])


def _rank(variants: Sequence[SuiteResult]) -> Iterator[VariantRanking]:
    from scoregate.kernel.compare.variants import rank_suites
    from scoregate.kernel.types.runs.policy import Criteria

    return islice(rank_suites(variants, lambda _: Criteria()), _MOST_RANKINGS)


def _details(result: SuiteResult) -> Iterator[str]:
    shown_advice: set[str] = set()
    for error in result.errors:
        yield f"    {_one_line(error.message)}"
        yield from _advice([error], shown_advice)
    bad = result.columns.count(Status.FAILED) + result.columns.count(Status.ERRORED)
    if len(result.columns) and not (bad or result.evaluations or result.pending):
        yield f"    nothing was scored: {_explain_no_score(result)}"
    shown = 0
    for case in result.cases if bad else ():
        if case.status in (Status.FAILED, Status.ERRORED):
            yield f"    {case.status} {_one_line(case.name)}: {_one_line(_failure_text(case))}"
            yield from _advice((each.error for each in case.errors), shown_advice)
            shown += 1
        if shown == _MOST_CASES:
            break
    if bad > shown:
        yield f"    … and {bad - shown} more"


def _explain_no_score(result: SuiteResult) -> str:
    if not result.columns.unscored:
        return "the suite has no scorers"
    battles = [name for name, info in result.evaluators.items() if info.battles]
    if not battles:
        return "every scorer returned None"
    others = ", and the other scorers returned None" if len(battles) < len(result.evaluators) else ""
    return (
        f"{_one_line(', '.join(battles))} needs the output of an earlier run{others}. `scoregate run` compares with a "
        "base, from the first base on that has this scorer"
    )


def _advice(errors: Iterable[ErrorInfo], shown_advice: set[str]) -> Iterator[str]:
    """The advice of these errors; each text once."""
    for text in (_one_line(error.advice) for error in errors):
        if text and text not in shown_advice and len(shown_advice) < _MOST_CASES:
            shown_advice.add(text)
            yield f"      → {text}"


def _failure_text(case: CaseResult) -> str:
    errors = [
        f"{error.evaluator or 'fn'}: {error.error.type}: {error.error.message}{_place(error.error)}"
        for error in case.errors
    ]
    missed = []
    for name, evaluation in sorted(case.evaluations.items()):
        if evaluation.passed is not False:
            continue
        unmet = [assertion.criterion for assertion in evaluation.assertions or () if not assertion.passed]
        metadata = evaluation.metadata if isinstance(evaluation.metadata, Mapping) else {}
        reasons = {key: value for key, value in metadata.items() if key != "prompt"}
        if unmet:
            reasons["unmet"] = unmet
        reason_text = f" ({', '.join(f'{key}: {value}' for key, value in reasons.items())})" if reasons else ""
        missed.append(f"{name} {evaluation.score:.3g}, not {evaluation.threshold}{reason_text}")
    return "; ".join([*missed, *errors])


def _place(error: ErrorInfo) -> str:
    """The last line of the user's code in a traceback; empty if it is unknown."""
    frames = find_user_frames(error.traceback or "", 1)
    return f" (at {frames[0].describe(os.getcwd())})" if frames else ""  # noqa: PTH109


def _one_line(text: str) -> str:
    return one_line(text, _LONGEST_LINE)
