"""The view orders, counts and selects what reports print, and reads cases as seldom as possible."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace

import pytest
from rich.console import Console
from tests.runs import change_run
from tests.unit.report.example_views import EXAMPLES, bot
from tests.unit.report.runs import CONTEXT, NOW, ExampleSuite, Score, Trial, make_base, make_run, make_view, view_of

from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.gate import evaluate_gates
from scoregate.kernel.report import console, markdown, result_json
from scoregate.kernel.report.answers import describe_case, list_regressions
from scoregate.kernel.report.failing_trials import MAX_FAILING
from scoregate.kernel.report.rows import ReportState
from scoregate.kernel.report.view import ReportView
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.evaluation import Assertion, Threshold, Usage
from scoregate.kernel.types.event_values import ErrorInfo, EvaluatorInfo, Setup
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.confirmations import Confirmation, with_confirmations
from scoregate.kernel.types.runs.policy import Limits, Policy
from scoregate.kernel.types.runs.run import Run, Script


def make_suite(scores: list[float], evaluator: str = "e", suite: str = "demo", higher: bool = True) -> ExampleSuite:
    trials = [Trial(f"h{at}", [Score(evaluator, score, None)]) for at, score in enumerate(scores)]
    return ExampleSuite(suite, trials, (EvaluatorInfo(evaluator, higher_is_better=higher),))


def test_rows_are_ordered_worst_first() -> None:
    view = EXAMPLES["failing"]()
    assert [(row.row.suite, row.state) for row in view.rows] == [
        ("support-bot", ReportState.FAILED),
        ("support-bot", ReportState.FAILED),
        ("rag", ReportState.NOT_COMPARABLE),
        ("router", ReportState.HELD),
        ("tone", ReportState.NEW),
    ]
    assert view.title == "3 of 9 gates failed"
    assert [finding.conclusion for finding in view.findings][2:4] == [Conclusion.FAILED, Conclusion.PASSED]


def test_rows_of_the_baseline_alone_come_last() -> None:
    base, run = (
        make_base(make_suite([1.0] * 20, suite="a"), make_suite([1.0] * 20, suite="b")),
        make_suite([1.0] * 20, suite="b"),
    )
    assert [(row.row.suite, row.state) for row in view_of(make_run(run), base).rows] == [
        ("b", ReportState.HELD),
        ("a", ReportState.REMOVED),
    ]


def test_what_hides_all_scores_of_a_suite_is_listed_once() -> None:
    infos = tuple(EvaluatorInfo(name) for name in "abc")
    good = [Trial(f"h{at}", [Score(name, 1.0) for name in "abc"]) for at in range(16)]
    broken = [Trial("h0", error=ErrorInfo("KeyError", "x")), *good[1:]]
    limits = Limits(fail_on_regression=True, max_error_rate=0.05)
    base, run = make_base(ExampleSuite("demo", good, infos)), make_run(ExampleSuite("demo", broken, infos))
    view = view_of(run, base, limits=limits)
    assert [each.rule for each in view.failed] == ["error rate", *["regression"] * 3]
    assert [(each.rule, each.evaluator) for each in view.listed_gates] == [
        ("error rate", None),
        ("regression", "a, b, c"),
    ]


def test_a_significant_drop_is_before_noise_in_any_direction() -> None:
    base = make_base(make_suite([0.2] * 20, "toxicity", "a", higher=False), make_suite([0.5] * 20, suite="b"))
    run = make_run(make_suite([0.6] * 20, "toxicity", "a", higher=False), make_suite([0.5] * 19 + [0.4], suite="b"))
    first, second = view_of(run, base).rows
    assert (first.state, first.note, first.delta) == (
        ReportState.WORSE,
        "corrected p < 0.0001, lower is better",
        "+0.400",
    )
    assert (second.state, second.counts) == (ReportState.HELD, "0 / 1 of 20")


def test_an_interval_of_noise_without_zero_has_a_reason() -> None:
    base = make_base(make_suite([1.0] * 20, suite="a"), make_suite([0.0, 1.0] * 10, suite="b"))
    run = make_run(make_suite([0.0] * 5 + [1.0] * 15, suite="a"), make_suite([1.0, 0.0] * 10, suite="b"))
    one, other = view_of(run, base).rows
    assert one.note.startswith("corrected p = 0.06, could detect ±")
    assert other.note.startswith("could detect ±")


def test_unmeasurable_rows_show_no_difference() -> None:
    broken = make_suite([1.0] * 20)
    for trial in broken.trials[:9]:
        trial.scores[0] = Score("e", error=ErrorInfo("E", "no"))
    [row] = view_of(make_run(broken), make_base(make_suite([0.5] * 20))).rows
    assert (row.delta, row.low, row.high, row.counts) == ("–", "", "", "–")
    assert (row.label, row.note) == ("unmeasurable", "9 of 20 pairs have an error in this run")


def test_equal_drops_have_a_fixed_order() -> None:
    names = [f"case {at}" for at in range(30)]
    for threshold in (None, Threshold(gte=0.9)):
        shown = []
        for order in (names, names[::-1], names[7:] + names[:7]):
            run = make_run(ExampleSuite("demo", [Trial(name, [Score("e", 0.2, threshold)], name) for name in order]))
            base = make_base(ExampleSuite("demo", [Trial(name, [Score("e", 1.0, threshold)], name) for name in names]))
            view = view_of(run, base)
            shown.append([each.name for each in (view.notable.failing if threshold else view.notable.drops)])
        assert len(shown[0]) == (30 if threshold else 10)
        assert shown[0] == shown[1] == shown[2], threshold
    assert shown[0] == names


def test_imported_results_cause_no_notice_about_unchecked_evaluators() -> None:
    for setup, is_noted in ((None, True), (Setup("demo", "scores.csv"), False)):
        told_of = [replace(make_suite([0.5] * 20), setup=setup) for _ in range(2)]
        view = view_of(make_run(told_of[0]), make_base(told_of[1]))
        assert any("Could not check whether" in each for each in view.notices) is is_noted, setup


def test_agent_answers_have_reasons_without_their_field() -> None:
    trial = Trial("a", [Score("polite", 0.0, metadata={"reason": "it is rude", "words": 3})])
    view = view_of(make_run(ExampleSuite("demo", [trial])))
    (missed,) = list_regressions(view)["failing"][0]["missed"]
    assert missed["why"] == "it is rude; words: 3"
    assert describe_case(view, "demo", "a")["now"]["scores"]["polite"]["reasons"] == ["it is rude", "words: 3"]


def test_a_repeated_case_is_one_failing_case_with_its_worst_trial() -> None:
    scores = {"a": (0.4, 0.1, 0.3), "b": (0.9, 0.2, 0.9), "c": (0.9, 0.9, 0.9)}
    trials = [
        Trial(name, [Score("e", score, Threshold(gte=0.5))], name, repeat=repeat)
        for name, of_case in scores.items()
        for repeat, score in enumerate(of_case)
    ]
    for ordered in (trials, trials[::-1]):
        view = view_of(make_run(ExampleSuite("demo", ordered)))
        assert view.notable.failing_total == 2
        assert [(each.name, each.key.repeat) for each in view.notable.failing] == [("a", 1), ("b", 1)]


def test_a_gate_marks_the_row_that_it_names() -> None:
    limits = Limits(min_pass_rate=0, min_score={"e": 0.9})
    [row] = view_of(make_run(make_suite([0.5] * 20)), limits=limits).rows
    assert row.state is ReportState.FAILED
    assert [gate.rule for gate in row.gates] == ["mean score"]


def test_rows_of_filtered_suites_are_not_removed() -> None:
    run, base = make_run(make_suite([1.0])), make_base(make_suite([1.0]), make_suite([1.0], suite="other"))
    assert {row.state for row in view_of(run, base).rows} >= {ReportState.REMOVED}
    filtered = view_of(change_run(run, filters=("demo",)), base)
    assert [row.row.suite for row in filtered.rows] == ["demo"]
    assert "1 suite of the baseline skipped by a filter." in filtered.notices


def test_the_largest_new_failures_have_reasons_and_outputs() -> None:
    rubric = (Assertion("is polite", False, True), Assertion("is short", True, False))
    now = [
        Trial("h0", [Score("e", 0.8)], name="small", output="same"),
        Trial("h1", [Score("e", 0.2, assertions=rubric)], name="large", output="New words.\nEnd"),
    ]
    before = [Trial(f"h{at}", [Score("e", 1.0)], output=out) for at, out in enumerate(["same", "Old words.\nEnd"])]
    view = view_of(make_run(ExampleSuite("demo", now)), make_base(ExampleSuite("demo", before)))
    large, small = view.notable.failing
    assert (large.name, large.is_newly_failing, large.drop) == ("large", True, pytest.approx(0.8))
    assert large.shown.diff == ("- Old words.", "+ New words.", "  End")
    assert large.url == f"https://github.com/o/r/blob/{CONTEXT.commit}/evals/support_bot.py#L41"
    [miss] = large.misses
    assert (miss.base, miss.shown, miss.threshold, miss.why) == (1.0, "0.2", "≥ 0.9", "not met: is polite")
    assert (small.shown.diff, small.shown.same_output) == ((), True)


def test_without_newly_failing_cases_the_lowest_scores_are_shown() -> None:
    trials = [Trial(f"h{at}", [Score("e", score)], output="words") for at, score in enumerate([0.5, 1.0, 0.1])]
    view = view_of(make_run(ExampleSuite("demo", trials)))
    assert [(case.key.hash, case.is_newly_failing, case.shown.output) for case in view.notable.failing] == [
        ("h2", False, "words"),
        ("h0", False, "words"),
    ]
    assert view.notable.failing_total == 2


@pytest.mark.parametrize("based", [True, False])
def test_failing_cases_are_shared_among_suites(based: bool) -> None:
    def suites(low: float, mild: float) -> list[ExampleSuite]:
        many = [Trial(f"h{at}", [Score("e", low + at / 1000 if low < 1 else 1.0)]) for at in range(MAX_FAILING + 10)]
        return [
            ExampleSuite("many", many),
            *(ExampleSuite(name, [Trial("h", [Score("e", mild)])]) for name in ("one", "two")),
        ]

    view = view_of(make_run(*suites(0.0, 0.8)), make_base(*suites(1.0, 1.0)) if based else None)
    shown = [(case.suite, case.key.hash) for case in view.notable.failing]
    assert shown[:5] == [("many", "h0"), ("one", "h"), ("two", "h"), ("many", "h1"), ("many", "h2")]
    assert (len(shown), len(set(shown)), view.notable.failing_total) == (MAX_FAILING, MAX_FAILING, MAX_FAILING + 12)
    (text,) = markdown.render(view)
    assert f"(the 10 {'largest drops' if based else 'lowest scores'}, suites in turn; all" in text


@pytest.mark.parametrize("based", [True, False])
def test_cases_of_failed_gates_come_first(based: bool) -> None:
    def suites(low: float, mild: float) -> list[ExampleSuite]:
        good = [Trial(f"g{at}", [Score("e", 1.0)]) for at in range(8)]
        return [
            ExampleSuite("passes", [Trial("h0", [Score("e", low)]), Trial("h1", [Score("e", low)]), *good]),
            ExampleSuite("fails", [Trial("h0", [Score("e", mild)]), Trial("h1", [Score("e", mild)])]),
        ]

    limits = Limits(min_pass_rate=0.7)
    view = view_of(make_run(*suites(0.0, 0.8)), make_base(*suites(1.0, 1.0)) if based else None, limits=limits)
    assert [case.suite for case in view.notable.failing] == ["fails", "fails", "passes", "passes"]
    printed = io.StringIO()
    Console(file=printed, width=120).print(*console.render(view))
    assert "first, those of failed gates before others, suites in turn:" in printed.getvalue()
    both = view_of(make_run(*suites(0.0, 0.8)), limits=Limits(min_pass_rate=0.9))
    assert [case.suite for case in both.notable.failing] == ["passes", "fails"] * 2
    assert not both.shows_failed_gates_first


def count_passes(run: Run, passes: list[str], name: str) -> Run:
    """The run with a record of every pass over its cases."""

    def read() -> Iterator[CaseResult]:
        passes.append(name)
        return run.cases

    return replace(run, read=read)


def test_cases_are_read_once_and_those_of_the_base_only_for_outputs() -> None:
    passes: list[str] = []
    run = count_passes(make_run(bot(range(100), range(0))), passes, "run")
    base = count_passes(make_base(bot(range(0), range(0))), passes, "base")
    view = view_of(run, base)
    assert (len(view.notable.failing), view.notable.failing_total) == (MAX_FAILING, 100)
    assert passes == ["run", "base", "run"]  # the last pass looks for clusters among the first 5,000 inputs
    passes.clear()
    view_of(run, base, context=replace(CONTEXT, show_outputs=False))
    assert passes == ["run", "run"]


def test_outputs_are_bounded_and_differences_found_in_them() -> None:
    words = "word " * 400_000
    view = view_of(
        make_run(ExampleSuite("demo", [Trial("h", [Score("e", 0.0)], output=f"One. {words}")])),
        make_base(ExampleSuite("demo", [Trial("h", [Score("e", 1.0)], output=f"Two. {words}")])),
    )
    [case] = view.notable.failing
    assert case.shown.diff[:2] == ("- Two.", "+ One.")
    assert sum(map(len, case.shown.diff)) < 10_000


def test_errors_are_counted_by_kind_most_frequent_first() -> None:
    view = EXAMPLES["unmeasurable"]()
    assert [(error.type, error.evaluator, error.trials, error.case) for error in view.errors] == [
        ("RateLimitError", "accuracy", 40, "case 1"),
        ("TimeoutError", None, 1, "a slow one"),
    ]
    assert view.totals.with_errors == 41


def test_too_many_kinds_of_errors_are_counted_together() -> None:
    trials = [Trial(f"h{at}", error=ErrorInfo(f"E{at}", "refused")) for at in range(500)]
    view = view_of(make_run(ExampleSuite("demo", trials)))
    assert len(view.errors) == 201
    assert sum(error.trials for error in view.errors) == 500


def test_an_error_with_many_messages_hides_no_other_error() -> None:
    place = 'Traceback:\n  File "/home/me/bot.py", line {}, in answer\n    ask()\n'
    trials = [Trial(f"h{at}", error=ErrorInfo("E", f"route {at}", traceback=place.format(3))) for at in range(300)]
    trials += [Trial(f"i{at}", error=ErrorInfo("E", f"no place {at}")) for at in range(2)]
    trials.append(Trial("j", error=ErrorInfo("E", "another line", traceback=place.format(7))))
    trials.append(Trial("k", error=ErrorInfo("F", "rare", traceback=place.format(3))))
    view = view_of(make_run(ExampleSuite("demo", trials)))
    assert len(view.errors) == 52
    merged = [(error.type, error.trials, error.messages) for error in view.ungated_errors]
    assert merged == [("E", 303, "more than 50 messages"), ("F", 1, "")]
    few = view_of(make_run(ExampleSuite("demo", trials[290:])))
    merged = [(error.message, error.trials, error.messages) for error in few.ungated_errors]
    assert merged == [
        ("route 290", 10, "10 messages"),
        ("no place 0", 2, "2 messages"),
        ("another line", 1, ""),
        ("rare", 1, ""),
    ]


def test_a_rerun_case_shows_the_result() -> None:
    run = make_run(ExampleSuite("demo", [Trial("h", [Score("e", 0.0)])]))
    tried = with_confirmations(run, [Confirmation("demo", "h", (False, True, False, False))])
    [case] = view_of(tried, make_base(ExampleSuite("demo", [Trial("h", [Score("e", 1.0)])]))).notable.failing
    assert case.tries == "confirmed: 1 of 4 further tries passed"


def test_repeats_are_trials_of_one_case() -> None:
    trials = [Trial("h", [Score("e", 1.0)], repeat=repeat) for repeat in range(3)]
    totals = view_of(make_run(ExampleSuite("demo", trials))).totals
    assert (totals.cases, totals.counts.trials, totals.counts.passed) == (1, 3, 3)


def test_changes_of_cases_are_named() -> None:
    run = ExampleSuite("demo", [Trial("h0", [Score("e")], digest="b"), Trial("h1", [Score("e")])])
    base = ExampleSuite("demo", [Trial("h0", [Score("e")], digest="a"), Trial("h2", [Score("e")])])
    notice, *_ = view_of(make_run(run), make_base(base)).notices
    assert notice == (
        "demo: 1 case added, 1 case removed, 1 case changed in definition since the baseline. "
        "Only cases of both runs are compared, changed ones with their old version."
    )


def test_runs_outside_git_and_ci_have_a_view() -> None:
    run = change_run(make_run(make_suite([1.0])), commit=None, branch=None)
    view = view_of(run, replace(run, id="the-base"), context=replace(CONTEXT, repository=None, commit=None))
    assert view.base is not None
    assert (view.run.name, view.base.name) == (run.id, "the-base")
    assert view.context.commit is None


def test_a_run_without_case_files_has_its_numbers() -> None:
    run = replace(make_run(bot(range(9), range(0))), read=None)
    view = view_of(run)
    assert view.notable.failing == ()
    assert view.totals.counts.failed == 9


def test_titles_match() -> None:
    def title(*suites: ExampleSuite, **limits: float) -> str:
        comparison = compare(make_run(*suites, started=NOW), None)
        policy = Policy(default=Limits(**limits))
        view: ReportView = make_view(comparison, evaluate_gates(comparison, policy), CONTEXT)
        return view.title

    good, bad = make_suite([1.0]), ExampleSuite("bad", [Trial("h", [Score("e", 0.0)])])
    assert title(good) == "passed, no gate is set"
    assert title(good, max_error_rate=0.1) == "1 gate passed"
    assert title(bad, max_error_rate=0.1, min_pass_rate=0.5) == "1 of 2 gates failed"
    assert title(bad, ExampleSuite("none", ()), min_pass_rate=0.5) == "1 of 2 gates failed, 1 could not be measured"
    assert title() == "could not be measured: no suite ran"


def test_errors_in_the_base_do_not_hide_its_outputs() -> None:
    failed = ErrorInfo("TimeoutError", "no answer")
    base = make_base(ExampleSuite("demo", [Trial("bad", error=failed), Trial("h", [Score("e", 1.0)], output="before")]))
    view = view_of(make_run(ExampleSuite("demo", [Trial("h", [Score("e", 0.0)], output="after")])), base)
    assert view.notable.failing[0].shown.diff == ("- before", "+ after")
    assert [error.trials for error in view.errors] == []


def make_used_suite(number: int, usage: Usage | None, suite: str = "demo") -> ExampleSuite:
    trials = [Trial(f"h{at}", [Score("e", 1.0, None)], usage=usage, duration_ms=100.0) for at in range(number)]
    return ExampleSuite(suite, trials, (EvaluatorInfo("e"),))


def test_an_inapplicable_limit_is_in_title_notices_and_result() -> None:
    plain = make_used_suite(2, None, "a"), make_used_suite(2, None, "b")
    view = view_of(make_run(*plain), make_base(*plain), limits=Limits(max_cost_ratio=1.5))
    assert view.title.endswith("; 2 limits not applied")
    assert "Cost ratio of a, b is not applied: neither run knows its cost." in view.notices
    data = result_json.to_data(view)
    assert data["not_applied"] == [f"Cost ratio of {name}: neither run knows its cost" for name in "ab"]
    assert not [each for each in data["findings"] if "applied" in each]


def test_calls_of_any_suite_are_in_totals_and_notices() -> None:
    scripts = (
        Script("evals/demo.py", exit_code=0, usage=Usage(40, 2, cost=0.004, calls=3)),
        Script("none.sh", exit_code=0, usage=Usage(1, calls=1)),
    )
    view = view_of(make_run(make_used_suite(2, Usage(10, cost=0.5)), scripts=scripts))
    assert (view.totals.tokens, view.totals.cost) == (20 + 42 + 1, 1.004)
    assert view.history == ()
    first, second = [notice for notice in view.notices if notice.startswith("Of no suite")]
    assert first == (
        "Of no suite: 3 calls of models ($0.004) by evals/demo.py. "
        "Without the header x-scoregate-suite they may be of any of its suites."
    )
    assert second == "Of no suite: 1 call of models by none.sh. It ran no suite."


def test_cached_answers_show_neither_latency_nor_change() -> None:
    fresh, stored = Usage(10, cost=0.5), Usage(cost=0.0, cached=True)
    replayed = (
        view_of(make_run(make_used_suite(2, stored)), make_base(make_used_suite(2, fresh))).suites[0].spending.text
    )
    assert (replayed.p50, replayed.p95, replayed.tokens, replayed.cost) == ("–", "–", "0", "$0.00")
    asked = view_of(make_run(make_used_suite(2, fresh)), make_base(make_used_suite(2, stored))).suites[0].spending.text
    assert (asked.p50, asked.tokens, asked.cost) == ("100 ms", "20", "$1.00")
    again = (
        view_of(make_run(make_used_suite(2, fresh)), make_base(make_used_suite(2, Usage(5, cost=0.25))))
        .suites[0]
        .spending.text
    )
    assert again.cost.startswith("$1.00 (+$0.50")


@pytest.mark.parametrize(
    ("now", "before", "text"),
    [
        (0.1, 0.4, "0 ms"),
        (0.1, 2.0, "0 ms (−2 ms)"),
        (0.7, 1.4, "1 ms"),
        (1.9, 0.7, "2 ms (+1 ms)"),
        (3.0, 2.0, "3 ms (+50%)"),
        (7.0, 0.02, "7 ms (+7 ms)"),
        (1.0, 0.0, "1 ms (+1 ms)"),
    ],
)
def test_a_change_of_less_than_a_millisecond_is_not_shown(now: float, before: float, text: str) -> None:
    suites = (ExampleSuite("demo", [Trial("a", [], duration_ms=each)], ()) for each in (now, before))
    run, base = next(suites), next(suites)
    assert view_of(make_run(run), make_base(base)).suites[0].spending.text.p50 == text


def test_cached_answers_of_judges_show_no_change_of_cost() -> None:
    run, base = make_run(make_used_suite(2, Usage(10, cost=0.5))), make_base(make_used_suite(2, Usage(5, cost=0.25)))
    base.suites[0].columns.partly_paid.add(0)
    shown = view_of(run, base).suites[0].spending.text
    assert (shown.tokens, shown.cost, shown.p50) == ("20", "$1.00", "100 ms (±0%)")


def test_a_sum_does_not_depend_on_order() -> None:
    amounts = [0.00125] * 2 + [0.0000125] * 100
    shown = {number_format.cost(sum(each)) for each in (amounts, amounts[::-1])}
    assert len(shown) == 1
    assert number_format.cost(0.00375 - 1e-17) == number_format.cost(0.00375 + 1e-17)


def test_a_suite_that_did_not_finish_has_no_check_mark() -> None:
    unfinished = ExampleSuite("bot", [Trial("c", [Score("accuracy")])], (EvaluatorInfo("accuracy"),), finished=False)
    (suite,) = view_of(make_run(unfinished, scripts=(Script("evals/bot.py", exit_code=-9),), complete=False)).suites
    assert suite.state is ReportState.UNMEASURABLE
