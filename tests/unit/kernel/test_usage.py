"""What model calls used, and how long they waited."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.usage import UsageMeter, charged_usage, current_meter, sum_usage


def test_an_unused_meter_has_no_usage() -> None:
    meter = UsageMeter()
    assert (meter.usage, meter.usages, meter.waited_s, meter.stopped, meter.count_question("q")) == (
        None,
        (),
        0.0,
        False,
        0,
    )


def test_usages_are_summed() -> None:
    assert sum_usage([]) is None
    first, second = Usage(1, 2, 3, 0.5, "a", answer="x"), Usage(10, 20, 30, None, "b", answer="y", cached=True)
    added = sum_usage([first, second])
    assert added is not None
    assert (added.input_tokens, added.output_tokens, added.cached_tokens) == (11, 22, 33)
    assert (added.cost, added.model, added.cached) == (0.5, "a, b", False)
    assert sum_usage([second, first]) == added


def test_a_sum_names_the_models_whose_price_is_unknown() -> None:
    priced, stored, new = Usage(1, cost=0.5, model="a"), Usage(cost=0.0, model="b", cached=True), Usage(9, model="b")
    some = sum_usage([priced, stored, new]) or new
    assert (some.cost, some.unpriced, some.unpriced_models) == (0.5, "b", ("b",))
    more = sum_usage([some, Usage(7)]) or some
    assert more.unpriced_models == ("a model", "b")
    none = sum_usage([new, Usage(7, model="c")]) or some
    assert (none.cost, none.unpriced, none.unpriced_models) == (None, None, ("b", "c"))
    assert (sum_usage([priced, stored, Usage(model="d")]) or some).unpriced_models == ()


def test_a_sum_is_cached_if_every_part_is() -> None:
    stored, fresh = Usage(answer="x", cached=True), Usage(1)
    both = sum_usage([stored, Usage(answer="y", cached=True)]) or fresh
    mixed = sum_usage([stored, fresh]) or stored
    assert (both.cached, mixed.cached) == (True, False)
    assert (both.answer is None, mixed.answer is None) == (False, True)


def test_a_sum_counts_calls_and_cached_ones() -> None:
    mark = Usage(answer="x", cached=True, calls=0)
    first = sum_usage([Usage(1), Usage(cached=True), mark]) or mark
    assert (first.calls, first.stored, first.cached) == (2, 1, False)
    again = sum_usage([first, Usage(cached=True), Usage(1, calls=5)]) or mark
    assert (again.calls, again.stored) == (8, 2)
    every = sum_usage([Usage(cached=True), Usage(cached=True)]) or mark
    assert (every.calls, every.stored, every.cached) == (2, 2, True)


def test_sums_name_each_model_once() -> None:
    total = Usage(1, model="a")
    for _ in range(3):
        total = sum_usage([total, Usage(1, model="b"), Usage(1, model="a")]) or total
    assert total.model == "a, b"


def test_usage_of_an_evaluation_counts_once() -> None:
    meter, other = UsageMeter(), Usage(100, cost=1.0)
    assert charged_usage(other, meter) == other
    for usage in (Usage(1, 1, cost=0.1), Usage(2, 2, cost=0.2)):
        meter.add(usage)
    assert (
        charged_usage(None, meter)
        == meter.usage
        == charged_usage(meter.usage, meter)
        == charged_usage(meter.usages[0], meter)
    )
    assert (charged_usage(other, meter) or other).input_tokens == 103


def test_threads_lose_nothing() -> None:
    meter = UsageMeter()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: meter.add(Usage(1)), range(500)))
    assert (meter.usage or Usage()).input_tokens == 500


def test_only_time_when_every_call_waits_counts() -> None:
    meter = UsageMeter()
    with meter.measure_call():
        started = time.perf_counter()
        with meter.measure_wait():
            time.sleep(0.05)
        longest_s = time.perf_counter() - started
        with meter.measure_call(), meter.measure_wait():
            time.sleep(0.05)
    assert 0.05 <= meter.waited_s <= longest_s


def test_outside_of_suites_a_meter_is_new_and_counts_for_nobody() -> None:
    meter = current_meter()
    assert type(meter) is UsageMeter
    assert meter is not current_meter()
