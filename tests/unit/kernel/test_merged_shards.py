"""Sums over the merged shards of a run."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tests.runs import change_run
from tests.unit.kernel.builders import run_of

from scoregate.kernel.job.shards import merge_shards
from scoregate.kernel.job.shards.merge_suites import SuiteParts, SuiteSources, merge_suite
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.event_values import SuitePart
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.run import RunEnd, Script, SuiteResult


def test_calls_of_any_suite_are_summed_over_shards() -> None:
    """Each shard runs a part of a script whose calls can lack a suite."""
    usages = (Usage(1, cost=0.25), None, Usage(2, cost=0.5, calls=3))
    runs = [
        SimpleNamespace(suites=(), scripts=(Script("a.sh", exit_code=0, duration_s=1, usage=each),), end=RunEnd(0.0))
        for each in usages
    ]
    shards: Any = [SimpleNamespace(run=run) for run in runs]
    (script,) = merge_shards._merge_scripts(shards)
    assert script.usage is not None
    assert (script.duration_s, script.usage.input_tokens, script.usage.cost, script.usage.calls) == (3, 3, 0.75, 4)


def test_planned_trials_are_those_of_all_parts() -> None:
    """A suite of the SDK may repeat single cases."""
    columns = Columns()
    for case, repeat in (("a", 0), ("a", 1), ("a", 2), ("b", 0), ("c", 0)):
        columns.add(CaseResult(0, case, repeat))
    parts = [
        SuiteParts(number, SuiteResult("s", "s", planned=planned, part=SuitePart((number,), 2, 3, "d")), planned)
        for number, planned in ((1, 4), (2, 1))
    ]
    assert merge_suite(SuiteSources(tuple(parts)), columns).planned == 5
    assert merge_suite(SuiteSources(tuple(parts[:1])), columns).planned == 9


def test_a_merged_run_says_what_stopped_any_shard() -> None:
    """Otherwise the run would lack trials for no reason, and be unmeasurable instead of failed."""
    runs = [change_run(run_of(), stopped=stopped, complete=not stopped) for stopped in ("", "1 case failed")]
    shards: Any = [
        SimpleNamespace(
            run=run, problems=(), shard=SimpleNamespace(of=2, number=n, contents=(), base="", partition="p")
        )
        for n, run in enumerate(runs, 1)
    ]
    merging: Any = SimpleNamespace(results=list, labels=dict, list_runs=lambda _: ())
    merged = merge_shards._make_run(shards, (), merging, Settings())
    assert (merged.end.stopped, merged.end.complete) == ("1 case failed", False)
