"""The estimate of a suite, from trials with known costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from scoregate.features.costs.pricing import Pricing
from scoregate.features.costs.section import Interval, sum_intervals
from scoregate.features.costs.suites import SuiteChoice, SuiteEstimate, estimate_suite
from scoregate.features.costs.trials import AnswerStore, read_trials
from scoregate.kernel.types.evaluation import Evaluation, Usage
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.evidence import Trials
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd, SuiteResult
from scoregate.kernel.types.usage import sum_usage
from scoregate.models.settings import ModelSettings, Price

SETTINGS = ModelSettings(prices={"ours": Price(1.0, 1.0)})


def trial(name: str, usage: Usage | None, *, repeat: int = 0, judge: Usage | None = None) -> CaseResult:
    scores = {} if judge is None else {"judge": Evaluation(1.0, usage=judge)}
    return CaseResult(0, name, repeat, usage=usage, evaluations=scores, duration_ms=10)


def make_usage(million: float, **more: object) -> Usage:
    return Usage(int(million * 1e6), 0, 0, None, "ours", **more)  # type: ignore[arg-type]


def estimate(
    trials: Sequence[CaseResult],
    choice: SuiteChoice | None = None,
    *,
    stored: Sequence[str] = (),
    reported: Mapping[str, Usage] | None = None,
    planned: int | None = None,
) -> SuiteEstimate:
    columns = Columns()
    for each in trials:
        columns.add(each)
    suite = SuiteResult("s", "s", trials=Trials(columns), complete=True, duration_s=2.0, script="s.py", planned=planned)
    run = Run("id", 0, RunEnd(0), RunCode("1"), suites=(suite,), read=lambda: iter(trials))
    store = AnswerStore(lambda names: set(names) & set(stored), lambda _: reported or {})
    (found,) = read_trials(run, Pricing.from_run(SETTINGS, run), store).values()
    return estimate_suite(found, "s.py", choice or SuiteChoice(same_code=True))


def expected(found: SuiteEstimate) -> float:
    assert found.cost is not None
    return round(found.cost.expected, 6)


def test_costs_of_all_calls_at_current_prices_are_summed() -> None:
    estimated = estimate([trial(f"c{n}", make_usage(1), judge=make_usage(0.5)) for n in range(10)])
    assert expected(estimated) == 15
    assert (estimated.cases, estimated.trials, estimated.amounts.calls) == (10, 10, 20)
    assert estimated.per_case == Interval(1.5, 1.5, 1.5)
    assert estimated.cost is not None
    assert estimated.cost.low == pytest.approx(15 * 0.95)  # equal costs are no proof of equal lengths


def test_recorded_costs_count_where_no_price_is_known() -> None:
    assert expected(estimate([trial("a", Usage(10, 1, 0, 2.5, "unheard-of"))])) == 2.5
    estimated = estimate([trial("a", Usage(10, 1, 0, None, "unheard-of"))])
    assert (estimated.cost, estimated.unpriced) == (None, ("unheard-of",))
    assert "unknown price for model unheard-of" in estimated.note
    partly = estimate([trial("a", Usage(10, 1, 0, None, "unheard-of")), trial("b", make_usage(1))])
    assert expected(partly) == 1


def test_cached_answers_cost_nothing() -> None:
    trials = [trial(f"c{n}", make_usage(1, answer=f"{n:016x}")) for n in range(10)]
    estimated = estimate(trials, stored=[f"{n:016x}" for n in range(4)])
    assert expected(estimated) == 6
    assert estimated.full_cost == pytest.approx(10)
    changed = estimate(trials, SuiteChoice(same_code=False), stored=[f"{n:016x}" for n in range(10)])
    assert changed.cost is not None
    assert changed.cost.expected == 0
    assert changed.cost.high >= 10  # a changed prompt has no stored answers


def test_each_answer_of_a_trial_is_looked_up() -> None:
    usage = sum_usage([make_usage(1, answer="a" * 16), make_usage(1, answer="b" * 16)])
    assert expected(estimate([trial("a", usage)], stored=["a" * 16])) == 1
    many = sum_usage([make_usage(1, answer=f"{n:016x}") for n in range(20)])
    assert many is not None
    assert many.answer is not None
    assert len(many.answer) == 16
    assert expected(estimate([trial("a", many)], stored=["0" * 16])) == 20


def test_cached_calls_of_the_base_count_as_others_of_their_evaluator() -> None:
    cached = Usage(cost=0.0, model="ours", answer="a" * 16, cached=True)
    assert expected(estimate([trial("a", make_usage(2)), trial("b", cached)])) == 4
    assert expected(estimate([trial("a", make_usage(2)), trial("b", cached)], stored=["a" * 16])) == 2
    estimated = estimate([trial("b", cached)])
    assert estimated.cost is None
    assert "their cost is not known" in estimated.note


def test_repeats_scale_cases_that_follow_the_setting() -> None:
    trials = [trial(f"c{n}", make_usage(1), repeat=r) for n in range(5) for r in range(2)]
    trials += [trial("own", make_usage(1), repeat=r) for r in range(4)]
    assert expected(estimate(trials, SuiteChoice(repeats=(3, 2), same_code=True))) == 19
    assert expected(estimate(trials, SuiteChoice(repeats=(1, 2), same_code=True))) == 9


def test_fewer_and_more_cases_scale_the_estimate() -> None:
    trials = [trial(f"c{n}", make_usage(1, answer=f"{n:016x}")) for n in range(10)]
    stored = [f"{n:016x}" for n in range(10)]
    assert expected(estimate(trials, SuiteChoice(max_cases=4))) == 4
    assert expected(estimate(trials, SuiteChoice(total=25))) == 25
    assert expected(estimate(trials, SuiteChoice(total=25), stored=stored)) == 15  # new cases are not stored
    assert expected(estimate(trials, SuiteChoice(total=20, sample=5))) == 5
    assert expected(estimate(trials, SuiteChoice(takes=lambda labels: labels.hash == "c1"))) == 1
    assert expected(estimate(trials, SuiteChoice(takes=lambda _: False))) == 0
    assert expected(estimate(trials, planned=20)) == 20  # a run that was stopped


def test_few_and_uneven_cases_have_a_wide_interval() -> None:
    few = estimate([trial(f"c{n}", make_usage(n + 1)) for n in range(3)], SuiteChoice(total=300))
    many = estimate([trial(f"c{n}", make_usage(n % 3 + 1)) for n in range(300)])
    assert expected(few) == expected(many) == 600
    assert few.cost is not None
    assert many.cost is not None
    assert few.cost.low < 100 < many.cost.low < 600 < many.cost.high < 1_000 < few.cost.high


def test_sums_are_narrower_than_their_parts() -> None:
    total = sum_intervals([Interval(90, 100, 110)] * 4)
    assert total == Interval(380, 400, 420)
    assert sum_intervals([]) == Interval()


def test_the_duration_after_sample_cases_counts_concurrency() -> None:
    # Three cases ran at once in two seconds, so ten take as long, and a hundred take ten times as long.
    trials = [trial(f"c{n}", make_usage(1)) for n in range(3)]
    for total, concurrency, seconds in ((10, 10, 2), (100, 10, 20), (100, 1, 2 * 100 / 3), (100, None, 2 * 100 / 3)):
        found = estimate(trials, SuiteChoice(total=total, concurrency=concurrency)).seconds
        assert found is not None
        assert found.expected == pytest.approx(seconds)


def test_a_base_that_only_read_stored_answers_says_nothing_about_other_ones() -> None:
    trials = [trial(f"c{n}", make_usage(1, cached=True, answer=f"a{n}")) for n in range(10)]
    stored = [f"a{n}" for n in range(10)]
    assert expected(estimate(trials, stored=stored)) == 0
    changed = estimate(trials, SuiteChoice(same_code=False), stored=stored)
    assert (changed.cost, changed.full_cost) == (None, None)
    assert "10 calls were answered from a cache in the base's run" in changed.note


def test_stored_answers_cost_what_they_reported_if_another_question_is_asked() -> None:
    cached = Usage(cost=0.0, model="ours", answer="a1", cached=True)
    both = sum_usage([cached, Usage(cost=0.0, model="ours", answer="a2", cached=True)])
    trials = [trial("one", cached), trial("two", both)]
    reported = {"a1": make_usage(1), "a2": make_usage(2)}
    changed = estimate(trials, SuiteChoice(same_code=False), stored=["a1", "a2"], reported=reported)
    assert changed.cost is not None
    assert (changed.cost.low, changed.cost.expected) == (0, 0)
    assert changed.cost.high >= 4
    assert (changed.full_cost, changed.amounts.calls, changed.stored, changed.note) == (pytest.approx(4), 0, 3, "")
    asked_again = estimate(trials, reported=reported)
    assert expected(asked_again) == 4
    assert (asked_again.amounts.calls, asked_again.stored) == (3, 0)
    partly = estimate(trials, reported={"a1": make_usage(1)})
    assert expected(partly) == 3  # the other calls cost as much on average


def test_an_unknown_price_of_a_stored_answer_is_named() -> None:
    cached = Usage(cost=0.0, model="unheard-of", answer="a1", cached=True)
    found = estimate([trial("one", cached)], reported={"a1": Usage(10, 1, model="unheard-of")})
    assert (found.cost, found.unpriced) == (None, ("unheard-of",))
