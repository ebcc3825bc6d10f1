"""Suites whose results a run carries over from its base: gates count them, comparisons don't."""

from __future__ import annotations

from dataclasses import replace

from tests.runs import change_run
from tests.unit.kernel.builders import ExampleSuite, mark_source, run_of, scored

from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.compare.comparison_rows import RowLabel
from scoregate.kernel.compare.flips import pair_pass_rates
from scoregate.kernel.gate import evaluate_gates
from scoregate.kernel.run.kept_results import describe_source
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.runs.dependencies import CarriedFrom
from scoregate.kernel.types.runs.evidence import Use
from scoregate.kernel.types.runs.history import history_after
from scoregate.kernel.types.runs.policy import Limits, Policy
from scoregate.kernel.types.runs.run import Run

GOOD, BAD = [1.0] * 30, [0.0] * 30


def reuse_suites(run: Run, *suites: str) -> Run:
    source = CarriedFrom("base", "main@1234567")
    marked = (mark_source(each, carried=source) if each.id in suites else each for each in run.suites)
    return replace(run, suites=tuple(marked))


def test_a_reused_suite_is_no_evidence() -> None:
    run = reuse_suites(run_of(ExampleSuite(scored(*BAD), id="a"), ExampleSuite(scored(*BAD), id="b")), "b")
    base = run_of(ExampleSuite(scored(*GOOD), id="a"), ExampleSuite(scored(*GOOD), id="b"))
    comparison = compare(run, base)
    a, b = comparison.rows
    assert (a.label, b.label) == (RowLabel.WORSE, RowLabel.UNAFFECTED)
    assert (b.mean, b.base, b.delta, b.estimate.interval, b.correction.q, b.pairs.n) == (0.0, 1.0, None, None, None, 0)
    assert b.reason == "results of main@1234567"
    assert {each.suite for each in (*comparison.newly_failing, *comparison.newly_passing)} <= {0}
    alone = compare(run_of(ExampleSuite(scored(*BAD), id="a")), run_of(ExampleSuite(scored(*GOOD), id="a")))
    assert a.correction.q == alone.rows[0].correction.q
    assert comparison.gone == ()
    assert [comparison.run.suites[index].id for index, _ in comparison.pairs_for(Use.TEST)] == ["a"]


def test_gates_count_it() -> None:
    run = reuse_suites(run_of(ExampleSuite(scored(*GOOD), id="a"), ExampleSuite(scored(*BAD), id="b")), "b")
    policy = Policy(default=Limits(min_score={"*": 0.5}, fail_on_regression=True))
    verdict = evaluate_gates(
        compare(run, run_of(ExampleSuite(scored(*GOOD), id="a"), ExampleSuite(scored(*BAD), id="b"))), policy
    )
    failed = [(each.rule, each.suite) for each in verdict.findings if each.conclusion is Conclusion.FAILED]
    assert failed == [("mean score", "b")]


def test_without_a_base_it_is_new() -> None:
    run = reuse_suites(run_of(ExampleSuite(scored(*GOOD), id="a"), ExampleSuite(scored(*GOOD), id="b")), "b")
    assert [row.label for row in compare(run, run_of(ExampleSuite(scored(*GOOD), id="a"))).rows][1] is RowLabel.NEW
    assert {row.label for row in compare(run, None).rows} == {RowLabel.NEW}


def test_histories_have_no_point_for_it() -> None:
    run = reuse_suites(run_of(ExampleSuite(scored(*GOOD), id="a"), ExampleSuite(scored(*GOOD), id="b")), "b")
    assert history_after(run).suites.keys() == {"a"}


def reuse_rows(run: Run, *rows: int) -> Run:
    """The run with some rows reused from the base."""
    (suite,) = run.suites
    return replace(run, suites=(mark_source(suite, rows, kept=CarriedFrom("base", "main@1234567")),))


def test_means_include_all_cases_and_only_new_ones_are_compared() -> None:
    base, run = (
        run_of(ExampleSuite(scored(1.0, 1.0, 1.0, 1.0))),
        reuse_rows(run_of(ExampleSuite(scored(0.0, 1.0, 1.0, 1.0))), 1, 2, 3),
    )
    comparison = compare(run, base)
    (row,) = comparison.rows
    assert (row.mean, row.base, row.delta, row.pairs.n, row.cases.kept) == (0.75, 1.0, -1.0, 1, 3)
    assert list(pair_pass_rates(run, base, comparison.pairs_for(Use.PASS_RATE))) == [(0.0, 1.0)]
    # A later run that carries this suite over has the mean of all cases, too.
    (row,) = compare(reuse_suites(run, "demo"), run).rows
    assert (row.label, row.mean, row.base, row.cases.kept) == (RowLabel.UNAFFECTED, 0.75, 0.75, 0)


def test_sources_of_results_are_named_with_their_changes() -> None:
    run = change_run(run_of(), id="fb2f0fe9" * 4, commit="1234567890", branch="main")
    assert describe_source(run).name == "main@1234567"
    assert describe_source(change_run(run, dirty=True)).name == "main@1234567 with uncommitted changes"
    assert describe_source(change_run(run, commit=None)).name == "run fb2f0fe9"


def test_carried_suites_are_no_measured_pairs_in_any_order() -> None:
    suites = [ExampleSuite(scored(*[1.0] * 12), id=name) for name in ("a", "b", "c")]
    base = run_of(*suites[::-1])
    run = run_of(*suites)
    carried = replace(run, suites=(mark_source(run.suites[0], carried=CarriedFrom("1", "main")), *run.suites[1:]))
    comparison = compare(carried, base)
    assert comparison.pairs == ((0, 2), (1, 1), (2, 0))
    assert comparison.pairs_for(Use.TEST) == ((1, 1), (2, 0))
