"""No report depends on the order in which suites and cases finish."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product
from operator import itemgetter
from typing import Any

import pytest
from tests.unit.report.runs import ExampleSuite, Score, Trial, make_base, make_run, view_of
from tests.unit.report.test_console import print_view
from tests.unit.report.test_markdown import comment
from tests.unit.report.test_result_json import result_of

from scoregate.kernel.report.view import ReportView
from scoregate.kernel.types.event_values import ErrorInfo
from scoregate.kernel.types.runs.policy import Limits

BROKEN = {number: ErrorInfo("ValueError", f"cannot read {number % 2}", "Traceback") for number in (3, 7, 9, 12)}
UNAVAILABLE = {number: ErrorInfo("TimeoutError", "no answer in 30 s") for number in (4, 8)}


def make_suite(name: str, *, is_worse: bool, without_threshold: bool = False) -> ExampleSuite:
    trials = []
    for number, repeat in product(range(20), range(2)):
        score = Score("right", float(not is_worse or number not in (1, 5, 11)))
        if without_threshold:
            score = replace(score, threshold=None)
        if number in UNAVAILABLE:
            score = replace(score, error=UNAVAILABLE[number])
        trial = Trial(
            f"case {number}",
            [score, Score("length", number / 20, None)],
            repeat=repeat,
            tags=(f"tag {number % 3}",),
            error=BROKEN.get(number),
        )
        trials.append(trial)
    return ExampleSuite(name, trials)


def view_in_order(seed: int, limits: Limits | None) -> ReportView:
    generator = random.Random(seed)
    runs = []
    for make, is_worse in ((make_run, True), (make_base, False)):
        suites = [make_suite(name, is_worse=is_worse) for name in ("suite 10", "suite 9", "billing")]
        suites += [make_suite(name, is_worse=is_worse, without_threshold=True) for name in ("search", "intents")]
        shuffled = generator.sample(suites, len(suites))
        runs.append(make(*(replace(each, trials=generator.sample(each.trials, len(each.trials))) for each in shuffled)))
    run, base = runs
    return view_of(run, base, limits=limits, slices=["tags"])


def result_in_order(view: ReportView) -> Any:
    """The result with its suites by name: the cases of a run have the index of their suite."""
    result = result_of(view)
    return result | {"suites": sorted(result["suites"], key=itemgetter("label"))}


@pytest.mark.parametrize("limits", [None, Limits(max_error_rate=1.0, min_pass_rate=0.99, max_drop={"right": 0.05})])
def test_the_order_of_results_changes_no_report(limits: Limits | None) -> None:
    first, *others = (view_in_order(seed, limits) for seed in range(6))
    for other in others:
        assert result_in_order(other) == result_in_order(first)
        assert comment(other) == comment(first)
        assert print_view(other) == print_view(first)
