"""Suites of a run and its base for the tests of the comparison, built without running anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scoregate.kernel.compare.comparison import Comparison, compare
from scoregate.kernel.compare.comparison_rows import Row
from scoregate.kernel.types.evaluation import Evaluation
from scoregate.kernel.types.event_values import ErrorInfo, EvaluatorInfo, Fingerprint
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import CaseError, CaseResult
from scoregate.kernel.types.runs.evidence import Trials
from scoregate.kernel.types.runs.policy import Criteria
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd, SuiteResult

SAME = Fingerprint(source="a1", prompt="b2", parameters="c3", model="m")
BOOM = ErrorInfo("ValueError", "no")

Scores = Mapping[str, Sequence[float | None]]
"""The repeats of each case; None where the evaluator raised."""


def cases(scores: Sequence[float | None]) -> dict[str, list[float | None]]:
    """Cases with one repeat each."""
    return {f"case-{index}": [score] for index, score in enumerate(scores)}


def columns_of(evaluators: Mapping[str, Scores], clusters: Mapping[str, str] | None = None) -> Columns:
    """Every repeat of every case, in the order of cases."""
    columns = Columns()
    names = dict.fromkeys(case for scores in evaluators.values() for case in scores)
    for case in names:
        repeats = max(len(scores.get(case, ())) for scores in evaluators.values())
        for repeat in range(repeats):
            by_name = {name: scores[case][repeat] for name, scores in evaluators.items() if case in scores}
            columns.add(_trial(case, repeat, by_name, (clusters or {}).get(case)))
    return columns


def _trial(case: str, repeat: int, by_name: Mapping[str, float | None], cluster: str | None) -> CaseResult:
    return CaseResult(
        0,
        case,
        repeat,
        digest=f"digest of {case}",
        cluster=cluster,
        evaluations={name: Evaluation(score) for name, score in by_name.items() if score is not None},
        errors=[CaseError(BOOM, name) for name, score in by_name.items() if score is None],
    )


def suite_of(
    evaluators: Mapping[str, Scores],
    *,
    infos: Sequence[EvaluatorInfo] = (),
    clusters: Mapping[str, str] | None = None,
    **fields: Any,
) -> SuiteResult:
    """A finished suite; evaluators without a description share one fingerprint."""
    described = {name: EvaluatorInfo(name, SAME) for name in evaluators} | {info.id: info for info in infos}
    by_name: dict[str, Any] = {"id": "bot", "label": "bot", "script": "bot.py", "complete": True} | fields
    return SuiteResult(evaluators=described, trials=Trials(columns_of(evaluators, clusters)), **by_name)


def run_of(*suites: SuiteResult, name: str = "run") -> Run:
    """A run of these suites."""
    return Run(name, started=0.0, end=RunEnd(1.0), code=RunCode("1"), suites=suites)


def compared(new: SuiteResult, *olds: SuiteResult, criteria: Criteria | None = None) -> Comparison:
    """One suite compared with its base and more runs of the base."""
    base, *pool = (run_of(old, name="base") for old in olds)
    return compare(run_of(new), base, pool=pool, criteria=criteria)


def row_of(
    new: Scores, *olds: Scores, info: EvaluatorInfo | None = None, criteria: Criteria | None = None, **more: Any
) -> Row:
    """The one row of a suite with one evaluator; `info` and `more` apply to every run."""
    infos = [info] if info else []
    suites = [suite_of({"score": scores}, infos=infos, **more) for scores in (new, *olds)]
    return compared(*suites, criteria=criteria).rows[0]
