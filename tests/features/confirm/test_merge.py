"""A merged run counts the retries that one machine would have made."""

from __future__ import annotations

from tests.unit.report.runs import ExampleSuite, Score, Trial, make_base, make_run

from scoregate.features.confirm.tries import MOST_CASES
from scoregate.features.steps import STEPS
from scoregate.kernel.job.shards.merge_shards import check_with_baseline
from scoregate.kernel.judge.baseline import Baseline
from scoregate.kernel.judge.judgement import ComparedSides
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.types.exemptions import EXEMPTIONS, Exemptions, QuarantinedCases
from scoregate.kernel.types.runs.confirmations import Confirmation, confirmations_of, with_confirmations
from scoregate.kernel.types.runs.run import Run
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
    checked = check_with_baseline("", STEPS, amended.append, sides)
    assert [each.case for each in confirmations_of(checked)] == cases[2 : 2 + MOST_CASES]
    assert amended == [checked]
