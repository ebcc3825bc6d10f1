"""Evaluators with several results: what is recorded of the models that they call, and when results are the same."""

from __future__ import annotations

from typing import Any

import pytest

from scoregate import evaluate
from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.event_values import EvaluatorInfo, Fingerprint
from scoregate.kernel.types.runs.reuse import suite_reuse_problem
from scoregate.kernel.types.usage import current_meter

SPENT = Usage(10, 5, cost=0.25, model="m", answer="one")


@pytest.fixture(autouse=True)
def _project(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("SCOREGATE_EVENTS", "SCOREGATE_REUSE", "SCOREGATE_SELECTION"):
        monkeypatch.delenv(name, raising=False)


def run(result: object) -> Any:
    def checks(output: str) -> object:  # noqa: ARG001
        current_meter().add(SPENT)
        return result

    return evaluate("demo", data=["a"], task=str, scorers=checks)


def test_the_usage_of_a_call_counts_once_and_every_part_names_its_answer() -> None:
    result = run({"polite": True, "brief": 0.5})
    (case,) = result.cases
    usages = {name: each.usage for name, each in case.evaluations.items()}
    assert usages == {"checks.polite": SPENT, "checks.brief": Usage(model="m", answer="one", calls=0)}
    assert (result.cost, result.tokens) == (0.25, 15)
    assert result.columns.unpriced == set()


def test_the_usage_of_a_call_without_results_counts_for_the_suite() -> None:
    for result in (None, {}, {"polite": None}):
        found = run(result)
        assert (found.cost, found.usage) == (0.25, SPENT), result
    found = run({"polite": None, "brief": 0.5})
    assert (found.cost, found.usage) == (0.25, None)
    assert found.cases[0].evaluations["checks.brief"].usage == SPENT


def info(name: str, source: str | None = "a") -> EvaluatorInfo:
    return EvaluatorInfo(name, Fingerprint(source))


def problem(new: list[EvaluatorInfo], old: list[EvaluatorInfo]) -> str:
    return suite_reuse_problem({each.id: each for each in new}, {each.id: each for each in old})


def test_results_of_an_evaluator_with_parts_are_reused_while_it_is_the_same() -> None:
    parts = [info("checks.polite"), info("checks.brief"), info("other", "b")]
    for new, old in (
        ([info("checks"), info("other", "b")], parts),
        (parts, [info("checks"), info("other", "b")]),
        (parts, [info("checks.polite"), info("other", "b")]),
        (parts, parts),
    ):
        assert problem(new, old) == ""
    assert problem([info("checks", "changed"), info("other", "b")], parts) == "checks: its code changed"
    assert problem([info("checks")], parts) == "its scorers changed"
    assert problem([info("checks"), info("other", "b"), info("third")], parts) == "its scorers changed"
    assert problem([info("a.x", "a"), info("a.y", "b")], [info("a.x", "a")]) == "its scorers changed"
    assert "can't be checked" in problem([info("checks", None)], [info("checks.polite", None)])
