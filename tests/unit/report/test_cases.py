"""The cases that reports show: texts, errors, drops, and their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.report.runs import CONTEXT, ExampleSuite, Score, Trial, make_base, make_run, view_of

from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.report.case_order import FailedGates
from scoregate.kernel.report.cases import (
    CollectedCases,
    ErrorView,
    FailingCase,
    Snapshot,
    collect_cases,
    format_trace,
    list_texts,
    merge_errors,
    sort_failing,
    split_expected,
    take_snapshot,
)
from scoregate.kernel.report.drops import MOST_DROPS, Drop, ScoreDrop, pick_drops
from scoregate.kernel.types.conversation import Conversation, EndReason, Turn
from scoregate.kernel.types.evaluation import Evaluation, Threshold
from scoregate.kernel.types.event_values import NO_SCALE, ErrorInfo, EvaluatorInfo, Fingerprint, Origin
from scoregate.kernel.types.runs.cases import CaseError, CaseKey, CaseResult

INPUTS: Sequence[tuple[object, tuple[object, object]]] = [
    ({"input": "a", "expected": "b"}, ("a", "b")),
    ({"question": "a", "ideal": "b", "tags": [], "more": {}, "note": "", "none": None}, ("a", "b")),
    ({"input": "a", "context": "c", "answer": "b"}, ("a", "b")),
    ({"x": 1, "y": 2, "target": "b"}, ({"x": 1, "y": 2}, "b")),
    ({"x": 1, "y": 2, "input": 3}, ({"x": 1, "y": 2, "input": 3}, None)),
    ({"x": 1, "reference": "", "ground_truth": 0}, (1, 0)),
    ({"expected": "b", "metadata": {"document": "d"}}, (None, "b")),
    ({"input": "a", "metadata": {"document": "d"}}, ("a", None)),
    ({"metadata": {"document": "d"}}, (None, None)),
    ({}, (None, None)),
    ("a", ("a", None)),
    (["a"], (["a"], None)),
    (None, (None, None)),
]


def test_the_expected_output_is_separated_from_the_input() -> None:
    for value, parts in INPUTS:
        assert split_expected(value) == parts


SHORT = Snapshot("n", "out", ())


TEXTS: Sequence[tuple[Snapshot, Snapshot | None, list[tuple[str, str]]]] = [
    (replace(SHORT, question="q", expected="e"), None, [("input", "q"), ("output", "out"), ("expected", "e")]),
    (replace(SHORT, question=" n\n"), None, [("output", "out")]),
    (Snapshot("n", "", ()), None, []),
    (SHORT, SHORT, [("output", "out")]),
    (SHORT, replace(SHORT, output="before"), [("baseline", "before"), ("output", "out")]),
]


def test_the_texts_of_a_case_have_titles() -> None:
    for snapshot, old, texts in TEXTS:
        assert list(list_texts(snapshot, old)) == texts


def test_the_texts_of_a_conversation_are_its_turns() -> None:
    talk = Conversation((Turn("hi", "no"),), EndReason.GOAL, True)
    snapshot = take_snapshot(CaseResult(0, "h", input="q", output=talk.plain()))
    assert snapshot.turns is not None
    assert list(list_texts(snapshot)) == []


def test_a_snapshot_has_what_the_case_missed() -> None:
    case = CaseResult(
        0,
        "h",
        evaluations={
            "low": Evaluation(0.2, Threshold(gte=0.5), {"reason": "rude"}),
            "high": Evaluation(0.9, Threshold(gte=0.5), {"reason": "kind"}),
            "free": Evaluation(0.1, None, {"reason": "short"}),
        },
        input={"input": "question", "expected": "wanted"},
        output="x" * 50_000,
        origin=Origin("a.csv", 3),
    )
    snapshot = take_snapshot(case)
    assert [(miss.evaluator, miss.shown, miss.threshold, miss.why, miss.base) for miss in snapshot.misses] == [
        ("low", "0.2", "≥ 0.5", "reason: rude", None)
    ]
    assert (snapshot.name, snapshot.question, snapshot.expected) == ("h", "question", "wanted")
    assert (snapshot.reasons, snapshot.origin) == ({"free": "reason: short"}, Origin("a.csv", 3))
    assert (len(snapshot.output), len(snapshot.whole)) == (6_000, 40_000)
    assert take_snapshot(replace(case, name="n", output="short")).output == "short"


def broken(case: str, message: str = "no", kind: str = "E") -> CaseResult:
    return CaseResult(0, case, name=case, errors=[CaseError(ErrorInfo(kind, message), "e")])


def test_an_error_is_of_the_first_case_by_name() -> None:
    collected = CollectedCases()
    for name in ("case 10", "case 9", "case 11", "case 9"):
        collected.count_errors(broken(name), "demo")
    (error,) = collected.errors
    assert (error.case, error.trials, error.where, error.evaluator, error.trace) == ("case 9", 4, "demo", "e", "no")


def test_the_message_of_an_error_is_cut() -> None:
    collected = CollectedCases()
    collected.count_errors(broken("a", "x" * 300), "demo")
    assert [len(each.message) for each in collected.errors] == [200]


def test_scores_without_a_scale_are_no_errors_of_cases() -> None:
    cases = [broken("a", kind=NO_SCALE), broken("b"), broken("c")]
    assert [each.case for each in collect_cases(cases, set(), errors=1, labels=("demo",)).errors] == ["b"]
    (both,) = cases[:1]
    both.errors.append(CaseError(ErrorInfo("E", "no")))
    assert [each.evaluator for each in collect_cases([both], set(), errors=1, labels=("demo",)).errors] == [None]


def test_cases_are_read_only_until_all_is_found() -> None:
    read: list[str] = []

    def cases() -> Any:
        for case in (broken("a"), CaseResult(0, "b"), broken("c"), CaseResult(0, "d")):
            read.append(case.hash)
            yield case

    def collect(*wanted: str, errors: int) -> tuple[CollectedCases, list[str]]:
        read.clear()
        positions = {(0, CaseKey(each, 0)) for each in wanted}
        return collect_cases(cases(), positions, errors=errors, labels=("demo",)), list(read)

    assert collect(errors=0)[1] == []
    assert collect("b", errors=0)[1] == ["a", "b"]
    assert collect("a", "b", errors=0)[1] == ["a", "b"]
    assert collect("b", errors=2)[1] == ["a", "b", "c"]
    assert collect(errors=1)[1] == ["a"]
    found, order = collect("d", errors=1)
    assert (order, found.snapshots.keys()) == (["a", "b", "c", "d"], {(0, CaseKey("d", 0))})
    assert [each.trials for each in collect("b", errors=0)[0].errors] == []


def test_merged_errors_are_sorted_by_number_then_suite() -> None:
    error = ErrorView("suite 2", "e", "E", "row 1", "", trials=1, case="case 2")
    script = replace(error, case=None, trials=0, message="of a script")
    errors = [
        replace(error, where="suite 10", trials=2, message="other"),
        replace(error, trials=2, message="other"),
        replace(error, trials=2, message="other", type="A"),
        replace(error, message="row 2", case="case 10", trials=3),
        error,
        replace(error, message="line 1", evaluator="f"),
        script,
    ]
    first, *merged = merge_errors(errors)
    assert first == script
    assert [(each.where, each.type, each.message, each.case, each.trials, each.messages) for each in merged] == [
        ("suite 2", "E", "row 1", "case 2", 4, "2 messages"),
        ("suite 2", "A", "other", "case 2", 2, ""),
        ("suite 2", "E", "other", "case 2", 2, ""),
        ("suite 10", "E", "other", "case 2", 2, ""),
        ("suite 2", "E", "line 1", "case 2", 1, ""),
    ]


def test_errors_with_too_many_messages_can_be_alone() -> None:
    others = ErrorView("demo", None, "E", "other messages", "", trials=7, case="a")
    (alone,) = merge_errors([others])
    assert (alone.message, alone.trials, alone.messages) == ("other messages", 7, "")


def test_errors_of_one_line_of_the_users_code_are_one() -> None:
    trace = 'Traceback:\n  File "/home/me/{}.py", line {}, in answer\n    ask()\n'
    error = ErrorView("demo", None, "E", "first", "", trials=1, case="a", trace=trace.format("bot", 3))
    same = replace(error, message="second", trace=f"{trace.format('other', 9)}{trace.format('bot', 3)}")
    found = merge_errors([error, same, replace(error, trace=trace.format("bot", 4))])
    assert sorted((each.trials, each.messages) for each in found) == [(1, ""), (2, "2 messages")]


def test_a_trace_is_its_end_or_the_message() -> None:
    assert format_trace(ErrorInfo("E", "message", "\nline\n")) == "line"
    assert format_trace(ErrorInfo("E", " message ")) == "message"
    assert format_trace(ErrorInfo("E", "message", "a" + "b" * 4_000)) == "b" * 4_000


def failing(name: str, drop: float = 0.5, suite: str = "demo", origin: Origin | None = None) -> FailingCase:
    return FailingCase(suite, CaseKey(name, 0), name, True, drop, "", (), origin=origin)


def test_failing_cases_are_sorted_by_drop_then_file_line_and_name() -> None:
    views = [
        failing("z", 0.4, "other"),
        failing("case 10"),
        failing("case 9", 0.5 + 1e-12),
        failing("c", origin=Origin("b.csv", 1)),
        failing("b", origin=Origin("a.csv", 10)),
        failing("a", origin=Origin("a.csv", 9)),
        failing("large", 0.6),
    ]
    assert [each.name for each in sort_failing(views)] == ["large", "z", "case 9", "case 10", "a", "b", "c"]
    assert (views[4].place, views[1].place) == ("a.csv:10", "")


def drops_of(now: Sequence[float | None], before: Sequence[float], *, name: str = "demo", **info: Any) -> list[Drop]:
    def suite(scores: Sequence[float | None]) -> ExampleSuite:
        threshold = info.get("threshold")
        trials = [
            Trial(f"h{at:02}", [] if score is None else [Score("e", score, threshold)])
            for at, score in enumerate(scores)
        ]
        return ExampleSuite(name, trials, (EvaluatorInfo("e", higher_is_better=info.get("higher", True)),))

    return pick_drops(compare(make_run(suite(now)), make_base(suite(before))))


def test_drops_of_more_than_a_hundredth_are_picked_the_largest_first() -> None:
    found = drops_of([0.5, 0.0, 0.2, 0.9, 0.48, None], [0.5, 0.01, 0.5, 0.5, 0.5, 0.5])
    assert [(each.key.hash, each.before, each.now, round(each.size, 3)) for each in found] == [
        ("h02", 0.5, 0.2, 0.3),
        ("h04", 0.5, 0.48, 0.02),
    ]
    assert found[0].base == (0, CaseKey("h02", 0))
    run, base = (make(ExampleSuite("demo", [Trial("h", [Score("e", score, None)])]))
                 for make, score in ((make_run, 0.2), (make_base, 0.9)))  # fmt: skip
    (shown,) = view_of(run, base).notable.drops
    assert [(each.before, each.now) for each in shown.scores] == [("0.9", "0.2")]


def test_a_row_that_is_not_compared_has_no_drops() -> None:
    def suite(score: float, prompt: str) -> ExampleSuite:
        return ExampleSuite("demo", [Trial("h", [Score("e", score, None)])], (EvaluatorInfo("e", Fingerprint(prompt)),))

    assert len(pick_drops(compare(make_run(suite(0.1, "a")), make_base(suite(0.9, "a"))))) == 1
    comparison = compare(make_run(suite(0.1, "b")), make_base(suite(0.9, "a")))
    assert comparison.rows[0].label == "not comparable"
    assert pick_drops(comparison) == []


def test_a_rise_is_a_drop_if_lower_is_better() -> None:
    found = drops_of([0.9, 0.1, 0.5], [0.5, 0.5, 0.5], higher=False)
    assert [(each.key.hash, round(each.size, 3)) for each in found] == [("h00", 0.4)]


def test_cases_with_a_threshold_are_no_drops_but_failures() -> None:
    assert drops_of([0.1] * 3, [0.9] * 3, threshold=Threshold(gte=0.05)) == []
    assert pick_drops(compare(make_run(), None)) == []


def test_ten_drops_are_picked_from_all_evaluators_in_turn() -> None:
    def suite(low: float, mild: float) -> ExampleSuite:
        scores = [(Score("a", low + at / 100, None), Score("b", mild, None)) for at in range(20)]
        trials = [Trial(f"h{at:02}", each) for at, each in enumerate(scores)]
        return ExampleSuite("demo", trials, (EvaluatorInfo("a"), EvaluatorInfo("b")))

    found = pick_drops(compare(make_run(suite(0.0, 0.8)), make_base(suite(0.8, 1.0))))
    assert [each.evaluator for each in found] == ["a", "b"] * 5
    assert [each.key.hash for each in found] == [f"h{at:02}" for at in range(5) for _ in "ab"]
    assert len(found) == MOST_DROPS


def test_a_repeated_case_is_compared_by_means_and_shown_by_its_extremes() -> None:
    def suite(*scores: float) -> ExampleSuite:
        trials = [Trial("h", [Score("e", score, None)], repeat=at) for at, score in enumerate(scores)]
        return ExampleSuite("demo", trials, (EvaluatorInfo("e"),))

    (drop,) = pick_drops(compare(make_run(suite(0.5, 0.1, 0.1, 0.5)), make_base(suite(0.7, 0.9, 0.9, 0.7))))
    assert (drop.now, drop.before) == (pytest.approx(0.3), pytest.approx(0.8))
    assert (drop.key.repeat, drop.base[1].repeat) == (1, 1)


def test_trials_without_a_score_are_no_extremes() -> None:
    def suite(score: float) -> ExampleSuite:
        trials = [Trial("h", unscored=("e",)), Trial("h", [Score("e", score, None)], repeat=1), Trial("h", repeat=2)]
        return ExampleSuite("demo", trials, (EvaluatorInfo("e"),))

    (drop,) = pick_drops(compare(make_run(suite(0.2)), make_base(suite(0.9))))
    assert (drop.key.repeat, drop.base[1].repeat) == (1, 1)


def test_a_run_whose_cases_are_lost_shows_no_drops() -> None:
    run, base = (make(ExampleSuite("demo", [Trial("h", [Score("e", score, None)])]))
                 for make, score in ((make_run, 0.2), (make_base, 0.9)))  # fmt: skip
    assert len(view_of(run, base).notable.drops) == 1
    assert view_of(replace(run, read=None), base).notable.drops == ()


def test_a_drop_is_shown_on_the_scale_of_its_evaluator() -> None:
    def suite(score: float, output: str) -> ExampleSuite:
        trials = [Trial("h", [Score("stars", score, None, {"reason": "rude"})], "a case", output, input="question")]
        return ExampleSuite("demo", trials, (EvaluatorInfo("stars", scale=(1.0, 5.0)),))

    run, base = make_run(suite(2.0, "bad words")), make_base(suite(5.0, "good words"))
    (drop,) = view_of(run, base).notable.drops
    fallen = ScoreDrop("stars", "5", "2", "reason: rude; value: 2.0")
    assert (drop.suite, drop.name, drop.scores) == ("demo", "a case", (fallen,))
    assert (drop.shown.diff, drop.shown.input) == (("- good words", "+ bad words"), "question")
    assert drop.texts == (("input", "question"), ("baseline", "good words"), ("output", "bad words"))
    assert drop.url is not None
    assert drop.url.endswith("/evals/support_bot.py#L41")
    (hidden,) = view_of(run, base, context=replace(CONTEXT, show_outputs=False)).notable.drops
    assert hidden.scores == (replace(fallen, why=""),)
    assert (hidden.shown.diff, hidden.shown.input, hidden.texts) == ((), "", ())


def test_each_case_is_listed_once() -> None:
    def suite(failing: float, *fallen: float) -> ExampleSuite:
        free = [Score(name, score, None) for name, score in zip("ab", fallen, strict=True)]
        trials = [Trial("h1", [Score("e", failing), *free]), Trial("h2", [Score("e", 1.0), *free])]
        return ExampleSuite("demo", trials)

    notable = view_of(make_run(suite(0.2, 0.1, 0.4)), make_base(suite(1.0, 0.9, 0.9))).notable
    assert [each.key.hash for each in notable.failing] == ["h1"]
    assert [(each.name, [score.evaluator for score in each.scores]) for each in notable.drops] == [("h2", ["a", "b"])]


def test_drops_of_failed_gates_come_first() -> None:
    def suite(large: float, small: float) -> ExampleSuite:
        trials = [Trial(f"h{at}", [Score("a", large, None), Score("b", small, None)]) for at in range(2)]
        return ExampleSuite("demo", trials)

    comparison = compare(make_run(suite(0.1, 0.8)), make_base(suite(0.9, 0.9)))
    assert [each.evaluator for each in pick_drops(comparison)] == ["a", "b", "a", "b"]
    assert [each.evaluator for each in pick_drops(comparison, FailedGates({"demo": {"b"}}))] == ["b", "b", "a", "a"]
    assert [each.evaluator for each in pick_drops(comparison, FailedGates({"demo": {None}}))] == ["a", "b", "a", "b"]
