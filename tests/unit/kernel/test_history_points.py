"""Points of a history: what is rounded, replaced, merged and left out."""

from __future__ import annotations

from dataclasses import replace
from math import inf, nan

import pytest

from scoregate.kernel.types.evaluation import Evaluation, Threshold, Usage
from scoregate.kernel.types.event_values import EvaluatorInfo, Fingerprint
from scoregate.kernel.types.runs import history as history_module
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.evidence import Trials
from scoregate.kernel.types.runs.history import (
    evaluator_digest,
    fit_history,
    history_after,
    merge_histories,
    with_history_of,
)
from scoregate.kernel.types.runs.past_runs import (
    MAX_TEXT_LENGTH,
    MOST_RUNS,
    History,
    PastRun,
    Score,
    SuiteHistory,
    SuiteMetrics,
)
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd, SuiteResult

NONE = SuiteMetrics()


def make_suite(*scores: float, label: str = "s", cost: float | None = None) -> SuiteResult:
    columns = Columns()
    for index, score in enumerate(scores):
        evaluations = {"e": Evaluation(score, Threshold(gte=0.5))}
        usage = None if cost is None else Usage(cost=cost)
        columns.add(CaseResult(0, f"c{index}", duration_ms=10.0 * (index + 1), evaluations=evaluations, usage=usage))
    return SuiteResult(label, label, trials=Trials(columns), evaluators={"e": EvaluatorInfo("e")})


def make_run(
    run_id: str, finished: float, *suites: SuiteResult, commit: str | None = "c", history: History | None = None
) -> Run:
    end = RunEnd(finished, complete=True)
    return Run(run_id, 0, end, RunCode("1", "m", commit, "main"), suites=suites, history=history or History())


def make_past(run_id: str, finished: float = 1.0, commit: str | None = None, *, dirty: bool = False) -> PastRun:
    return PastRun(run_id, finished, NONE, commit, dirty=dirty)


def test_a_run_is_the_last_point_of_its_history() -> None:
    history = history_after(make_run("a", 5.0, make_suite(1.0, 0.0, 1 / 3, cost=0.25)))
    assert history.runs == (PastRun("a", 5.0, SuiteMetrics(0.333333, 0.75, 20.0), "c", "main", "m", complete=True),)
    suite = history.suites["s"]
    assert suite.took == (SuiteMetrics(0.333333, 0.75, 20.0),)
    assert (suite.scores, suite.states) == ({"e": (Score(0.444444, 3),)}, ())
    bare = history_after(make_run("a", 5.0, make_suite(1.0), commit=None))
    assert bare.runs[0].took == SuiteMetrics(1.0, None, 10.0)
    long = make_run("i" * 300, 5.0, make_suite(1.0), commit="c" * 300)
    assert len(history_after(long).runs[0].id) == len(history_after(long).runs[0].commit or "") == MAX_TEXT_LENGTH
    assert history_after(make_run("a", 5.0, SuiteResult("s", "s"))).suites == {}


def test_points_are_added_for_every_suite_and_evaluator() -> None:
    old = History(
        (make_past("o", 1.0),),
        {"s": SuiteHistory((NONE,), {"old": (Score(0.5, 1),)}, ("x",)), "gone": SuiteHistory((NONE,))},
    )
    history = history_after(make_run("a", 5.0, make_suite(1.0), make_suite(0.5, label="new"), history=old))
    assert [run.id for run in history.runs] == ["o", "a"]
    assert history.suites["s"].scores == {"e": (None, Score(1.0, 1)), "old": (Score(0.5, 1), None)}
    assert history.suites["s"].states == ("x", None)
    assert history.suites["new"].took == (None, SuiteMetrics(1.0, None, 10.0))
    assert history.suites["gone"].took == (NONE, None)


@pytest.mark.parametrize(
    ("past", "is_replaced"),
    [
        (make_past("o", 1_000.0, "c"), True),
        (make_past("o", 0.0, "c"), False),
        (make_past("o", 0.001, "c"), True),
        (make_past("o", 1_000.0, "d"), False),
        (make_past("o", 1_000.0, None), False),
        (make_past("o", 1_000.0, "c", dirty=True), False),
        (make_past("a", 0.0, "d"), True),
    ],
)
def test_a_run_again_within_an_hour_replaces_the_earlier_one(past: PastRun, is_replaced: bool) -> None:
    old = History((past,), {"s": SuiteHistory((NONE,))})
    history = history_after(make_run("a", 3_600.0, make_suite(1.0), history=old))
    assert len(history.runs) == (1 if is_replaced else 2)
    dirty = make_run("b", 3_600.0, make_suite(1.0), history=old)
    dirty = replace(dirty, code=replace(dirty.code, dirty=True))
    assert len(history_after(dirty).runs) == 2


def test_the_last_runs_are_kept() -> None:
    pasts = tuple(make_past(str(number), number) for number in range(MOST_RUNS))
    old = History(pasts, {"s": SuiteHistory((NONE,) * MOST_RUNS)})
    for count, first in ((MOST_RUNS - 1, "0"), (MOST_RUNS, "1")):
        shorter = History(old.runs[:count], {"s": SuiteHistory((NONE,) * count)})
        runs = history_after(make_run("a", 1e6, make_suite(1.0), history=shorter)).runs
        assert (len(runs), runs[0].id, runs[-1].id) == (MOST_RUNS, first, "a")


def test_a_history_of_other_suites_is_dropped() -> None:
    run, history = make_run("a", 5.0, make_suite(1.0)), History((make_past("o"),), {"s": SuiteHistory((NONE,))})
    assert with_history_of(run, history).history == history
    assert with_history_of(run, History(history.runs, {"t": SuiteHistory((NONE,))})).history == History()


def test_points_that_are_no_amounts_are_unknown() -> None:
    assert [history_module._round(value) for value in (0.0, 1 / 3, 1234567.0, -0.1, nan, inf, None)] == [
        0.0, 0.333333, 1234570.0, None, None, None, None,
    ]  # fmt: skip


def test_digests_of_evaluators_depend_on_what_changes_scores() -> None:
    info = EvaluatorInfo("e", Fingerprint("s", "p", "a", "m", "v"))
    first = evaluator_digest(info)
    assert len(first) == 8
    assert evaluator_digest(replace(info, fingerprint=Fingerprint("s", "p", "a", "m", "w"))) == first
    others = [replace(info, higher_is_better=False)]
    others += [replace(info, fingerprint=Fingerprint(*("smpa".replace(each, "x")))) for each in "smpa"]
    assert len({first, *map(evaluator_digest, others)}) == 6
    assert evaluator_digest(None) == evaluator_digest(EvaluatorInfo("e")) == ""


def test_columns_are_left_out_over_their_number_and_size(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = {"e": (Score(0.5, 1),), "f": (Score(0.5, 1),), "none": (None,)}
    history = History((make_past("o"),), {"s": SuiteHistory((NONE,), scores), "empty": SuiteHistory((None,))})
    fitted = fit_history(history)
    assert {label: list(each.scores) for label, each in fitted.suites.items()} == {"s": ["e", "f"]}
    monkeypatch.setattr(history_module, "MOST_SERIES", 2)
    assert list(fit_history(history).suites["s"].scores) == ["e"]
    monkeypatch.setattr(history_module, "MOST_SERIES", 0)
    assert fit_history(history).suites == {}
    monkeypatch.setattr(history_module, "MOST_SERIES", 9)
    monkeypatch.setattr(history_module, "MAX_HISTORY_BYTES", 50)
    assert fit_history(history).suites == {}


def test_merged_histories_have_each_run_once_and_the_known_points() -> None:
    one = History(
        (make_past("a", 1.0), make_past("b", 3.0)),
        {"s": SuiteHistory((NONE, NONE), {"e": (Score(0.1, 1), None)}, ("x", None))},
    )
    two = History(
        (make_past("b", 3.0), make_past("c", 2.0)),
        {
            "s": SuiteHistory((NONE, NONE), {"e": (Score(0.2, 1), Score(0.3, 1)), "f": (None, Score(0.4, 1))}),
            "t": SuiteHistory((NONE, None)),
        },
    )
    merged = merge_histories(one, two)
    assert [run.id for run in merged.runs] == ["a", "c", "b"]
    assert merged.suites["s"].scores == {
        "e": (Score(0.1, 1), Score(0.3, 1), Score(0.2, 1)),
        "f": (None, Score(0.4, 1), None),
    }
    assert merged.suites["s"].states == ("x", None, None)
    assert merged.suites["t"].took == (None, None, NONE)
    assert merge_histories(one, History(two.runs, {"u": SuiteHistory((NONE, NONE))})) is one
    again = History((make_past("d", 100.0, "c"),), {"s": SuiteHistory((NONE,))})
    later = History((make_past("e", 200.0, "c"),), {"s": SuiteHistory((NONE,))})
    assert [run.id for run in merge_histories(again, later).runs] == ["e"]
    assert [run.id for run in merge_histories(later, again).runs] == ["e"]
    many = History(tuple(make_past(f"m{n}", n) for n in range(MOST_RUNS)), {"s": SuiteHistory((NONE,) * MOST_RUNS)})
    bounded = merge_histories(many, again)
    assert (len(bounded.runs), bounded.runs[0].id, bounded.runs[-1].id) == (MOST_RUNS, "m1", "d")
