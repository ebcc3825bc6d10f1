"""A run recorded step by step, in order or with a clear error."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.unit.testing.builders import Case, by_hash, only, read_events, run

from scoregate.kernel.types.events import CaseStarted, ReviewRequested, Scored, SuiteFinished, SuiteStarted
from scoregate.kernel.types.runs.run import SuiteResult
from scoregate.testing.models import Assertion, EvaluationWithId, Threshold
from scoregate.testing.run import RunManager

GOOD = EvaluationWithId("good", 1, Threshold(gte=1), {"why": "so"}, [Assertion("polite", True, True)])
BAD = EvaluationWithId("bad", 0.2, Threshold(gte=0.5))


def started(message: str | None = None) -> RunManager:
    manager = RunManager("demo", message)
    manager.start()
    return manager


def test_results_are_written_when_added(events: Path) -> None:
    manager = started("nightly")
    manager.add_result(Case("a"), {"answer": 1}, 12.5, [GOOD])
    manager.add_result(Case("b"), "x", evaluations=[GOOD, BAD])
    result = manager.end()
    case_by_hash = by_hash(result)
    assert (case_by_hash["a"].output, case_by_hash["a"].duration_ms, case_by_hash["a"].status) == (
        {"answer": 1},
        12.5,
        "passed",
    )
    assert (case_by_hash["b"].duration_ms, case_by_hash["b"].status) == (None, "failed")
    kept = case_by_hash["a"].evaluations["good"]
    assert (kept.score, kept.metadata, kept.assertions) == (1, {"why": "so"}, (Assertion("polite", True, True),))
    assert result.complete
    assert [event.message for event in read_events(events) if isinstance(event, SuiteStarted)] == ["nightly"]
    assert isinstance(read_events(events)[-1], SuiteFinished)


def test_everything_is_in_the_log_before_the_run_ends(events: Path) -> None:
    manager = started()
    manager.add_result(Case("a"), 1, 1, [GOOD])
    assert [event.evaluator for event in read_events(events) if isinstance(event, Scored)] == ["good"]
    manager.end()


async def in_the_async_way(job: bool) -> SuiteResult:
    manager = RunManager("demo")
    await manager.async_start()
    await manager.async_add_result(Case("a"), 1, 2.0, [GOOD])
    if job:
        await manager.async_create_human_review_job("ann@example.com", "look")
    return await manager.async_end()


@pytest.mark.anyio
async def test_every_step_has_an_async_twin(events: Path) -> None:
    result = await in_the_async_way(job=True)
    assert result.passed
    assert result.reviews == ("look",)
    (asked,) = [event for event in read_events(events) if isinstance(event, ReviewRequested)]
    assert asked.assignees == ("ann@example.com",)


def test_nothing_works_before_start() -> None:
    manager = RunManager("demo")
    with pytest.raises(ValueError, match=r"You must start the run with `start\(\)` before adding results\."):
        manager.add_result(Case("a"), 1)
    with pytest.raises(ValueError, match=r"before ending it\."):
        manager.end()
    with pytest.raises(ValueError, match=r"before creating a human review job\."):
        manager.create_human_review_job("ann@example.com", "look")


def test_nothing_works_after_end() -> None:
    manager = started()
    manager.end()
    with pytest.raises(ValueError, match="You cannot add results to an ended run"):
        manager.add_result(Case("a"), 1)
    with pytest.raises(ValueError, match="ended run"):
        manager.end()


def test_reviews_can_follow_the_end(events: Path) -> None:
    manager = started()
    manager.add_result(Case("a"), 1)
    result = manager.end()
    manager.create_human_review_job("ann@example.com", "look")
    assert isinstance(read_events(events)[-1], ReviewRequested)
    assert (result.reviews, result.complete) == (("look",), True)


def test_it_accepts_types_and_has_an_id_after_start() -> None:
    managers = [RunManager[Case, str]("demo") for _ in range(2)]
    assert [manager.run_id for manager in managers] == [None, None]
    for manager in managers:
        manager.start()
    assert all(isinstance(manager.run_id, str) for manager in managers)
    assert len({manager.run_id for manager in managers}) == 2


def test_the_same_case_again_is_a_repeat() -> None:
    manager = started()
    for output in (1, 2, 3):
        manager.add_result(Case("a"), output, evaluations=[GOOD])
    assert [(case.key, case.output) for case in manager.end().cases] == [(("a", n), n + 1) for n in range(3)]


def test_threads_can_add() -> None:
    manager = started()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: manager.add_result(Case(str(n % 5)), n, evaluations=[GOOD]), range(200)))
    result = manager.end()
    assert len({case.key for case in result.cases}) == 200
    assert result.evaluations == 200


def test_a_case_has_the_digest_of_a_suite() -> None:
    manager = started()
    manager.add_result(Case("a", "x"), 1)
    assert only(manager.end()).digest == only(run(test_cases=[Case("a", "x")])).digest != ""


@pytest.mark.parametrize("score", [True, float("nan"), "0.5", 1.2, -0.1, None])
def test_an_invalid_score_is_an_error_of_its_evaluator(score: Any) -> None:
    manager = started()
    manager.add_result(Case("a"), 1, evaluations=[EvaluationWithId("odd", score), GOOD])
    case = only(manager.end())
    assert [error.evaluator for error in case.errors] == ["odd"]
    assert "Evaluation.score" in case.errors[0].error.message
    assert set(case.evaluations) == {"good"}


def test_a_value_without_json_fails_its_case() -> None:
    manager = started()
    manager.add_result(Case("a"), object(), evaluations=[GOOD])
    manager.add_result(Case("b"), 1, evaluations=[EvaluationWithId("odd", 1, metadata={"x": object()}), GOOD])
    case_by_hash = by_hash(manager.end())
    assert [(error.evaluator, error.error.type) for error in case_by_hash["a"].errors] == [(None, "NotRecordable")]
    assert [error.evaluator for error in case_by_hash["b"].errors] == ["odd"]
    assert all("good" in case.evaluations for case in case_by_hash.values())


def test_an_unserializable_case_is_its_own_error() -> None:
    class Broken(Case):
        def serialize(self) -> Any:
            raise OSError("no disk")

    manager = started()
    manager.add_result(Broken("a"), 1)
    manager.add_result(Case("b"), 1)
    assert [[error.error.message for error in case.errors] for case in manager.end().cases] == [["no disk"], []]


@pytest.mark.parametrize(
    "arguments",
    [(5, 1), (Case(""), 1), (Case("a"), 1, "fast"), (Case("a"), 1, None, [GOOD.evaluation()])],
    ids=["no hash", "an empty hash", "no duration", "an evaluation without id"],
)
def test_wrong_arguments_add_nothing(arguments: tuple[Any, ...], events: Path) -> None:
    manager = started()
    with pytest.raises(TypeError):
        manager.add_result(*arguments)
    assert not any(isinstance(event, CaseStarted) for event in read_events(events))


@pytest.mark.parametrize("arguments", [(5,), ("demo", 5)])
def test_an_id_and_a_message_are_texts(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError, match="must be strings"):
        RunManager(*arguments)


def test_a_second_run_under_one_id_can_not_be_measured(events: Path) -> None:  # noqa: ARG001
    results = []
    for _ in range(2):
        manager = started()
        manager.add_result(Case("a"), 1, 1, [GOOD])
        results.append(manager.end())
    first, second = results
    assert first.passed
    assert not second.passed
    assert "suite 'demo': a suite with this name ran before" in second.errors[0].message
