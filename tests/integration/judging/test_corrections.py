"""People's corrections as examples for a judge: the newest, always in one order, known by the fingerprint."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.fakes.openai import OpenAIServer
from tests.integration.judging.suites import Accuracy, Own, only_case, prompts, run

from scoregate.kernel.types.fingerprint_changes import describe_fingerprint_change
from scoregate.store import add_override, open_store
from scoregate.testing.models import EvaluationOverride, EvaluationOverrideField

START = datetime(2026, 1, 1, tzinfo=UTC)


def correct(number: int, score: float, *, evaluator: str = "accuracy", expected: str = "") -> None:
    fields = [EvaluationOverrideField("output", "output", f"answer {number}")]
    inputs = [EvaluationOverrideField("input", "input", expected or f"question {number}")]
    override = EvaluationOverride(1 - score, score, inputs, fields)
    add_override(open_store(), evaluator, override, by="Ann", at=START + timedelta(hours=number))


class Taught(Accuracy):
    num_overrides = 3

    def example_output_mapper(self, evaluation_override: EvaluationOverride) -> str:
        return evaluation_override.output_fields[0].value


def test_the_newest_are_shown_first(server: OpenAIServer) -> None:
    for number, score in enumerate([1, 0, 0.5, 0, 0.3]):
        correct(number, score)
    run([Taught()])
    (prompt,) = prompts(server)
    order = [prompt.index(text) for text in ("answer 3", "Not accurate", "answer 2", "Somewhat accurate")]
    assert order == sorted(order), "of the newest three, one has a score that no choice stands for"
    assert "answer 1" not in prompt
    assert "answer 4" not in prompt
    run([Taught()])
    assert len(set(prompts(server))) == 1


def test_async_mappers_and_the_expected_output_of_an_example(server: OpenAIServer) -> None:
    class Later(Taught):
        async def example_output_mapper(self, evaluation_override: EvaluationOverride) -> str:  # type: ignore[override]
            return f"awaited {evaluation_override.output_fields[0].value}"

        def example_expected_output_mapper(self, evaluation_override: EvaluationOverride) -> str:
            return f"expected {evaluation_override.input_fields[0].value}"

    correct(1, 1)
    correct(2, 1, expected="question 1")
    run([Later()])
    (prompt,) = prompts(server)
    assert "awaited answer 1" in prompt
    assert prompt.count("expected question 1") == 2


def test_an_example_is_shown_once(server: OpenAIServer) -> None:
    class Alike(Taught):
        def example_output_mapper(self, evaluation_override: EvaluationOverride) -> str:
            return f"of {evaluation_override.override_score}"

    correct(1, 1)
    correct(2, 1)
    run([Alike()])
    assert prompts(server)[0].count("BEGIN example output") == 1


def test_custom_prompts_get_them(server: OpenAIServer) -> None:
    class Shown(Own):
        num_overrides = 2

    for number in range(3):
        correct(number, 1, evaluator="own")
    run([Shown()])
    assert "(2 corrections)" in prompts(server)[0]


def test_without_a_mapper_the_case_is_an_error(server: OpenAIServer) -> None:
    class Untaught(Accuracy):
        num_overrides = 2

    (error,) = only_case(run([Untaught()])).errors
    assert error.error.type == "InvalidSuite"
    assert "num_overrides of Untaught is 2, and it has no example_output_mapper" in error.error.message
    assert "example_output_mapper(evaluation_override)" in error.error.advice
    assert server.requests == []


def test_an_unreadable_store_is_a_case_error(server: OpenAIServer, root: Path) -> None:
    correct(1, 1)
    (file,) = (root / ".scoregate" / "overrides").glob("*.jsonl")
    file.write_text("<<<<<<< ours\n", encoding="utf-8")
    (error,) = only_case(run([Taught()])).errors
    assert "accuracy.jsonl:1" in error.error.message
    assert server.requests == []


def test_a_comparison_shows_changes_of_a_judge(server: OpenAIServer, monkeypatch: Any) -> None:
    def info(judge: Any) -> Any:
        return run([judge]).evaluators["accuracy"]

    class Other(Accuracy):
        criteria = "unused"

    before, plain = info(Taught()), info(Accuracy())
    assert describe_fingerprint_change(info(Taught()), before) == ""
    correct(1, 1)
    assert describe_fingerprint_change(info(Taught()), before) == "its prompt changed"
    assert describe_fingerprint_change(info(Accuracy()), plain) == ""
    monkeypatch.setenv("SCOREGATE_MODEL", "gpt-6-luna")
    assert describe_fingerprint_change(info(Accuracy()), plain) == "its model changed: gpt-4o → gpt-6-luna"
    assert json.dumps(server.asked()[-1]["model"]) == '"gpt-6-luna"'


def test_a_changed_template_changes_the_prompt(monkeypatch: Any, tmp_path: Path) -> None:
    from scoregate.grading import prompts as templates
    from scoregate.grading.prompts import Template

    before = Template.NSFW.version
    for path in templates.FOLDER.iterdir():
        (tmp_path / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(templates, "FOLDER", tmp_path)
    assert Template.NSFW.version == before
    (tmp_path / "nsfw.j2").write_text("Is it nice?", encoding="utf-8")
    assert Template.NSFW.version != before
    assert Template.TOXICITY.version == Template.TOXICITY.version != before
