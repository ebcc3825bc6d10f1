"""`pairwise`: outputs against those of the baseline, in both orders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.openai import OpenAIServer
from tests.integration.judging.suites import prompts
from tests.integration.judging.test_battles import prefers, set_answer

from scoregate import evaluate
from scoregate.errors import InvalidSuite
from scoregate.kernel.types.evaluation import Threshold
from scoregate.kernel.types.runs.baseline_outputs import BASELINE_OUTPUTS_VARIABLE
from scoregate.scorers import pairwise


@pytest.fixture
def baseline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The outputs of a base run, as the host passes them."""
    path = tmp_path / "outputs.jsonl"
    monkeypatch.setenv(BASELINE_OUTPUTS_VARIABLE, str(path))
    outputs: dict[str, Any] = {"text": "a good answer", "json": {"text": "good", "n": 1}}
    path.write_text("".join(json.dumps(["demo", name, output]) + "\n" for name, output in outputs.items()))
    return path


def run(output: Any, case: str = "text", **options: Any) -> Any:
    return evaluate("demo", data=[{"id": case, "input": "Open?"}], task=lambda: output, scorers=pairwise(**options))


@pytest.mark.usefixtures("baseline")
def test_the_better_output_wins_in_both_orders(server: OpenAIServer) -> None:
    prefers(server, {"poor": 1, "good": 2, "best": 3})
    for output, score, passed in (("a best answer", 1, True), ("a poor answer", 0, False), ("also good", 0.5, True)):
        evaluation = run(output).cases[0].evaluations["pairwise"]
        assert (evaluation.score, evaluation.passed, evaluation.threshold) == (score, passed, Threshold(gte=0.5))
        assert dict(evaluation.metadata)["baseline"] == "a good answer"
    first, second = prompts(server)[:2]
    assert first.index("a good answer") < first.index("a best answer")
    assert second.index("a best answer") < second.index("a good answer")
    assert "BEGIN input\nOpen?" in first


@pytest.mark.usefixtures("baseline")
def test_a_model_with_position_bias_decides_nothing(server: OpenAIServer) -> None:
    for answer in ("First", "Second"):
        set_answer(server, answer)
        assert run("another").scores == {"pairwise": 0.5}


@pytest.mark.usefixtures("baseline")
def test_equal_outputs_are_a_tie_without_a_question(server: OpenAIServer) -> None:
    assert run("a good answer").scores == {"pairwise": 0.5}
    assert run({"text": "good", "n": 1}, "json", field="$").scores == {"pairwise": 0.5}
    assert run({"text": "good", "n": 2}, "json", field="text").scores == {"pairwise": 0.5}
    assert server.requests == []
    prefers(server, {"good": 1, "best": 2})
    assert run({"text": "best", "n": 1}, "json", field="$").scores == {"pairwise": 1}


@pytest.mark.usefixtures("baseline")
def test_both_outputs_are_texts_or_have_the_field(server: OpenAIServer) -> None:
    prefers(server, {"good": 1, "best": 2})
    case = run({"text": "best", "n": 1}, "json", field="text").cases[0]
    assert case.scores == {"pairwise": 1}
    metadata = case.evaluations["pairwise"].metadata
    assert (metadata["baseline"], metadata["challenger"]) == ("good", "best")
    for output, options, message in (
        ({"text": "best"}, {}, "pairwise needs a text, and the output is an object with 'text'"),
        ("best", {}, "and the baseline's output is an object with 'text', 'n'"),
        ({"text": "best", "n": 1}, {"field": "n.x"}, "has no field 'x'"),
    ):
        (error,) = run(output, "json", **options).cases[0].errors
        assert message in error.error.message


def test_without_a_baseline_there_is_no_score_and_a_reason(
    server: OpenAIServer, baseline: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    result = run("new", "unknown")
    assert [case.unscored for case in result.cases] == [("pairwise",)]
    assert (result.scores, server.requests) == ({}, [])
    assert "demo: pairwise skips cases of which the baseline has no output" in capsys.readouterr().err
    monkeypatch.delenv(BASELINE_OUTPUTS_VARIABLE)
    data = [{"id": number, "input": "x"} for number in range(20)]
    result = evaluate("demo", data=data, task=lambda: "a", scorers=[pairwise(), pairwise("It is short.", name="short")])
    assert result.scores == {}
    assert capsys.readouterr().err.count("skips cases") == 1
    assert baseline.exists()


@pytest.mark.usefixtures("baseline")
def test_it_is_a_battle(server: OpenAIServer) -> None:
    prefers(server, {})
    (info,) = run("x").evaluators.values()
    assert info.battles
    assert [choice.value for choice in info.choices] == [1, 0.5, 0]
    (other,) = run("x", criteria="It is short.").evaluators.values()
    assert other.fingerprint.prompt != info.fingerprint.prompt


def test_wrong_arguments_and_calls_outside_of_a_suite(server: OpenAIServer) -> None:
    with pytest.raises(ValueError, match="pairwise needs criteria"):
        pairwise(" ")
    with pytest.raises(InvalidSuite, match="needs the suite that it is a part of"):
        pairwise()("x").send(None)
    assert server.requests == []
