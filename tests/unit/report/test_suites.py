"""The suites of a report and the totals: counts, states, pass rates and what they used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.runs import change_run
from tests.unit.kernel.builders import mark_source
from tests.unit.report.runs import CONTEXT, NOW, ExampleSuite, Score, Trial, make_base, make_run, view_of

from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.compare.estimates import NoEstimate
from scoregate.kernel.gate import Verdict
from scoregate.kernel.gate.finding import Finding
from scoregate.kernel.report.rows import ReportState
from scoregate.kernel.report.suites import FlipTotals, build_paired_suites, build_suites, build_totals
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.declarations.kernel import PASS_RATE
from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.event_values import ErrorInfo, EvaluatorInfo, Fingerprint
from scoregate.kernel.types.runs.dependencies import CarriedFrom
from scoregate.kernel.types.runs.run import Script
from scoregate.kernel.types.sharding.partition import MISSING_SHARD

MISSED = ErrorInfo("E", "no", "Traceback: here")


def suite(*scores: float, name: str = "demo", prompt: str = "", **fields: Any) -> ExampleSuite:
    trials = [Trial(f"h{at}", [Score("e", score)], usage=Usage(10, cost=0.5)) for at, score in enumerate(scores)]
    return ExampleSuite(name, trials, (EvaluatorInfo("e", Fingerprint(prompt=prompt)),), **fields)


STATES: Sequence[tuple[tuple[Conclusion, ...], bool, ReportState]] = [
    ((), True, ReportState.HELD),
    ((), False, ReportState.UNMEASURABLE),
    ((Conclusion.PASSED,), True, ReportState.HELD),
    ((Conclusion.FAILED,), True, ReportState.FAILED),
    ((Conclusion.UNMEASURABLE,), True, ReportState.UNMEASURABLE),
    ((Conclusion.UNMEASURABLE, Conclusion.FAILED), True, ReportState.FAILED),
    ((Conclusion.FAILED,), False, ReportState.FAILED),
]


def test_a_suite_has_the_state_of_its_worst_finding() -> None:
    for conclusions, finished, state in STATES:
        found = tuple(Finding(PASS_RATE, each, "", "", suite="demo") for each in conclusions)
        of_others = replace(Finding(PASS_RATE, Conclusion.FAILED, "", ""), suite="other")
        comparison = compare(make_run(suite(1.0, finished=finished)), None)
        (view,) = build_suites(comparison, Verdict((*found, of_others)))
        assert (view.state, view.complete) == (state, finished)


def test_a_suite_has_its_counts_and_its_problems() -> None:
    scored = suite(1.0, 0.0, 0.0, errors=(MISSED, ErrorInfo("F", "without a place")))
    more = [
        Trial("error", error=MISSED, duration_ms=0.0),
        Trial("free", [Score("e", 0.5, None)]),
        Trial("silent", unscored=("e",)),
    ]
    first = replace(scored, trials=[*scored.trials, *more])
    _, view = build_suites(compare(make_run(suite(1.0, name="a"), first), None), Verdict(()))
    counts = view.counts
    assert (counts.trials, counts.passed, counts.failed, counts.errored, counts.scored, counts.unscored) == (
        *(6, 1, 2),
        *(1, 1, 1),
    )
    assert (counts.judged, view.pass_rate, view.passes) == (3, pytest.approx(1 / 3), "1 of 3 (33.3%)")
    assert (view.index, view.label, view.planned, view.evaluators) == (1, "demo", 6, ("e",))
    assert (view.duration_s, view.time_s) == (12.5, pytest.approx(4.0))
    assert view.problems == ("E: no\nTraceback: here", "F: without a place")


def test_a_suite_without_thresholds_has_no_pass_rate() -> None:
    plain = ExampleSuite("demo", [Trial("h", [Score("e", 0.5, None)])], (EvaluatorInfo("e"),))
    (view,) = build_suites(compare(make_run(plain), None), Verdict(()))
    assert (view.pass_rate, view.passes) == (None, "–")


def test_a_suite_says_whose_results_it_has() -> None:
    run, earlier = make_run(suite(1.0, 1.0, 1.0)), CarriedFrom("base", "main@1234567")
    for changed, text in (
        (run.suites[0], ""),
        (mark_source(run.suites[0], [0, 1], kept=earlier), "2 of 3 results are those of main@1234567"),
        (mark_source(run.suites[0], [0, 1, 2], carried=earlier), "results of main@1234567"),
    ):
        (view,) = build_suites(compare(replace(run, suites=(changed,)), None), Verdict(()))
        assert (view.source, view.reused) == (text, len(text) and (2 if view.kept else 3))


def test_the_spending_of_a_suite_is_next_to_that_of_the_base() -> None:
    run, base = make_run(suite(*[1.0] * 12)), make_base(suite(*[1.0] * 24))
    (view,) = build_suites(compare(run, base), Verdict(()))
    assert view.spending.base is not None
    assert (view.spending.now.cost, view.spending.base.cost, view.spending.changed) == (6.0, 12.0, ())
    (alone,) = build_suites(compare(run, None), Verdict(()))
    assert alone.spending.base is None
    dearer = suite(*[1.0] * 12)
    dearer = replace(dearer, trials=[replace(each, usage=Usage(10, cost=5.0)) for each in dearer.trials])
    (view,) = build_suites(compare(make_run(dearer), base), Verdict(()))
    assert view.spending.changed == ("cost",)
    same = suite(*[1.0] * 12, name="same")
    views = build_suites(compare(make_run(dearer, same), make_base(suite(*[1.0] * 24), same)), Verdict(()))
    assert [each.spending.changed for each in views] == [("cost",), ()]


FLIPS: Sequence[tuple[int, int, float, bool, str]] = [
    (0, 0, 1.0, False, ""),
    (3, 1, 0.2, False, "too few to decide alone"),
    (4, 0, 0.0625, False, "too few to decide alone"),
    (4, 1, 0.2, False, "their balance alone may be chance"),
    (9, 1, 0.05, True, "significant"),
    (1, 9, 0.05, False, "significant"),
    (9, 1, 0.051, False, "their balance alone may be chance"),
    (5, 5, 0.05, False, "significant"),
]


def test_flips_matter_if_more_cases_newly_fail_than_by_chance() -> None:
    for failing, passing, p, matter, text in FLIPS:
        flips = FlipTotals(failing, passing, p)
        assert (flips.matter, flips.text) == (matter, text)


def test_the_flips_of_a_run_have_a_p() -> None:
    for before, p in (([1.0] * 6, 2**-6), ([0.0] * 3 + [1.0] * 3, 1.0)):
        now = [0.0 if each else 1.0 for each in before]
        flips = build_totals(compare(make_run(suite(*now)), make_base(suite(*before)))).flips
        assert (flips.newly_failing, flips.newly_passing) == (before.count(1.0), before.count(0.0))
        assert flips.p == pytest.approx(p)


def test_totals_are_over_all_suites() -> None:
    two = suite(1.0, 0.0, name="two")
    run = make_run(suite(1.0, 1.0, 0.0), replace(two, trials=[*two.trials, Trial("e", error=MISSED)]))
    run.suites[0].columns.pending = 2
    totals = build_totals(compare(run, None))
    assert (totals.suites, totals.cases, totals.counts.trials, totals.with_errors, totals.pending) == (2, 6, 6, 1, 2)
    assert (totals.pass_rate, totals.weights, totals.cost, totals.tokens) == (pytest.approx(0.6), "", 2.5, 50)
    assert (totals.paired, totals.change, totals.cost_change, totals.has_moved) == (0, NoEstimate(), None, False)
    assert totals.duration_s == 72
    for finished, duration in ((NOW - 900, 0), (NOW - 89.5, 0.5)):
        assert build_totals(compare(change_run(run, finished=finished), None)).duration_s == duration


def test_the_change_of_the_pass_rate_is_over_paired_cases() -> None:
    run, base = make_run(suite(*[0.0] * 10, *[1.0] * 10)), make_base(suite(*[1.0] * 15))
    totals = build_totals(compare(run, base))
    assert (totals.paired, totals.change.delta, totals.has_moved) == (15, pytest.approx(-10 / 15), True)
    assert totals.cost_change == pytest.approx(2.5)
    same = build_totals(compare(base, base))
    assert (same.paired, same.change.delta, same.has_moved, same.cost_change) == (15, 0, False, 0)


def test_suites_are_paired_with_those_of_the_base() -> None:
    run = make_run(suite(1.0, prompt="b"), suite(1.0, name="new"))
    base = make_base(suite(1.0, name="old"), suite(0.0, prompt="a"))
    first, second = build_paired_suites(compare(run, base), CONTEXT)
    assert (first.label, first.base_index, first.before) == ("demo", 1, base.suites[1].columns)
    assert (first.higher_is_better, first.incomparable) == ({"e": True}, {"e"})
    assert first.url is not None
    assert first.url.endswith("/evals/support_bot.py#L41")
    assert (second.label, second.base_index, second.before, second.incomparable) == ("new", None, None, set())
    assert [each.before for each in build_paired_suites(compare(run, None), CONTEXT)] == [None, None]


def test_the_parts_of_a_view_are_those_of_its_run_and_its_base() -> None:
    evaluators = (
        EvaluatorInfo("e", Fingerprint(model="zeta")),
        EvaluatorInfo("f", Fingerprint(model="alpha")),
        EvaluatorInfo("g", Fingerprint(prompt="p")),
        EvaluatorInfo("h"),
    )
    judged = replace(suite(0.0, 1.0), evaluators=evaluators)
    run = make_run(judged, message=f"Fix the\nbot {'x' * 200}", dirty=True, selection="-k x", attempt=2)
    base = make_base(suite(1.0, 0.0), suite(1.0, name="gone"), message="")
    view = view_of(run, base, note="stored run")
    assert view.models == ("alpha", "zeta")
    assert view.run.message == f"Fix the bot {'x' * 107}…"
    assert (view.run.commit, view.run.branch, view.run.started, view.run.finished) == (
        run.code.commit,
        *("fix", NOW - 90, NOW - 18),
    )
    assert (view.run.dirty, view.run.complete, view.run.selection, view.run.attempt) == (True, True, "-k x", 2)
    assert view.base is not None
    assert (view.base.id, view.base.message, view.base.dirty) == (base.id, None, False)
    assert (view.baseline.note, view.baseline.gone, view.baseline.runs) == ("stored run", ("gone",), "")
    assert [(label, key.hash) for label, key in view.notable.newly_failing] == [("demo", "h0")]
    assert [(label, key.hash) for label, key in view.notable.newly_passing] == [("demo", "h1")]
    assert [each.hash for each in view.trials.read()] == ["h0", "h1"]
    assert [each.hash for each in view.trials.read_base()] == ["h0", "h1", "h0"]
    assert list(view_of(run).trials.read_base()) == []
    assert list(view_of(run, replace(base, read=None)).trials.read_base()) == []


def test_media_are_read_from_either_run() -> None:
    def reader(**files: bytes) -> Any:
        return files.get

    run, base = (make(suite(1.0)) for make in (make_run, make_base))
    run, base = replace(run, read_media=reader(a=b"new")), replace(base, read_media=reader(a=b"old", b=b"base"))
    read = view_of(run, base).trials.read_media
    assert [read(digest) for digest in "abc"] == [b"new", b"base", None]
    assert view_of(replace(run, read_media=None), base).trials.read_media("a") == b"old"
    assert view_of(make_run(suite(1.0))).trials.read_media("a") is None


def test_the_commit_of_the_context_wins_over_that_of_the_run() -> None:
    run = make_run(suite(1.0), commit="abc1234")
    assert view_of(run).context.commit == CONTEXT.commit
    assert view_of(run, context=replace(CONTEXT, commit=None)).context.commit == run.code.commit


def test_errors_of_scripts_are_before_those_of_suites_and_of_cases() -> None:
    failing = [Trial(f"x{at}", error=ErrorInfo("T", "b")) for at in range(2)]
    failing += [Trial("y", error=ErrorInfo("T", "a")), Trial("z", error=ErrorInfo("S", "z"))]
    run = make_run(replace(suite(1.0, errors=(ErrorInfo("S", "of the suite", "trace\nend"),)), trials=failing))
    script = replace(run.scripts[0], error=ErrorInfo("X", f"of the script {'x' * 300}", advice="Start it again."))
    view = view_of(replace(run, scripts=(script, *run.scripts)))
    assert [(each.where, each.type, each.message[:13], each.trials, each.gated) for each in view.errors] == [
        ("evals/demo.py", "X", "of the script", 0, True),
        ("demo", "S", "of the suite", 0, True),
        ("demo", "T", "b", 2, False),
        ("demo", "S", "z", 1, False),
        ("demo", "T", "a", 1, False),
    ]
    assert (len(view.errors[0].message), view.errors[0].advice) == (200, "Start it again.")
    assert (view.errors[1].trace, view.errors[1].case) == ("trace\nend", None)


def test_errors_of_equal_numbers_are_sorted_by_their_texts() -> None:
    def error(kind: str, message: str, name: str, evaluator: str = "e") -> Trial:
        return Trial(name, [Score(evaluator, error=ErrorInfo(kind, message))])

    trials = [error("B", "b", "1", "f"), error("C", "z", "2"), error("B", "z", "3"), error("B", "a", "4")]
    trials.append(Trial("5", error=ErrorInfo("Z", "z")))
    view = view_of(make_run(ExampleSuite("b", trials), ExampleSuite("a", [error("Z", "z", "1", "z")])))
    assert [f"{each.where} {each.evaluator} {each.type} {each.message}" for each in view.errors] == [
        *("a z Z z", "b None Z z", "b e B a", "b e B z", "b e C z", "b f B b"),
    ]


def test_suites_of_a_missing_shard_are_not_gone() -> None:
    base = make_base(suite(1.0), suite(1.0, name="gone"))
    run = make_run(suite(1.0))
    lost = Script("shard 2", error=ErrorInfo(MISSING_SHARD, "shard 2 of 2 is missing"))
    assert view_of(run, base).baseline.gone == ("gone",)
    assert view_of(replace(run, scripts=(*run.scripts, lost)), base).baseline.gone == ()


def test_findings_are_sorted_by_conclusion_then_suite() -> None:
    passing, failing = suite(*[1.0] * 12, name="suite 10"), [suite(0.0, name=name) for name in ("suite 11", "suite 9")]
    view = view_of(make_run(passing, *failing))
    places = [(each.suite, each.conclusion) for each in view.findings if each.declaration is PASS_RATE]
    assert places == [
        ("suite 9", Conclusion.FAILED),
        ("suite 11", Conclusion.FAILED),
        ("suite 10", Conclusion.PASSED),
    ]
