"""Meters of model calls: what they count, and whose they are."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from typing import Any

import pytest

from scoregate.kernel.types import usage as usage_module
from scoregate.kernel.types.amounts import NOT_REPORTED, AtLeast, Unknown, Why
from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.usage import (
    METER,
    UsageMeter,
    charged_usage,
    collect_usage,
    count_tokens,
    current_meter,
    find_origin,
    measure_cost,
    suite_meter,
    sum_usage,
)


def test_a_meter_knows_its_call() -> None:
    meter = UsageMeter(2, "case", "judge", suite="s")
    assert (meter.repeat, meter.case, meter.evaluator, meter.suite) == (2, "case", "judge", "s")
    assert (meter.used, meter.memo, meter.calls) == (False, None, None)
    assert UsageMeter().repeat == 0


def test_questions_are_counted() -> None:
    meter = UsageMeter()
    assert meter.count_question("a") == 0
    for question in ("a", "b", "a"):
        meter.add_question(question)
    assert [meter.count_question(each) for each in "abc"] == [2, 1, 0]
    assert meter.used


def test_a_meter_is_reset_when_its_usage_is_taken() -> None:
    meter = UsageMeter()
    assert meter.take() is None
    meter.add(Usage(1))
    meter.add(Usage(2))
    assert meter.usages == (Usage(1), Usage(2))
    assert meter.take() == sum_usage([Usage(1), Usage(2)])
    left: Any = (meter.usage, meter.usages, meter.used)
    assert left == (None, (), True)


def test_a_usage_that_is_counted_elsewhere_is_removed() -> None:
    meter = UsageMeter()
    meter.remove(Usage(1))
    for number in (1, 2, 1):
        meter.add(Usage(number))
    meter.remove(Usage(1))
    meter.remove(Usage(9))
    assert meter.usages == (Usage(2), Usage(1))


def test_a_meter_is_stopped_once() -> None:
    meter = UsageMeter()
    meter.add(Usage())
    assert not meter.stopped
    meter.stop()
    assert meter.stopped


def test_time_counts_while_all_running_calls_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(usage_module, "perf_counter", lambda: now)
    meter = UsageMeter()
    first, second, wait, other = meter.measure_call(), meter.measure_call(), meter.measure_wait(), meter.measure_wait()
    steps: tuple[tuple[Callable[[], Any], float], ...] = (
        (first.__enter__, 0.0),
        (wait.__enter__, 0.0),
        (second.__enter__, 2.0),  # the first waited for two seconds
        (other.__enter__, 3.0),  # until now, one of two waited
        (partial(wait.__exit__, None, None, None), 7.0),  # both waited for four seconds
        (partial(first.__exit__, None, None, None), 7.0),
        (partial(other.__exit__, None, None, None), 10.0),  # the second waited for three seconds
        (partial(second.__exit__, None, None, None), 10.0),
    )
    for step, until in steps:
        now = until
        step()
    assert meter.waited_s == 2.0 + 4.0 + 3.0
    now = 100.0
    with meter.measure_wait():
        now = 200.0
    assert meter.waited_s == 9.0


def test_a_wait_that_fails_ends() -> None:
    meter = UsageMeter()
    with ExitStack() as stack:
        stack.enter_context(meter.measure_call())
        with pytest.raises(ValueError, match="off"), meter.measure_wait():
            raise ValueError("off")
        waited_s = meter.waited_s
    assert meter.waited_s == waited_s


def test_calls_of_unknown_threads_count_for_the_suite_that_started_last() -> None:
    assert (suite_meter(), find_origin(), METER.get()) == (None, None, None)
    one, two = UsageMeter(), UsageMeter()
    with collect_usage(one):
        assert (suite_meter(), find_origin()) == (one, one)
        with collect_usage(two):
            assert (suite_meter(), find_origin()) == (two, None)
            unknown = current_meter()
            unknown.add(Usage(5))
            unknown.stop()
            assert (unknown.usages, unknown.stopped) == ((Usage(5),), True)
        assert suite_meter() is one
    assert (one.usages, one.stopped, two.usages, two.stopped) == ((), False, (Usage(5),), True)
    assert suite_meter() is None


def test_a_call_counts_for_the_meter_of_its_context() -> None:
    meter, suite = UsageMeter(), UsageMeter()
    token = METER.set(meter)
    try:
        with collect_usage(suite):
            assert (current_meter(), find_origin()) == (meter, meter)
            with ThreadPoolExecutor(1) as pool:
                assert pool.submit(find_origin).result() is suite
    finally:
        METER.reset(token)


def test_a_sum_has_the_answers_of_its_parts() -> None:
    def join(*answers: str | None) -> str | None:
        total = sum_usage(Usage(answer=answer) for answer in answers)
        return None if total is None else total.answer

    assert join("b", "a") == "a+b"
    assert join("b+c", "a") == "a+b+c"
    assert join("a", None) is None
    eight = "+".join(map(str, range(8)))
    assert join(*map(str, range(8))) == eight
    nine = join(*map(str, range(9)))
    assert nine is not None
    assert ("+" in nine, len(nine)) == (False, 16)
    assert join("8", eight) == nine


def test_a_sum_counts_stored_answers() -> None:
    total = sum_usage(
        [Usage(cached=True, calls=2), Usage(stored=3, calls=4), Usage(cached=True, stored=1, calls=5), Usage()]
    )
    assert total is not None
    assert (total.stored, total.calls, total.cached) == (6, 12, False)
    for one in (Usage(3, model="m"), Usage(cached=True)):
        assert sum_usage([one]) == one


def test_costs_and_tokens_are_amounts() -> None:
    no_price = Unknown(Why.NO_PRICE, "m")
    assert measure_cost(None) is NOT_REPORTED
    assert measure_cost(Usage(cost=0.5)) == 0.5
    assert measure_cost(Usage(1, model="m")) == no_price
    assert measure_cost(Usage(cost=0.5, unpriced="m")) == AtLeast(0.5, no_price)
    assert measure_cost(Usage()) is NOT_REPORTED
    assert (count_tokens(None), count_tokens(Usage(1, 2, 4))) == (NOT_REPORTED, 3)


def test_what_an_evaluation_reports_is_added_to_what_was_counted() -> None:
    meter = UsageMeter()
    assert charged_usage(None, meter) is None
    assert charged_usage(Usage(1), meter) == Usage(1)
    meter.add(Usage(2))
    meter.add(Usage(4))
    total = sum_usage(meter.usages)
    for own in (None, total, Usage(2), Usage(4)):
        assert charged_usage(own, meter) == total
    assert charged_usage(Usage(1), meter) == sum_usage([Usage(1), total or Usage()])
