"""Judges of each kind: what they ask, what their answers are worth, and what is no answer."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.openai import OpenAIServer, Reply
from tests.integration.judging.suites import (
    JUDGES,
    NSFW,
    Accuracy,
    Case,
    Custom,
    Own,
    Toxicity,
    only_case,
    prompts,
    run,
)

from scoregate.kernel.types.evaluation import Threshold
from scoregate.testing.evaluators import BaseAccuracy, BaseCustomLLMJudge, BaseLLMJudge
from scoregate.testing.models import ScoreChoice
from scoregate.testing.run import run_test_suite

ROOT = Path(__file__).parent.parent.parent.parent

ANSWERS = [
    (Accuracy, "Accurate", 1, True),
    (Accuracy, "Somewhat accurate", 0.5, False),
    (Accuracy, "Not accurate", 0, False),
    (NSFW, "Safe for work", 1, True),
    (NSFW, "Not safe for work", 0, False),
    (Toxicity, "Not toxic", 1, True),
    (Toxicity, "Toxic", 0, False),
    (Custom, "Meets the criteria", 1, None),
    (Custom, "Meets the criteria in part", 0.5, None),
    (Own, "Hardly", 0.25, None),
]


@pytest.mark.parametrize(("judge", "answer", "score", "passed"), ANSWERS)
def test_an_answer_is_a_score(server: OpenAIServer, judge: Any, answer: str, score: float, passed: bool | None) -> None:
    server.answers("", {"reason": "for a reason", "answer": answer})
    evaluation = only_case(run([judge()])).evaluations[judge.id]
    assert (evaluation.score, evaluation.passed) == (score, passed)
    assert evaluation.metadata is not None
    assert evaluation.metadata["reason"] == "for a reason"
    assert evaluation.metadata["answer"] == answer
    assert evaluation.metadata["prompt"] == prompts(server)[0]
    assert evaluation.usage is not None
    assert evaluation.usage.cost is not None
    assert evaluation.usage.cost > 0


@pytest.mark.parametrize("judge", JUDGES)
def test_the_reason_precedes_the_answer_and_temperature_is_0(server: OpenAIServer, judge: Any) -> None:
    run([judge()])
    (body,) = server.asked()
    assert body["temperature"] == 0
    assert list(body["response_format"]["json_schema"]["schema"]["properties"]) == ["reason", "answer"]


def test_a_model_without_temperature_gets_none(server: OpenAIServer) -> None:
    server.does_not_take("temperature")
    assert only_case(run([NSFW()])).evaluations["nsfw"].score == 1
    assert "temperature" not in server.asked()[-1]


def malformed(server: OpenAIServer) -> None:
    server.answers("", "well, I would say it is fine")


def unknown(server: OpenAIServer) -> None:
    server.answers("", json.dumps({"reason": "none fits", "answer": "Perhaps"}))


def refused(server: OpenAIServer) -> None:
    server.answers("", Reply(None, refusal="I cannot help with that."))


def filtered(server: OpenAIServer) -> None:
    server.filters_content("")


def cut_off(server: OpenAIServer) -> None:
    server.truncates("")


def without_structure(server: OpenAIServer) -> None:
    server.does_not_take("json_schema", "json_object", "tools")


def gone(server: OpenAIServer) -> None:
    server.models = ["gpt-6-luna"]


BAD = {
    malformed: "MalformedAnswer",
    unknown: "MalformedAnswer",
    refused: "ContentFiltered",
    filtered: "ContentFiltered",
    cut_off: "MalformedAnswer",
    without_structure: "RefusedSchema",
    gone: "ModelGone",
}


@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize("behave", BAD)
def test_an_invalid_answer_is_an_error_and_no_score(server: OpenAIServer, judge: Any, behave: Any) -> None:
    behave(server)
    case = only_case(run([judge()]))
    assert case.evaluations == {}
    (error,) = case.errors
    assert (error.evaluator, error.error.type) == (judge.id, BAD[behave])
    assert error.error.advice


@pytest.mark.parametrize("judge", JUDGES)
def test_without_a_key_nothing_is_scored(judge: Any) -> None:
    case = only_case(run([judge()]))
    assert case.evaluations == {}
    (error,) = case.errors
    assert error.error.type == "MissingKey"
    assert "OPENAI_API_KEY" in error.error.message + error.error.advice


@pytest.mark.parametrize("package", ["openai", "jinja2"])
def test_without_the_extra_nothing_is_scored(server: OpenAIServer, package: str) -> None:
    """As if it were not installed: in a process of its own, where nothing has been imported yet."""
    code = f"""
import sys
sys.modules[{package!r}] = None
from tests.integration.judging.suites import NSFW, only_case, run
case = only_case(run([NSFW()]))
assert case.evaluations == {{}}
(error,) = case.errors
assert error.error.type == "MissingExtra"
print(error.error.advice)
"""
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert "pip install 'scoregate[judges]'" in process.stdout, process.stderr
    assert server.requests == []


def test_an_error_affects_one_case_only(server: OpenAIServer) -> None:
    server.answer_with(lambda question: "no JSON" if "BAD" in question.text else None)
    result = run([NSFW()], outputs={"a": "good", "b": "BAD", "c": "good"})
    assert {case.hash: len(case.evaluations) for case in result.cases} == {"a": 1, "b": 0, "c": 1}


def test_the_setting_replaces_the_default_and_nothing_else(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Chosen(Own):
        id = "chosen"
        model = "gpt-4o"

    def models() -> dict[str, str | None]:
        result = run([Custom(), Chosen()])
        prints = {name: info.fingerprint for name, info in result.evaluators.items()}
        return {name: known.model for name, known in prints.items() if known is not None}

    assert models() == {"custom": "gpt-4o", "chosen": "gpt-4o"}
    monkeypatch.setenv("SCOREGATE_MODEL", "openai/gpt-6-luna")
    assert models() == {"custom": "gpt-6-luna", "chosen": "gpt-4o"}
    assert sorted(body["model"] for body in server.asked()) == ["gpt-4o", "gpt-4o", "gpt-4o", "gpt-6-luna"]


def test_a_custom_judge_without_criteria_uses_helpfulness(server: OpenAIServer) -> None:
    class Strict(Custom):
        id = "strict"
        criteria = "The output rhymes."

    evaluations = only_case(run([Custom(), Strict()])).evaluations
    expected = {
        name: evaluation.metadata["criteria"] for name, evaluation in evaluations.items() if evaluation.metadata
    }
    assert expected["strict"] == "The output rhymes."
    assert expected["custom"].startswith("(the default) The output is helpful")
    assert sum("The output rhymes." in prompt for prompt in prompts(server)) == 1
    assert sum("The output is helpful" in prompt for prompt in prompts(server)) == 1


def test_accuracy_needs_an_expected_output(server: OpenAIServer) -> None:
    class Mapped(Accuracy):
        id = "mapped"

        def expected_output_mapper(self, test_case: Case) -> str:
            return f"mapped from {test_case.input}"

    run([Accuracy(), Mapped()])
    assert sum("\nthe expected\n" in prompt for prompt in prompts(server)) == 1
    assert sum("\nmapped from a\n" in prompt for prompt in prompts(server)) == 1

    result = run_test_suite("demo", [{"q": 1}], lambda _: "x", [Accuracy()], test_case_hash=["q"])
    (error,) = only_case(result).errors
    assert "expected_output" in error.error.message
    assert "expected_output_mapper" in error.error.advice


def test_mappers_may_be_async(server: OpenAIServer) -> None:
    class Later(BaseAccuracy[Case, str]):
        id = "later"

        async def output_mapper(self, output: str) -> str:
            return f"awaited {output}"

        async def expected_output_mapper(self, test_case: Case) -> str:
            return f"awaited {test_case.expected_output}"

    class OwnLater(BaseLLMJudge[Case, str]):
        id = "own-later"

        @property
        def score_choices(self) -> list[ScoreChoice]:
            return [ScoreChoice(1, "Yes"), ScoreChoice(0, "No")]

        async def make_prompt(self, test_case: Case, output: str, recent_overrides: list[Any]) -> str:
            return f"awaited prompt of {test_case.input} and {output}, {len(recent_overrides)} corrections"

    assert run([Later(), OwnLater()]).mean("own-later") == 1
    questions = "".join(prompts(server))
    assert "\nawaited an output\n" in questions
    assert "\nawaited the expected\n" in questions
    assert "awaited prompt of a and an output" in questions


def test_choices_may_be_a_method_and_a_threshold_a_property(server: OpenAIServer) -> None:
    server.answers("", {"answer": "Mostly"})

    class Strict(BaseCustomLLMJudge[Case, str]):
        id = "strict"

        def score_choices(self) -> list[ScoreChoice]:  # type: ignore[override]
            return [ScoreChoice(0.75, "Mostly")]

        @property
        def threshold(self) -> Threshold:  # type: ignore[override]
            return Threshold(gt=0.5)

        def output_mapper(self, output: str) -> str:
            return output

    evaluation = only_case(run([Strict()])).evaluations["strict"]
    assert (evaluation.score, evaluation.passed) == (0.75, True)


def test_a_mapper_without_a_string_fails(server: OpenAIServer) -> None:
    (error,) = only_case(run([NSFW()], outputs={"a": {"text": "x"}})).errors
    assert "mapper of 'output' returned a dict" in error.error.message
    assert server.requests == []


def test_concurrency_is_limited(server: OpenAIServer) -> None:
    class One(NSFW):
        max_concurrency = 1

    running, most, lock = [0], [0], threading.Lock()

    def answer(_: Any) -> Any:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        time.sleep(0.01)
        with lock:
            running[0] -= 1

    server.answer_with(answer)
    run([One()], outputs=dict.fromkeys("abcde", "x"))
    assert most == [1]


@pytest.mark.parametrize("name", ["BaseLLMJudge", "BaseAccuracy", "BaseNSFW", "BaseCustomLLMJudge", "BaseToxicity"])
def test_a_base_class_is_not_complete_by_itself(name: str) -> None:
    from scoregate.testing import evaluators

    with pytest.raises(TypeError, match="abstract"):
        type("Unfinished", (getattr(evaluators, name),), {"id": "unfinished"})()
