"""The heading has no tick over a score that is worse, and names the gates that can't fail."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console
from tests.unit.report.hostile import HOSTILE
from tests.unit.report.runs import CONTEXT, ExampleSuite, Score, Trial, make_base, make_run, make_view, view_of

from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.compare.evaluator_changes import EvaluatorChange, EvaluatorChangeKind
from scoregate.kernel.gate import Verdict, evaluate_gates, judge_comparison
from scoregate.kernel.gate.finding import Finding
from scoregate.kernel.report import console, html, markdown, result_json
from scoregate.kernel.report.heading import build_title, find_mark
from scoregate.kernel.report.rows import ReportState
from scoregate.kernel.report.view import ReportView
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.declarations.declaration import Rule
from scoregate.kernel.types.declarations.kernel import DROP, ERROR_RATE, REGRESSION
from scoregate.kernel.types.event_values import EvaluatorInfo, Fingerprint
from scoregate.kernel.types.exemptions import AcceptedRegression, Exemptions
from scoregate.kernel.types.runs.policy import Limits, Policy, Severity
from scoregate.kernel.types.slots import UnwatchedDrop

WORSE = "passed, but {0} is worse (no gate watches it)"


def bot(score: float, name: str = "support-bot") -> ExampleSuite:
    """A suite without thresholds, whose cases all have one score."""
    languages = ("fr", "de")
    trials = [
        Trial(
            f"h{at}",
            [Score("quality", score, None)],
            input={"input": str(at), "language": languages[at % 2]},
        )
        for at in range(40)
    ]
    return ExampleSuite(name, trials, (EvaluatorInfo("quality", Fingerprint(source="s1")),))


def drop(limits: Limits | None = None, *names: str, **options: Any) -> ReportView:
    """The view of a run in which all scores of some suites fall from 0.9 to 0.1."""
    names = names or ("support-bot",)
    run, base = make_run(*(bot(0.1, each) for each in names)), make_base(*(bot(0.9, each) for each in names))
    return view_of(run, base, limits=limits, **options)


def terminal(view: ReportView, *, brief: bool = False) -> str:
    into = Console(file=io.StringIO(), width=200)
    with into.capture() as captured:
        for part in console.render_brief(view) if brief else console.render(view):
            into.print(part)
    return captured.get()


def headings(view: ReportView) -> tuple[str, str, str]:
    """The headings of the comment, the last line of the terminal, and the heading of the page."""
    comment = next(line for line in "".join(markdown.render(view)).splitlines() if line.startswith("## "))
    page = "".join(html.render(view)).partition("<h1>")[2].partition("</h1>")[0]
    return comment, terminal(view).splitlines()[-1], page


def test_no_report_has_a_tick_over_a_score_that_is_worse() -> None:
    view, text = drop(), WORSE.format("support-bot")
    comment, last, page = headings(view)
    assert comment == f"## 🟡 scoregate: {text}"
    assert last.startswith(f"? scoregate: {text} · ")
    assert ("sign pass" in page, page.endswith(text)) == (False, True)
    assert terminal(view, brief=True).splitlines()[-1] == last
    assert "".join(markdown.render_summary(view, budget=60_000)).splitlines()[1] == comment
    data = result_json.to_data(view)
    assert (data["title"], data["conclusion"], data["exit_code"]) == (text, "passed", 0)


def test_without_a_change_the_heading_has_a_tick() -> None:
    comment, last, page = headings(view_of(make_run(bot(0.9)), make_base(bot(0.9))))
    assert comment == "## ✅ scoregate: 1 gate passed"
    assert last.startswith("✓ scoregate: 1 gate passed · ")
    assert "sign pass" in page


@pytest.mark.parametrize(
    ("limits", "title"),
    [
        (Limits(fail_on_regression=True), "1 of 2 gates failed"),
        (Limits(max_drop={"*": 0.9}), "2 gates passed"),
        (Limits(max_drop={"other": 0.9}), "could not be measured: a limit matches no suite or scorer"),
        (Limits(max_drop={"*": 0.9}, fail_on_regression=True), "1 of 3 gates failed"),
        (Limits(min_score={"*": 0.05}), WORSE.format("support-bot")),
        (
            Limits(fail_on_regression=True, severity={"regression": Severity.WARN}),
            "passed, but support-bot is worse (only a warning)",
        ),
        (Limits(fail_on_regression=True, severity={"regression": Severity.OFF}), WORSE.format("support-bot")),
        (Limits(more={"max_slice_drop": {"language=fr": 0.9}}), WORSE.format("support-bot")),
    ],
)
def test_a_gate_watches_a_row_if_it_could_fail_for_it(limits: Limits, title: str) -> None:
    view = drop(limits, slices=["language"])
    assert view.title == title
    assert (view.mark is ReportState.UNCERTAIN) == title.startswith("passed, but")


def test_several_suites_are_two_names_and_a_count() -> None:
    names = ["support-bot", "router", "planner", "rag"]
    assert drop(None, *names[:2]).title == "passed, but router and support-bot are worse (no gate watches them)"
    assert drop(None, *names).title == "passed, but planner, rag and 2 more are worse (no gate watches them)"
    warned = Limits(fail_on_regression=True, severity={"regression": Severity.WARN})
    run, base = make_run(bot(0.1), bot(0.1, "router")), make_base(bot(0.9), bot(0.9, "router"))
    comparison = compare(run, base)
    view: ReportView = make_view(comparison, evaluate_gates(comparison, Policy(suites={"router": warned})), CONTEXT)
    assert view.title == "passed, but router and support-bot are worse (no gate fails for them)"


def test_accepted_regressions_are_not_meant() -> None:
    entry = AcceptedRegression("*", "2026-12-31", "a reason", "ana", evaluator="*", at_most=0.85)
    for at_most, title in (
        (0.85, "1 gate passed; 1 regression accepted"),
        (0.5, f"{WORSE.format('support-bot')}"),
    ):
        exemptions = Exemptions((replace(entry, at_most=at_most),), today="2026-01-01")
        comparison = compare(make_run(bot(0.1)), make_base(bot(0.9)), exemptions=exemptions)
        view: ReportView = make_view(comparison, evaluate_gates(comparison, Policy()), CONTEXT)
        assert view.title == title


def test_a_slice_that_is_worse_counts_unless_its_suite_is() -> None:
    # The other half rises as much, so the suite itself is not worse.
    run, base = make_run(_french(bot(0.9), 0.5)), make_base(_french(bot(0.5), 0.9))
    view = view_of(run, base, slices=["language"])
    assert [each.label for each in view.rows] == ["within noise"]
    assert view.title == WORSE.format("language=fr of support-bot")
    limits = Limits(more={"max_slice_drop": {"language=fr": 0.5}})
    assert view_of(run, base, slices=["language"], limits=limits).title == "2 gates passed"
    assert drop(slices=["language"]).title == WORSE.format("support-bot")


def _french(suite: ExampleSuite, score: float) -> ExampleSuite:
    trials = [
        replace(each, scores=[Score("quality", score, None)]) if each.input["language"] == "fr" else each
        for each in suite.trials
    ]
    return replace(suite, trials=trials)


def test_names_of_suites_control_no_heading() -> None:
    for name in HOSTILE:
        comment, last, page = headings(drop(None, name))
        assert comment.startswith("## 🟡 scoregate: passed, but ")
        assert comment.endswith(" is worse (no gate watches it)")
        assert "<script" not in page
        assert last.startswith("? scoregate: passed, but ")


def finding(rule: Rule, suite: str, value: str = "can't fail with 5 cases (6 are needed)") -> Finding:
    return Finding(rule, Conclusion.PASSED, value, "no regression", "default", suite, "quality", applied=False)


def test_gates_that_can_not_fail_are_named_and_not_counted() -> None:
    rate = Finding(ERROR_RATE, Conclusion.PASSED, "0 of 5", "≤ 5%", suite="a")
    weak = finding(REGRESSION, "a")
    assert build_title(Verdict((rate,))) == "1 gate passed"
    assert build_title(Verdict((rate,), left_out=(weak,))) == "1 gate passed; 1 gate can't fail (regression of a)"
    assert build_title(Verdict((), left_out=(weak,))) == "passed; 1 gate can't fail (regression of a)"
    many = tuple(finding(rule, suite) for rule in (DROP, REGRESSION) for suite in ("a", "b", "c"))
    assert build_title(Verdict((rate,), left_out=(weak, *many))) == (
        "1 gate passed; 7 gates can't fail (regression of a, drop of a and 4 more)"
    )
    other = finding("cost ratio", "a", "no case has a value in both runs")
    assert build_title(Verdict((rate,), left_out=(weak, other))) == (
        "1 gate passed; 1 gate can't fail (regression of a); 1 limit not applied"
    )
    failed = replace(rate, conclusion=Conclusion.FAILED)
    assert build_title(Verdict((failed,), left_out=(weak,))) == "1 of 1 gate failed"


def test_reports_show_why_a_gate_can_not_fail() -> None:
    few = ExampleSuite("demo", bot(0.9).trials[:5])
    comparison, verdict = judge_comparison(
        compare(make_run(few), make_base(few)), Policy(Limits(fail_on_regression=True))
    )
    view: ReportView = make_view(comparison, verdict, CONTEXT)
    assert [each.state for each in view.rows] == [ReportState.UNCERTAIN]
    assert headings(view)[0] == "## ✅ scoregate: passed; 1 gate can't fail (regression of demo)"
    line = "Regression of demo is not applied: can't fail with 5 cases (6 are needed)."
    for text in (terminal(view), "".join(markdown.render(view)), "".join(html.render(view)).replace("&#39;", "'")):
        assert line in " ".join(text.split())


def test_small_rows_that_fell_together_have_no_tick() -> None:
    def small(low: int) -> list[ExampleSuite]:
        suites = (bot(1.0, f"bot-{at}") for at in range(12))
        return [
            replace(
                each,
                trials=[
                    replace(t, scores=[Score("quality", float(i >= low), None)]) for i, t in enumerate(each.trials[:8])
                ],
            )
            for each in suites
        ]

    comparison = compare(make_run(*small(2)), make_base(*small(0)))
    view: ReportView = make_view(*judge_comparison(comparison, Policy(Limits(fail_on_regression=True))), CONTEXT)
    assert {each.state for each in view.rows} == {ReportState.UNCERTAIN}
    assert headings(view)[0].startswith("## ❌ scoregate: 1 of ")


def test_problems_are_counted_and_a_single_one_is_named() -> None:
    rate = Finding(ERROR_RATE, Conclusion.UNMEASURABLE, "9 of 10", "≤ 5%", suite="a")
    passed = replace(rate, conclusion=Conclusion.PASSED)
    failed = Finding(REGRESSION, Conclusion.FAILED, "−0.1", "no regression", suite="a", evaluator="e")
    title = rate.title[0].lower() + rate.title[1:]
    for findings, text in (
        ((rate,), f"could not be measured: {title}"),
        ((passed, rate), f"could not be measured: {title}"),
        ((rate, rate, passed), "could not be measured: 2 problems"),
        ((failed, rate, rate, passed), "1 of 4 gates failed, 2 could not be measured"),
        ((failed, passed), "1 of 2 gates failed"),
        ((), "passed, no gate is set"),
    ):
        assert build_title(Verdict(findings)) == text


def test_a_passed_run_says_what_it_leaves_open() -> None:
    passed = Finding(ERROR_RATE, Conclusion.PASSED, "0 of 5", "≤ 5%", suite="a")
    for names, text in (
        (("max_drop",), "max_drop not applied: there is no baseline"),
        (("max_drop", "max_cost_ratio"), "max_drop and max_cost_ratio not applied: there is no baseline"),
        (("a", "b", "c"), "a, b and c not applied: there is no baseline"),
    ):
        assert build_title(Verdict((passed,), not_applied=names)) == f"1 gate passed; {text}"
    kinds = [EvaluatorChangeKind.LOWERED, EvaluatorChangeKind.REMOVED, EvaluatorChangeKind.LOWERED]
    changes = tuple(EvaluatorChange(0, "e", kind, "") for kind in kinds)
    assert build_title(Verdict((passed,), evaluator_changes=changes)) == (
        "1 gate passed; scorers since the baseline: 1 removed, 2 with a lower threshold"
    )
    other = finding(DROP, "a", "another reason")
    assert build_title(Verdict((), left_out=(other,))) == "passed, no gate is set; 1 limit not applied"
    of_run = replace(finding(REGRESSION, "a"), suite=None)
    assert build_title(Verdict((), left_out=(of_run, of_run))) == "passed; 2 gates can't fail (regression)"
    assert build_title(Verdict((passed,), left_out=(replace(of_run, applied=True),))).endswith("; 1 limit not applied")


@pytest.mark.parametrize(
    ("drops", "text"),
    [
        ([("a", True)], "a is worse (only a warning)"),
        ([("a", True), ("a", True)], "a is worse (only a warning)"),
        ([("a", True), ("a", False)], "a is worse (no gate fails for it)"),
        ([("a", False), ("b", False)], "a and b are worse (no gate watches them)"),
        ([("a", True), ("b", True)], "a and b are worse (only a warning)"),
        ([(name, False) for name in "abc"], "a, b and 1 more are worse (no gate watches them)"),
    ],
)
def test_what_is_worse_without_a_gate_is_named_once(drops: list[tuple[str, bool]], text: str) -> None:
    assert build_title(Verdict(()), [UnwatchedDrop(*each) for each in drops]) == f"passed, but {text}"


@pytest.mark.parametrize("conclusion", list(Conclusion))
def test_only_a_passed_run_has_the_mark_of_a_drop(conclusion: Conclusion) -> None:
    is_passed = conclusion is Conclusion.PASSED
    assert find_mark(conclusion, [UnwatchedDrop("a")]) is (ReportState.UNCERTAIN if is_passed else conclusion)
    assert find_mark(conclusion, []) is conclusion
