"""What `run_test_suite` returns and prints."""

from __future__ import annotations

import gc
import itertools
import os
from pathlib import Path
from typing import Any

import pytest
from tests.unit.testing.builders import FAIL, Case, Judge, by_hash, cases, echo, passing, read_events, run

from scoregate.errors import MissingKey
from scoregate.kernel.types.events import ReviewRequested, SuiteFinished, SuiteStarted
from scoregate.testing.models import CreateHumanReviewJob, Evaluation, Threshold
from scoregate.testing.run import run_test_suite

JOB = CreateHumanReviewJob(["ann@example.com", "bob@example.com"], "Look at these", "rubric-1")


def test_arguments_are_positional_in_the_documented_order() -> None:
    hooked: list[str] = []

    def hook(test_case: Case, _output: str) -> None:
        hooked.append(test_case.input)

    result = run_test_suite("demo", [Case("a")], echo, [Judge(passing)], 3, hook, {"x": [1]}, JOB, 2)
    assert result.passed
    assert hooked == ["a"]


def test_it_counts_and_averages() -> None:
    def score(test_case: Case, _output: str) -> Evaluation | None:
        return {"a": Evaluation(0.25), "b": Evaluation(0.75, Threshold(lt=0.5)), "c": None}[test_case.input]

    result = run(evaluators=[Judge(score)])
    assert (result.mean("judge"), result.evaluations, len(result.columns)) == (0.5, 2, 3)
    assert {key: str(case.status) for key, case in by_hash(result).items()} == {
        "a": "scored",
        "b": "failed",
        "c": "unscored",
    }
    assert by_hash(result)["c"].unscored == ("judge",)
    assert result.mean("unknown") is None


def test_cases_can_be_read_repeatedly() -> None:
    result = run(lambda case: case.input * 500, [Judge(passing)], cases(500))
    assert [a.hash for a in result.cases] == [b.hash for b in result.cases]
    assert all(a.hash == b.hash for a, b in zip(result.cases, result.cases, strict=True))
    started = result.cases
    first = next(started).hash
    assert len(list(result.cases)) == 500
    assert [first, *(case.hash for case in started)] == [case.hash for case in result.cases]


def test_cases_are_read_one_by_one() -> None:
    result = run(evaluators=[Judge(passing)], test_cases=cases(50))
    assert len(list(itertools.islice(result.cases, 3))) == 3


def test_no_file_is_left_open() -> None:
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0  # noqa: PTH208
    for _ in range(5):
        run(evaluators=[Judge(passing)])
    gc.collect()
    after = len(os.listdir("/proc/self/fd")) if before else 0  # noqa: PTH208
    assert after <= before


def test_scripts_print_a_summary(capsys: pytest.CaptureFixture[str]) -> None:
    run(evaluators=[Judge(passing)])
    assert capsys.readouterr().out == "✓ demo: 3 cases · 3 passed · judge 1.000\n"


def test_a_host_prints_no_summary(capsys: pytest.CaptureFixture[str], events: Path) -> None:
    run(evaluators=[Judge(passing)])
    assert capsys.readouterr().out == ""
    assert len(read_events(events)) == 2 + 3 * 4


def test_the_summary_prints_any_text(capsys: pytest.CaptureFixture[str]) -> None:
    def score(*_: Any) -> Evaluation:
        return Evaluation(0, FAIL.threshold, {"why": "\x1b[31mred\x1b[0m\n::error::x \ud800"})

    run(evaluators=[Judge(score)], test_cases=[Case("a\n::error::b")])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert "\x1b" not in lines[1]
    assert not any(line.startswith("::") for line in lines)


def test_the_summary_has_short_advice_once(capsys: pytest.CaptureFixture[str]) -> None:
    def score(*_: Any) -> Evaluation:
        raise MissingKey("no key\x1b[2J", advice="Set OPENAI_API_KEY.\n" + "x" * 1_000)

    run(evaluators=[Judge(score)])
    _, first, advice, *others = capsys.readouterr().out.splitlines()
    assert sorted(line.split(":")[0].strip() for line in (first, *others)) == ["errored a", "errored b", "errored c"]
    assert advice.startswith("      → Set OPENAI_API_KEY. xxx")
    assert len(advice) < 400


def test_the_log_has_the_suites_origin(events: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCOREGATE_ROOT", str(Path(__file__).parent.parent))
    run_test_suite("demo", [Case("a")], echo)
    (origin,) = [event.origin for event in read_events(events) if isinstance(event, SuiteStarted)]
    assert origin is not None
    assert origin.file == "testing/test_results.py"
    assert "run_test_suite(" in Path(__file__).read_text(encoding="utf-8").splitlines()[origin.line - 1]


def test_reviews_are_requested(events: Path) -> None:
    result = run(evaluators=[], human_review_job=JOB)
    (asked,) = [event for event in read_events(events) if isinstance(event, ReviewRequested)]
    assert (asked.name, asked.assignees, asked.rubric) == (JOB.name, JOB.assignees, "rubric-1")
    assert result.reviews == ("Look at these",)
    assert result.passed


def test_invalid_jobs_are_reported(events: Path) -> None:
    result = run(evaluators=[Judge(passing)], human_review_job="ann@example.com")
    assert "suite 'demo': human_review_job must be a CreateHumanReviewJob" in result.errors[0].message
    assert len(result.columns) == 3
    assert isinstance(read_events(events)[-1], SuiteFinished)


def test_one_reviewer_needs_no_list() -> None:
    assert CreateHumanReviewJob("ann@example.com", "x").assignees == ("ann@example.com",)
