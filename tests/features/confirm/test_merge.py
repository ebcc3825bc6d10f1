"""A merged run counts the retries that one machine would have made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.unit.report.runs import ExampleSuite, Score, Trial, make_base, make_run

from scoregate.features.confirm.tries import MOST_CASES
from scoregate.features.steps import load_steps
from scoregate.kernel.job.shards.merge_runs import read_matrix_runs
from scoregate.kernel.job.shards.merge_shards import check_with_baseline, find_shards
from scoregate.kernel.judge.archive import RunWriter
from scoregate.kernel.judge.judgement import Baseline, ComparedSides
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.types.exemptions import EXEMPTIONS, Exemptions, QuarantinedCases
from scoregate.kernel.types.runs.confirmations import Confirmation, confirmations_of, with_confirmations
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd
from scoregate.kernel.types.runs.run_scope import RunScope, RunShard
from scoregate.kernel.types.slots import NO_SLOTS


def test_cases_in_quarantine_take_no_retries_of_others() -> None:
    """Shards retry no case in quarantine, so the first fifteen are counted among the others."""
    cases = [f"c{at:02}" for at in range(30)]
    before, now = (ExampleSuite("demo", [Trial(case, [Score("e", score)]) for case in cases]) for score in (1.0, 0.0))
    base = make_base(before)
    run = with_confirmations(make_run(now), (Confirmation("demo", case, (True, True)) for case in cases[2:]))
    entries = tuple(QuarantinedCases("ana", "flaky", "2999-12-31", case=case) for case in cases[:2])
    slots = NO_SLOTS.put(EXEMPTIONS, Exemptions(quarantined=entries, today="2026-11-28"))
    amended = list[Run]()
    sides = ComparedSides(run, Baseline(base, "main"), Settings(), slots)
    checked = check_with_baseline("", load_steps, amended.append, sides)
    assert [each.case for each in confirmations_of(checked)] == cases[2 : 2 + MOST_CASES]
    assert amended == [checked]


@pytest.mark.parametrize("shard", [None, RunShard("p", 1, 2, "s")])
def test_a_run_with_damaged_confirmations_counts_as_missing(shard: RunShard | None, tmp_path: Path) -> None:
    """They are stored by a feature, and read late: the merge would end in the middle."""
    with RunWriter(tmp_path / "leg" / "run") as writer:
        writer.finish(Run("id", 0.0, RunEnd(1.0, complete=True), RunCode("0"), RunScope(shard=shard)))
    file = tmp_path / "leg" / "run" / "run.json"

    def count_runs() -> int:
        found = find_shards([tmp_path / "leg"]) if shard else read_matrix_runs([tmp_path / "leg"], expected=1)
        return len(found)

    assert count_runs() == 1
    file.write_text(json.dumps({**json.loads(file.read_text()), "confirmations": [{"suite": 1}]}))
    assert count_runs() == 0
