"""Every mean score and pass rate is over cases: the mean of a case's trials first, then of the cases."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import isclose
from typing import Any, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.report.runs import ExampleSuite, Score, Trial, make_base, make_run, view_of
from tests.unit.report.test_console import print_view
from tests.unit.report.test_html import NAME, NOW, read_index, text_of

from scoregate.engine.eval_result import copy_result
from scoregate.engine.summary import summary
from scoregate.features.history.rows import _series_numbers
from scoregate.features.otlp.publisher import make_metrics
from scoregate.kernel.gate.finding import Finding
from scoregate.kernel.judge.archive.run_json import make_head
from scoregate.kernel.report import markdown, result_json
from scoregate.kernel.report.html.case_list import ScoreColumn
from scoregate.kernel.report.view import ReportView
from scoregate.kernel.types.evaluation import Threshold, Usage
from scoregate.kernel.types.event_values import ErrorInfo, EvaluatorInfo
from scoregate.kernel.types.runs.history import history_after
from scoregate.kernel.types.runs.policy import Limits
from scoregate.kernel.types.runs.reducer import SuiteReducer
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.runs.tally import SuiteSums, tally_suite

ERROR = ErrorInfo("TimeoutError", "too slow")
HALF = Threshold(gte=0.5)
# By case, the score of each trial; None for a trial that met an error.
Cases: TypeAlias = Sequence[Sequence[float | None]]
scores = st.one_of(st.none(), st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.7, 1.0]))
some_cases = st.lists(st.lists(scores, min_size=1, max_size=4), min_size=1, max_size=12).filter(
    lambda cases: any(score is not None for trials in cases for score in trials)
)


def make_suite(cases: Cases, order: Sequence[int] = (), name: str = "bot") -> ExampleSuite:
    trials = [
        Trial(
            f"case {number}",
            () if score is None else (Score("judge", score, HALF),),
            repeat=repeat,
            error=ERROR if score is None else None,
        )
        for number, case in enumerate(cases)
        for repeat, score in enumerate(case)
    ]
    return ExampleSuite(name, [trials[at] for at in order] if order else trials, evaluators=(EvaluatorInfo("judge"),))


def average(values: Sequence[Sequence[Fraction]]) -> Fraction:
    """The reference: the mean of each case, then of the cases that have any."""
    means = [sum(case, Fraction(0)) / len(case) for case in values if case]
    return sum(means, Fraction(0)) / len(means)


def find_reference(cases: Cases) -> tuple[float, float]:
    """The mean score and the pass rate."""
    known = [[score for score in case if score is not None] for case in cases]
    mean = average([[Fraction(score) for score in case] for case in known])
    return float(mean), float(average([[Fraction(int(score >= 0.5)) for score in case] for case in known]))


def list_means(run: Run, view: ReportView) -> Iterator[tuple[str, Any]]:
    """The mean score of every surface that has it as a number."""
    (suite,), data = run.suites, result_json.to_data(view)
    yield "suite", suite.mean("judge")
    yield "result", copy_result(suite).scores["judge"]
    yield "run.json", make_head(run, None).suites[0].means["judge"]
    yield "result.json", data["rows"][0]["mean"]
    yield "history of the project", _series_numbers(suite, "judge")[1]
    yield "metrics", read_metric(view, "scoregate.evaluation.score")


def list_rates(run: Run, view: ReportView) -> Iterator[tuple[str, Any]]:
    (suite,), data = run.suites, result_json.to_data(view)
    yield "result", copy_result(suite).pass_rate
    yield "result.json", data["totals"]["pass_rate"]
    yield "suites of result.json", data["suites"][0]["pass_rate"]
    yield "metrics", read_metric(view, "scoregate.evaluation.pass_rate")


def read_metric(view: ReportView, name: str) -> float:
    (metric,) = (each for each in make_metrics(view) if each["name"] == name)
    (point,) = metric["gauge"]["dataPoints"]
    return float(point["asDouble"])


def find(view: ReportView, rule: str) -> Finding:
    (finding,) = (each for each in view.findings if each.rule == rule)
    return finding


@settings(max_examples=60, deadline=None)
@given(some_cases, st.randoms(use_true_random=False), st.data())
def test_all_surfaces_agree(cases: Cases, random: Any, data: st.DataObject) -> None:
    mean, rate = find_reference(cases)
    order = list(range(sum(map(len, cases))))
    random.shuffle(order)
    run = make_run(make_suite(cases, order))
    limit = data.draw(st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.9]))
    view = view_of(run, limits=Limits(min_pass_rate=limit, min_score={"judge": limit}, max_error_rate=1.0))
    for surface, shown in list_means(run, view):
        assert isclose(shown, mean, abs_tol=1e-12), surface
    for surface, shown in list_rates(run, view):
        assert isclose(shown, rate, abs_tol=1e-12), surface
    past = history_after(run)
    (metrics,), (score,) = past.suites["bot"].took, past.suites["bot"].scores["judge"]
    assert metrics is not None
    assert score is not None
    assert metrics.pass_rate == past.runs[-1].took.pass_rate
    assert (metrics.pass_rate, score.mean) == (pytest.approx(rate, abs=1e-5), pytest.approx(mean, abs=1e-5))
    for rule, value in (("mean score", mean), ("pass rate", rate)):
        holds = round(value, 9) >= limit
        assert find(view, rule).conclusion == ("passed" if holds else "failed")
    check_texts(view, rate)
    check_page(view, cases)
    assert f"judge {view.rows[0].mean}" in summary(copy_result(run.suites[0]))


def check_texts(view: ReportView, rate: float) -> None:
    percent = view.suites[0].passes.partition("(")[2].partition("%")[0]
    assert float(percent) == pytest.approx(100 * rate, abs=0.11)
    comment = "".join(markdown.render(view))
    assert re.search(rf"Pass rate {re.escape(percent)}%", comment), comment
    terminal = " ".join(print_view(view, width=300).split())
    assert f"({percent}%" in terminal, terminal
    assert view.rows[0].mean == f"{view.rows[0].row.mean:.3f}"
    has_unequal = ", each case counts once" in view.suites[0].passes
    for text in (comment, terminal, find(view, "pass rate").value):
        assert ("each case counts once" in text) is has_unequal


def check_page(view: ReportView, cases: Cases) -> None:
    """The page lists the mean of each case; their mean is that of the suite."""
    listed = {row[NAME]: row[NOW][0] for row in read_index(text_of(view)) if row[NOW] and None not in row[NOW]}
    for name, shown in listed.items():
        known = [score for score in cases[int(name.split()[1])] if score is not None]
        assert shown == pytest.approx(sum(known) / len(known), abs=1e-4)


@settings(max_examples=30, deadline=None)
@given(some_cases, some_cases)
def test_a_comparison_shows_the_means_of_its_sides(cases: Cases, others: Cases) -> None:
    """Where all cases are pairs, the compared means are those of the suites and of the gate."""
    count = min(len(cases), len(others))
    sides = [[case for case in each[:count] if None not in case] for each in (cases, others)]
    count = min(map(len, sides))
    if not count:
        return
    now, before = (find_reference(side[:count])[0] for side in sides)
    run, base = make_run(make_suite(sides[0][:count])), make_base(make_suite(sides[1][:count]))
    (row,) = view_of(run, base, limits=Limits(min_score={"judge": 0.0})).rows
    assert (row.row.mean, row.row.base) == (run.suites[0].mean("judge"), base.suites[0].mean("judge"))
    assert row.row.mean == pytest.approx(now, abs=1e-12)
    assert row.row.base == pytest.approx(before, abs=1e-12)
    assert row.row.delta == pytest.approx(now - before, abs=1e-8)


@settings(max_examples=30, deadline=None)
@given(some_cases, st.randoms(use_true_random=False))
def test_the_order_of_trials_changes_no_number(cases: Cases, random: Any) -> None:
    """Shards and machines finish trials in any order."""
    order = list(range(sum(map(len, cases))))
    random.shuffle(order)
    limits = Limits(min_pass_rate=0.5, min_score={"judge": 0.5})
    views = [view_of(make_run(make_suite(cases, each)), limits=limits) for each in ((), order)]
    found = [result_json.to_data(view) for view in views]
    for part in ("totals", "suites", "findings", "conclusion"):
        assert found[0][part] == found[1][part]


def test_equal_numbers_of_trials_are_the_share_of_trials() -> None:
    view = view_of(make_run(make_suite([[1, 1, 0], [1, 0, 0], [1, 1, 1]])), limits=Limits(min_pass_rate=0.7))
    assert find(view, "pass rate").value == "6 of 9 trials (66.7%)"
    assert view.totals.pass_rate == 6 / 9


def test_a_case_that_ran_more_often_weighs_no_more() -> None:
    """One case that ran ten times must not make a suite green or red alone."""
    cases = [[1.0] * 10, [0.0], [0.0], [1.0]]
    view = view_of(make_run(make_suite(cases)), limits=Limits(min_pass_rate=0.6, min_score={"judge": 0.6}))
    assert [find(view, rule).conclusion for rule in ("pass rate", "mean score")] == ["failed", "failed"]
    assert find(view, "pass rate").value == "11 of 13 trials (50.0%, each case counts once)"
    assert find(view, "mean score").value == "0.500"


def test_suites_weigh_by_their_cases() -> None:
    run = make_run(make_suite([[1.0, 1.0, 1.0]]), make_suite([[0.0]], name="other"))
    view = view_of(run, limits=Limits(min_pass_rate=0.0))
    assert view.totals.pass_rate == 0.5
    assert history_after(run).runs[-1].took.pass_rate == 0.5


@settings(max_examples=30, deadline=None)
@given(some_cases, st.integers(0, 5))
def test_progress_ends_with_the_mean_of_the_report(cases: Cases, step: int) -> None:
    suite, sums = SuiteReducer(0, "bot"), SuiteSums()
    for number, event in enumerate(make_suite(cases).events()):
        suite.apply(event)
        if step and not number % step:
            tally_suite(suite, "log", sums)
    mean, rate = find_reference(cases)
    tally = tally_suite(suite, "log", sums)
    assert tally.means["judge"] == pytest.approx(mean, abs=1e-12)
    assert tally.pass_rate == pytest.approx(rate, abs=1e-12)


def test_scores_of_one_stored_answer_count_once_everywhere() -> None:
    answers = ("a", "a", "b")
    trials = [
        Trial("case", (Score("judge", score, HALF),), repeat=at, usage=Usage(1, answer=answers[at]))
        for at, score in enumerate((1.0, 1.0, 0.0))
    ]
    run = make_run(ExampleSuite("bot", trials, evaluators=(EvaluatorInfo("judge"),)))
    columns = run.suites[0].columns
    if not columns.answers:
        pytest.fail("the trials have no stored answers")
    (row,) = view_of(run, make_base(ExampleSuite("bot", trials, evaluators=(EvaluatorInfo("judge"),)))).rows
    assert run.suites[0].mean("judge") == row.row.mean == ScoreColumn(columns, "judge").average((0, 1, 2)) == 0.5
