"""What the section of costs says about an estimate that can't be read."""

from __future__ import annotations

from dataclasses import replace

from tests.unit.report.runs import ExampleSuite, Score, Trial, make_run, view_of

from scoregate.kernel.report.result_json import to_data
from scoregate.kernel.types.slots import Slots


def test_a_damaged_estimate_hurts_the_estimate_only() -> None:
    run = make_run(ExampleSuite("bot", [Trial("a", [Score("accuracy", 1)])]))
    view = view_of(replace(run, slots=Slots({"estimate": "x"})))
    (notice,) = (notice for notice in view.notices if "estimate" in notice)
    assert notice.startswith("The estimate isn't shown: the stored run is damaged: estimate: ")
    assert view.verdict.conclusion == view_of(run).verdict.conclusion
    assert to_data(view)["estimate"] is None
