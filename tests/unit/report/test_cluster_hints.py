"""Hints at clusters that are not declared, in every report; how often they come is simulated with fixed seeds."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import replace

import pytest
from rich.console import Console
from tests.unit.report.runs import ExampleSuite, Score, Trial, make_base, make_run, view_of

from scoregate.kernel.compare.cluster_hints import _MOST_CASES, ClusterHint, find_cluster_hints
from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.report import console, markdown, result_json
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.selection import CaseInput


def make_suite(seed: int, shared: float, groups: int = 50, size: int = 4, *, fields: bool = False) -> ExampleSuite:
    """Cases of documents, of which 80 % pass; `shared` is how often a case has the luck of its document."""
    source = random.Random(seed)
    trials = []
    for group in range(groups):
        luck = source.random()
        for number in range(size):
            passes = (luck if source.random() < shared else source.random()) < 0.8
            name = f"Question {group * size + number}?" if fields else f"test_chat[doc{group}-{number}]"
            case_input = {"question": name, "document_id": f"d{group}"} if fields else None
            trials.append(Trial(f"{group}/{number}", (Score("ok", float(passes)),), name=name, input=case_input))
    return ExampleSuite("support-bot", trials)


def find_hints(seed: int, shared: float, groups: int = 50, size: int = 4) -> list[ClusterHint]:
    new, base = (make_suite(2 * seed + side, shared, groups, size, fields=True) for side in (0, 1))
    return find_cluster_hints(compare(make_run(new), make_base(base)))


@pytest.mark.parametrize(("fields", "setting"), [(True, "document_id"), (False, "*[{cluster}-*]")])
def test_every_report_says_what_to_declare(fields: bool, setting: str) -> None:
    view = view_of(make_run(make_suite(1, 0.9, fields=fields)), make_base(make_suite(2, 0.9, fields=fields)))
    (notice,) = [each for each in view.notices if "change together" in each]
    assert "(200 cases in 50 clusters, correlation 0." in notice
    assert notice.endswith(f'set `cluster = "{setting}"` in [suites."support-bot"].')
    assert notice in json.loads("".join(result_json.render(view)))["notices"]
    assert "change together" in "".join(markdown.render(view))
    terminal = Console(width=500)
    with terminal.capture() as shown:
        terminal.print(*console.render(view))
    assert "change together" in shown.get()
    without = view_of(make_run(make_suite(1, 0.0, fields=fields)), make_base(make_suite(2, 0.0, fields=fields)))
    assert without.verdict.conclusion is view.verdict.conclusion
    assert not [each for each in without.notices if "change together" in each]


def test_independent_cases_seldom_get_a_hint_and_clusters_mostly_do() -> None:
    assert sum(bool(find_hints(seed, 0.0)) for seed in range(100)) <= 5
    assert sum(bool(find_hints(seed, 0.85)) for seed in range(20)) >= 19
    assert sum(bool(find_hints(seed, 0.65, 20, 10)) for seed in range(20)) >= 15


def test_declared_clusters_few_clusters_and_missing_bases_get_none() -> None:
    new, base = make_run(make_suite(1, 0.9)), make_base(make_suite(2, 0.9))
    assert find_cluster_hints(compare(new, base))
    assert not find_cluster_hints(compare(new, None))
    assert not find_cluster_hints(compare(make_run(make_suite(1, 1.0, 5, 40)), make_base(make_suite(2, 1.0, 5, 40))))
    new.suites[0].columns.clusters[0] = "declared"
    assert not find_cluster_hints(compare(new, base))


def test_no_case_is_read_if_few_changed() -> None:
    def fail() -> Iterator[CaseInput]:
        pytest.fail("cases were read")

    run = replace(make_run(make_suite(1, 0.9)), read_inputs=fail)
    assert not find_cluster_hints(compare(run, make_base(make_suite(1, 0.9))))


def test_of_a_large_suite_only_the_first_cases_are_read() -> None:
    read = 0

    def count(run: Run) -> Iterator[CaseInput]:
        nonlocal read
        for case in run.cases:
            read += 1
            yield CaseInput(case.suite, case.hash, case.tags, case.input, case.name)

    new, base = make_run(make_suite(1, 0.9, 2_000)), make_base(make_suite(2, 0.9, 2_000))
    (hint,) = find_cluster_hints(compare(replace(new, read_inputs=lambda: count(new)), base))
    assert hint.setting == "*[{cluster}-*]"
    assert read == _MOST_CASES


def test_changes_among_cases_that_were_not_read_are_no_evidence() -> None:
    trials = [Trial(f"{n // 4}/{n % 4}", (Score("ok", 1.0),), name=f"a[d{n // 4}-{n % 4}]") for n in range(6_000)]
    changed = [
        replace(trial, scores=(Score("ok", 0.0),)) if n in (8, 9) or n >= 5_900 else trial
        for n, trial in enumerate(trials)
    ]
    new, base = make_run(ExampleSuite("bot", changed)), make_base(ExampleSuite("bot", trials))
    assert not find_cluster_hints(compare(new, base))
