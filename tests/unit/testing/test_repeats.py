"""A case runs as often as it, or else the environment, requests."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.unit.testing.builders import Case, Judge, passing, read_events, run

from scoregate.kernel.types.events import SuiteStarted
from scoregate.testing.models import TestCaseConfig


@dataclass
class Configured(Case):
    test_case_config: TestCaseConfig | None = None


def repeated(name: str, times: int | None) -> Configured:
    return Configured(name, test_case_config=TestCaseConfig(repeat_num_times=times))


def ran(test_cases: list[Any], **options: Any) -> Counter[str]:
    calls: Counter[str] = Counter()

    def fn(test_case: Any) -> None:
        calls[test_case.input] += 1

    run(fn, [], test_cases, **options)
    return calls


def test_a_case_sets_repeats() -> None:
    assert ran([repeated("a", 3), repeated("b", 1), repeated("c", None), Case("d")]) == {"a": 3, "b": 1, "c": 1, "d": 1}


def test_the_environment_sets_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCOREGATE_REPEATS", "4")
    assert ran([repeated("a", 2), repeated("b", None), Case("c")]) == {"a": 2, "b": 4, "c": 4}


def test_repeats_share_the_hash_and_are_numbered_from_0() -> None:
    result = run(test_cases=[repeated("a", 3)], evaluators=[Judge(passing)])
    assert sorted(case.key for case in result.cases) == [("a", 0), ("a", 1), ("a", 2)]
    assert result.evaluations == 3


def test_the_plan_counts_repeats(events: Path) -> None:
    run(test_cases=[repeated("a", 3), Case("b")])
    assert [event.cases for event in read_events(events) if isinstance(event, SuiteStarted)] == [4]


def test_the_configuration_is_not_in_the_case() -> None:
    (case,) = run(test_cases=[Configured("a", "x", TestCaseConfig(tags=["critical"], cluster="c1"))]).cases
    assert case.input == {"input": "a", "expected": "x"}
    assert (case.tags, case.cluster) == (("critical",), "c1")


def test_a_dict_is_configured_by_a_key() -> None:
    value = {"q": "a", "test_case_config": TestCaseConfig(repeat_num_times=2)}
    result = run(lambda _: 1, [], [value], test_case_hash=["q"])
    assert [case.input for case in result.cases] == [{"q": "a"}] * 2


def test_two_cases_of_one_hash_are_no_repeats() -> None:
    result = run(test_cases=[repeated("a", 2), Case("a"), Case("b")])
    assert Counter(case.hash for case in result.cases) == {"a": 2, "b": 1}
    assert "duplicate hash 'a'" in result.errors[0].message


@pytest.mark.parametrize("times", [0, -1, 1.5, "2", True], ids=repr)
def test_invalid_repeats_are_reported(times: Any) -> None:
    result = run(test_cases=[repeated("a", times), Case("b")])
    assert [case.hash for case in result.cases] == ["b"]
    assert "suite 'demo': test case 1: its repeat_num_times" in result.errors[0].message


@pytest.mark.parametrize(
    ("config", "name"),
    [
        (TestCaseConfig(tags="critical"), "tags"),
        (TestCaseConfig(tags=[1]), "tags"),
        (TestCaseConfig(cluster=5), "cluster"),
    ],  # type: ignore[list-item, arg-type]
    ids=["a text as tags", "numbers as tags", "a number as cluster"],
)
def test_tags_and_clusters_are_checked(config: TestCaseConfig, name: str) -> None:
    result = run(test_cases=[Configured("a", test_case_config=config), Case("b")])
    assert [case.hash for case in result.cases] == ["b"]
    assert f"test case 1: its {name} must be" in result.errors[0].message
