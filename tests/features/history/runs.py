"""Runs on disk for tests of the history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.runs import change_run

from scoregate.kernel.judge.archive import RunWriter
from scoregate.kernel.types.evaluation import Evaluation, Threshold, Usage
from scoregate.kernel.types.event_values import EvaluatorInfo, Fingerprint
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.evidence import Trials
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd, SuiteResult

HALF = Threshold(gte=0.5)
# 2026-01-05 00:00 UTC.
START, DAY = 1_767_571_200.0, 86_400.0


def write_run(
    folder: Path,
    number: int,
    scores: Mapping[str, Sequence[float]],
    *,
    suite: str = "bot",
    cases: Sequence[str] = (),
    digests: Sequence[str] = (),
    repeats: Sequence[int] = (),
    evaluators: Mapping[str, Fingerprint] | None = None,
    usage: Usage | None = None,
    reused: Mapping[int, str] | None = None,
    **fields: Any,
) -> Path:
    """Write the run of a day.

    Args:
        folder: the folder of the run.
        number: the number of the day, which makes the run's id, time and commit.
        scores: the score of each case, by evaluator.
        suite: the id of the suite.
        cases: the hashes of the cases.
        digests: the digests of their definitions.
        repeats: the repeats of the cases, from 0.
        evaluators: the fingerprints.
        usage: of the task, for each case.
        reused: the ids of the runs that measured cases, by row.
        fields: of the run.
    """
    length = len(next(iter(scores.values())))
    hashes = cases or [f"case-{row}" for row in range(length)]
    marks = evaluators or {}
    infos = {name: EvaluatorInfo(name, marks.get(name, Fingerprint(model="judge-1"))) for name in scores}
    started = START + number * DAY
    columns = Columns()
    with RunWriter(folder) as writer:
        for row, case_hash in enumerate(hashes):
            case = CaseResult(
                0,
                case_hash,
                repeat=repeats[row] if repeats else 0,
                name=f"Case {case_hash}",
                digest=digests[row] if digests else "same",
                evaluations={name: Evaluation(column[row], HALF) for name, column in scores.items()},
                usage=usage,
                duration_ms=10.0,
                reused=(reused or {}).get(row),
            )
            columns.add(case)
            writer.add(case)
        result = SuiteResult(id=suite, label=suite, evaluators=infos, complete=True, trials=Trials(columns))
        about = {"id": f"run-{number}", "commit": f"{number:040x}", "branch": "main", "complete": True, **fields}
        run = Run("", started, RunEnd(started + 60), RunCode("1"), suites=(result,))
        writer.finish(change_run(run, **about))
    return folder
