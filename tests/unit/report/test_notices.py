"""The notices: exact sentences about the run, its baseline and its suites, in their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.runs import change_run
from tests.unit.report.runs import CONTEXT, ExampleSuite, Score, Trial, make_base, make_run

from scoregate.kernel.compare.comparison import Comparison, compare
from scoregate.kernel.compare.comparison_rows import BaseRuns, Row, RowLabel
from scoregate.kernel.compare.estimates import PairSummary
from scoregate.kernel.compare.evaluator_changes import EvaluatorChange, EvaluatorChangeKind
from scoregate.kernel.compare.lost_scores import CaseChanges
from scoregate.kernel.compare.run_movement import RunMovement
from scoregate.kernel.gate import Verdict
from scoregate.kernel.gate.finding import Finding
from scoregate.kernel.report.context import ReportContext
from scoregate.kernel.report.notices import describe_ungated, list_notices
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.declarations.kernel import COST_RATIO, PASS_RATE
from scoregate.kernel.types.event_values import ErrorInfo, EvaluatorInfo, Fingerprint, Setup
from scoregate.kernel.types.runs.run import BaseReference, Script
from scoregate.kernel.types.sharding.partition import MISSING_SHARD
from scoregate.kernel.types.slots import Place, Section

QUIET = Verdict(())
LOCAL = replace(CONTEXT, run="", base_branch=None)


def suite(name: str = "demo", *, cases: int = 12, score: float = 1.0, **fields: Any) -> ExampleSuite:
    trials = [Trial(f"h{at}", [Score("e", score, None)]) for at in range(cases)]
    return ExampleSuite(name, trials, (EvaluatorInfo("e", Fingerprint(source="s")),), **fields)


RUN, BASE = make_run(suite()), make_base(suite())
SAME = compare(RUN, BASE, "stored run")


def list_all(
    comparison: Comparison,
    verdict: Verdict = QUIET,
    context: ReportContext = CONTEXT,
    sections: Sequence[Section] = (),
) -> list[str]:
    return list(list_notices(comparison, verdict, context, sections))


def test_without_anything_to_say_there_is_no_notice() -> None:
    assert list_all(SAME) == []


@pytest.mark.parametrize(
    ("changes", "notices"),
    [
        ({"dirty": True}, ["The run has uncommitted changes."]),
        (
            {"selection": "-k refund"},
            ["Only a part of the project ran (-k refund). It is not a baseline for other runs."],
        ),
        ({"notices": ("one", "two")}, ["one", "two"]),
        (
            {"selection": "-k refund", "dirty": True, "notices": ("last",)},
            [
                "Only a part of the project ran (-k refund). It is not a baseline for other runs.",
                "The run has uncommitted changes.",
                "last",
            ],
        ),
    ],
)
def test_a_run_says_how_it_was_made(changes: Mapping[str, Any], notices: list[str]) -> None:
    assert list_all(compare(change_run(RUN, **changes), BASE, "stored run")) == notices


def test_an_empty_run_names_the_next_step_unless_something_was_left_out() -> None:
    nothing, advice = make_run(), ["No suites were found. `scoregate init` creates one."]
    assert list_all(compare(nothing, None)) == advice
    for excuse in (
        {"filters": ("x",)},
        {"skipped": ("x",)},
        {"left_out": ("x",)},
        {"scripts": (Script("a.py", exit_code=0),)},
    ):
        assert list_all(compare(change_run(nothing, **excuse), None)) == []
    assert list_all(compare(RUN, None)) == []
    assert list_all(compare(replace(RUN, scripts=()), None)) == []


@pytest.mark.parametrize(
    ("note", "unreadable", "context", "notices"),
    [
        ("", False, CONTEXT, []),
        (
            "no run of main",
            False,
            CONTEXT,
            [
                "There is no baseline yet (no run of main). Only limits that need no baseline were applied. "
                "The next run on main creates one."
            ],
        ),
        (
            "no run of main",
            False,
            replace(CONTEXT, base_branch=None),
            ["There is no baseline yet (no run of main). Only limits that need no baseline were applied."],
        ),
        (
            "no run of main",
            False,
            replace(CONTEXT, run=""),
            [
                "There is no baseline yet (no run of main). Only limits that need no baseline were applied. "
                "The next run on main creates one."
            ],
        ),
        ("no earlier run", False, LOCAL, ["Not compared: no earlier run."]),
        ("", False, LOCAL, []),
        (
            "HTTP 500",
            True,
            CONTEXT,
            ["The baseline could not be read (HTTP 500). Only limits that need no baseline were applied."],
        ),
    ],
)
def test_a_run_without_a_baseline_says_why(
    note: str, unreadable: bool, context: ReportContext, notices: list[str]
) -> None:
    assert list_all(compare(RUN, None, note, unreadable=unreadable), context=context) == notices


def test_a_damaged_baseline_is_named() -> None:
    damaged = change_run(BASE, notices=("cases.jsonl.gz: cut", "something else"), complete=False)
    assert list_all(compare(RUN, damaged, "stored run")) == [
        "Baseline: cases.jsonl.gz: cut.",
        "The baseline run is damaged. Missing parts are not compared.",
    ]
    assert list_all(compare(RUN, change_run(BASE, complete=False), "stored run")) == [
        "The baseline run did not finish. Missing parts are not compared."
    ]


def test_the_previous_run_is_named_as_the_baseline_that_nobody_asked_for() -> None:
    base = make_base(suite(), suite("more"))
    run = change_run(RUN, compared_with=BaseReference(base.id, implicit=True))
    cure = "--baseline none compares this run with nothing, and the next ones with it."
    compared = f"Compared with the previous run, 2 hours old. {cure}"
    note = "stored run, 2 hours old"
    assert list_all(compare(run, base, note)) == [compared, "Not in this run: more."]
    assert list_all(compare(run, BASE, note)) == [compared]
    assert list_all(compare(change_run(run, filters=("demo",)), base, note))[0] == compared
    assert "Not in this run: more." not in list_all(compare(change_run(run, filters=("demo",)), base, note))
    assert "Not in this run: more." not in list_all(compare(change_run(run, selection="-k x"), base, note))
    named = change_run(RUN, compared_with=BaseReference(base.id))
    assert list_all(compare(named, base, note)) == []


def test_failures_of_the_previous_run_are_named_since_they_are_no_drops_now() -> None:
    trials = [Trial("a", [Score("e", 0.1)]), Trial("b", [Score("e", 0.1)]), Trial("c", error=ErrorInfo("E", "x"))]
    base = make_base(ExampleSuite("demo", trials, (EvaluatorInfo("e", Fingerprint(source="s")),)))
    run = change_run(RUN, compared_with=BaseReference(base.id, implicit=True))
    compared = "Compared with the previous run, just finished, in which 2 trials failed and 1 trial had an error."
    assert list_all(compare(run, base, "stored run, just finished"))[0].startswith(compared)


def test_suites_of_a_missing_shard_are_named() -> None:
    lost = Script("shard 2", error=ErrorInfo(MISSING_SHARD, "shard 2 of 2 is missing"))
    base = make_base(suite(), suite("more"), suite("other"))
    run = replace(RUN, scripts=(*RUN.scripts, lost))
    text = "Suites of the baseline that may be in a missing shard: more, other."
    assert text in list_all(compare(run, base, "stored run"))
    assert text not in list_all(compare(RUN, base, "stored run"))
    assert not [each for each in list_all(compare(run, BASE, "stored run")) if "shard" in each]


def test_filtered_suites_are_counted_only_with_a_filter() -> None:
    base = make_base(suite(), suite("more"), suite("other"))
    filtered = change_run(RUN, filters=("demo",))
    assert list_all(compare(filtered, base, "stored run")) == ["2 suites of the baseline skipped by a filter."]
    assert list_all(compare(filtered, BASE, "stored run")) == []
    by_file = change_run(filtered, filters=("*",), file_filters=("*",))
    assert list_all(compare(by_file, base, "stored run")) == []
    assert list_all(compare(RUN, base, "stored run")) == []
    selected = list_all(compare(change_run(RUN, selection="-k x"), base, "stored run"))
    assert not [each for each in selected if "skipped by a filter" in each]


def make_row(name: str, **fields: Any) -> Row:
    return Row(name, "e", RowLabel.UNCHANGED, pairs=PairSummary(12, 12), **fields)


ONLY_BOTH = "since the baseline. Only cases of both runs are compared"


@pytest.mark.parametrize(
    ("cases", "selection", "notice"),
    [
        (CaseChanges(), "", ""),
        (CaseChanges(added=1), "", f"1 case added {ONLY_BOTH}."),
        (CaseChanges(removed=2), "", f"2 cases removed {ONLY_BOTH}."),
        (CaseChanges(removed=2), "-k x", ""),
        (CaseChanges(added=3, removed=2), "-k x", f"3 cases added {ONLY_BOTH}."),
        (
            CaseChanges(changed=1),
            "",
            f"1 case changed in definition {ONLY_BOTH}, changed ones with their old version.",
        ),
    ],
)
def test_changed_cases_are_counted_by_suite(cases: CaseChanges, selection: str, notice: str) -> None:
    run = change_run(RUN, selection=selection)
    comparison = replace(compare(run, BASE, "stored run"), rows=(make_row("demo", cases=cases),))
    found = [each for each in list_all(comparison) if not each.startswith("Only a part")]
    assert found == ([f"demo: {notice}"] if notice else [])


def test_a_row_without_changed_cases_hides_no_changes_of_its_suite() -> None:
    rows = (make_row("demo", cases=CaseChanges(added=1)), make_row("demo"))
    assert list_all(replace(SAME, rows=rows)) == [f"demo: 1 case added {ONLY_BOTH}."]


def test_suites_are_in_the_order_of_their_names() -> None:
    names = ("suite 10", "suite 9", "suite 1")
    run, base = make_run(*map(suite, names)), make_base(*map(suite, names))
    rows = tuple(make_row(name, setup_change="model a → b") for name in names)
    comparison = replace(compare(run, base, "stored run"), rows=rows)
    assert list_all(comparison) == [
        f"{name}, compared with the baseline: model a → b." for name in ("suite 1", "suite 9", "suite 10")
    ]


def test_whole_runs_that_move_are_named_before_the_evaluators_that_were_not_checked() -> None:
    moving = BaseRuns(3, RunMovement(0.021, 0.02, 4))
    still = BaseRuns(3, RunMovement(0.021, 0.0, 4))
    rows = (make_row("demo", base_runs=moving, checked=False), make_row("other", base_runs=still))
    first, second = list_all(replace(SAME, rows=rows))
    assert "explain, although nothing changed between them: demo · e by 2.1 points (4 runs). Labels" in first
    assert second == "Could not check whether these scorers changed: e."


def test_what_waits_for_people_names_the_command_if_some_can_be_reviewed() -> None:
    run = make_run(suite())
    columns = run.suites[0].columns
    columns.pending = 2
    assert list_all(compare(run, BASE, "stored run")) == ["demo: 2 evaluations waiting for review."]
    columns.contested = 1
    named = replace(CONTEXT, named="other/folder")
    assert list_all(compare(run, BASE, "stored run"), context=named) == [
        "demo: 2 evaluations waiting for review: scoregate review other/folder."
    ]


def test_scores_without_a_scale_name_the_settings() -> None:
    run = make_run(suite())
    run.suites[0].columns.unscaled.update({"words": {1}, "characters": {2}})
    assert list_all(replace(SAME, run=run)) == [
        "demo: scores of characters, words are outside [0, 1]. Set `scale` or `ignore` in [evaluators]."
    ]


def test_cases_without_names_are_paired_by_position() -> None:
    def imported(cases: int) -> ExampleSuite:
        trials = [Trial(str(at + 1), [Score("e", 1.0, None)]) for at in range(cases)]
        return ExampleSuite("demo", trials, (EvaluatorInfo("e"),), setup=Setup("demo", "scores.csv"))

    notice = (
        "demo: 13 cases can only be paired by position, and cases were added or removed since the baseline. "
        "Pairs may be wrong: give the cases names that don't change."
    )
    changed = list_all(compare(make_run(imported(13)), make_base(imported(12)), "stored run"))
    same = list_all(compare(make_run(imported(13)), make_base(imported(13)), "stored run"))
    assert (notice in changed, same) == (True, [])


def test_evaluators_that_could_not_be_checked_are_named_once() -> None:
    row = make_row("demo", checked=False)
    rows = (
        replace(row, evaluator="tone"),
        replace(row, evaluator="facts"),
        replace(row, evaluator="facts"),
        replace(row, evaluator="known", checked=True),
        replace(row, evaluator="alone", pairs=PairSummary()),
    )
    assert list_all(replace(SAME, rows=rows)) == ["Could not check whether these scorers changed: facts, tone."]


def test_a_lower_threshold_is_named_and_other_changes_are_left_to_their_rows() -> None:
    lowered = EvaluatorChange(0, "e", EvaluatorChangeKind.LOWERED, "its threshold is lower, or gone, in 2 cases")
    removed = replace(lowered, change=EvaluatorChangeKind.REMOVED, what="it is missing")
    verdict = Verdict((), evaluator_changes=(removed, lowered))
    assert list_all(SAME, verdict) == [
        "demo, e: its threshold is lower, or gone, in 2 cases compared with the baseline."
    ]
    assert list_all(compare(RUN, None), verdict) == []


def test_limits_that_are_not_applied_are_grouped_by_their_reason() -> None:
    finding = Finding(COST_RATIO, Conclusion.PASSED, "neither run knows its cost", "≤ 1.5 ×", suite="b", applied=False)
    left_out = (
        finding,
        replace(finding, suite="a10"),
        replace(finding, suite="a9"),
        replace(finding, value="why", suite="c"),
    )
    assert list_all(SAME, Verdict((), left_out=left_out)) == [
        "Cost ratio of a9, a10, b is not applied: neither run knows its cost.",
        "Cost ratio of c is not applied: why.",
    ]  # fmt: skip


def test_suites_in_which_nothing_can_fail_are_named_unless_they_have_a_finding() -> None:
    text = "nothing here can fail. No score has a threshold, and no limit or relative gate is set."
    passed = Finding(PASS_RATE, Conclusion.PASSED, "1 of 1", "≥ 50%", suite="b")
    failed = replace(passed, conclusion=Conclusion.FAILED)
    assert describe_ungated(Verdict((passed,), ungated=("b", "a10", "a9"))) == f"a9, a10, b: {text}"
    assert describe_ungated(Verdict((failed,), ungated=("b", "a"))) == f"a: {text}"
    assert describe_ungated(Verdict((failed,), ungated=("b",))) == ""
    assert list_all(SAME, Verdict((), ungated=("demo",))) == [f"demo: {text}"]
    assert list_all(SAME, Verdict((failed,), ungated=("b",))) == []


def test_without_a_baseline_the_first_notice_says_so() -> None:
    verdict = Verdict((), ungated=("demo",))
    first, second = list_all(compare(RUN, None, "no run of main"), verdict)
    assert (first[:24], second[:13]) == ("There is no baseline yet", "demo: nothing")
    first, second = list_all(compare(change_run(RUN, dirty=True), BASE, "stored run"), verdict)
    assert (first[:13], second) == ("demo: nothing", "The run has uncommitted changes.")


def test_sentences_of_features_are_at_their_places() -> None:
    places = (Place.END, Place.COSTS, Place.PARTS, Place.ROWS, Place.BASELINE, Place.VERDICT)
    sections = [Section("x", place, sentences=(str(place),)) for place in places]
    run = change_run(RUN, dirty=True, notices=("of the run",))
    rows = (make_row("demo", checked=False, setup_change="model a → b"),)
    comparison = replace(compare(run, BASE, "stored run"), rows=rows)
    assert list_all(comparison, Verdict((), ungated=("demo",)), sections=sections) == [
        "demo: nothing here can fail. No score has a threshold, and no limit or relative gate is set.",
        "verdict",
        "baseline",
        "The run has uncommitted changes.",
        "demo, compared with the baseline: model a → b.",
        "rows",
        "Could not check whether these scorers changed: e.",
        "parts",
        "costs",
        "of the run",
        "end",
    ]
