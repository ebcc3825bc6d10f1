"""Baselines of every source have the scores of later reviews."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from scoregate.errors import StoreError
from scoregate.kernel.job.pipeline import find_baseline
from scoregate.kernel.job.ports import Reporting
from scoregate.kernel.job.reporting import apply_stored_reviews
from scoregate.kernel.judge.archive import RunWriter, read_run
from scoregate.kernel.judge.judgement import Baseline
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.types.evaluation import Threshold
from scoregate.kernel.types.event_values import PairwiseComparison
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.evidence import TrialRole, Trials
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd, SuiteResult
from scoregate.store import Verdict, Winner, add_verdict, open_store


def write_pending(folder: Path) -> Run:
    """A run on disk with one case whose battle is pending."""
    case = CaseResult(
        0, "a", pending=("better",), contests={"better": PairwiseComparison("old", "new", None, Threshold(gte=0.5))}
    )
    columns = Columns()
    columns.add(case)
    with RunWriter(folder) as writer:
        writer.add(case)
        writer.finish(
            Run(
                "1",
                1.0,
                RunEnd(2.0, complete=True),
                RunCode("1"),
                suites=(SuiteResult("s", "s", trials=Trials(columns)),),
            )
        )
    return read_run(folder)


def reporting(root: Path, base: Baseline) -> Reporting:
    async def source(_: Settings) -> Baseline:
        return base

    nowhere: Any = None
    return Reporting((source,), partial(apply_stored_reviews, root), *[nowhere] * 4)


def test_a_base_its_pool_and_extra_trials_have_current_scores(tmp_path: Path) -> None:
    run = write_pending(tmp_path / "run")
    add_verdict(
        open_store(tmp_path), "better", Verdict(case="a", baseline="old", challenger="new", winner=Winner.CHALLENGER)
    )
    base = Baseline(run.add_companion(TrialRole.EXTRA, run), "stored", (run,))
    result = anyio.run(find_baseline, Settings(), reporting(tmp_path, base))
    assert result.run is not None
    for each in (result.run, *result.run.companions_of(TrialRole.EXTRA), *result.pool):
        assert (each.suites[0].mean("better"), each.suites[0].columns.pending) == (1, 0)
        assert [case.evaluations["better"].score for case in each.cases] == [1]
        assert [case.pending for case in each.suites[0].cases] == [()]
    assert run.suites[0].columns.pending == 1


def test_a_broken_store_is_an_error_only_for_pending_bases(tmp_path: Path) -> None:
    run = write_pending(tmp_path / "run")
    (tmp_path / ".scoregate" / "verdicts").mkdir(parents=True)
    (tmp_path / ".scoregate" / "verdicts" / "better.jsonl").write_text("no verdict\n")
    with pytest.raises(StoreError, match=r"better\.jsonl:1"):
        anyio.run(find_baseline, Settings(), reporting(tmp_path, Baseline(run, "stored")))
    empty = Baseline(replace(run, suites=()), "stored")
    assert anyio.run(find_baseline, Settings(), reporting(tmp_path, empty)).run == empty.run


def test_many_evaluators_of_a_run_cause_no_lookups(tmp_path: Path) -> None:
    run = write_pending(tmp_path / "run")
    (tmp_path / ".scoregate" / "verdicts").mkdir(parents=True)
    (tmp_path / ".scoregate" / "verdicts" / "other.jsonl").write_text("no verdict\n")
    assert apply_stored_reviews(tmp_path, run).suites[0].columns.pending == 1
