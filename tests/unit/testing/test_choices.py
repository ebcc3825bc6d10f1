"""The record has the scores that a judge can give."""

from __future__ import annotations

from typing import Any

import pytest

from scoregate.engine.evaluators import make_scorer, read_scorers
from scoregate.kernel.types.event_values import Choice
from scoregate.testing.evaluators import BaseAccuracy, BaseAutomaticBattle, BaseLLMJudge
from scoregate.testing.models import ScoreChoice


class Accuracy(BaseAccuracy[Any, Any]):
    id = "accuracy"

    def output_mapper(self, output: Any) -> str:
        return str(output)

    def expected_output_mapper(self, test_case: Any) -> str:
        return str(test_case)


class Battle(BaseAutomaticBattle[Any, Any]):
    id = "battle"
    criteria = "short"

    def output_mapper(self, output: Any) -> str:
        return str(output)


class Own(BaseLLMJudge[Any, Any]):
    id = "own"
    choices: tuple[ScoreChoice, ...] = (ScoreChoice(0.2, "so so"), ScoreChoice(0.9, "fine"))

    def score_choices(self) -> tuple[ScoreChoice, ...]:  # type: ignore[override]
        return self.choices

    def make_prompt(self, test_case: Any, output: Any, recent_overrides: Any) -> str:  # noqa: ARG002
        return "?"


@pytest.mark.parametrize(
    ("judge", "choices"),
    [
        (Accuracy(), (Choice(1, "Accurate"), Choice(0.5, "Somewhat accurate"), Choice(0, "Not accurate"))),
        (Own(), (Choice(0.2, "so so"), Choice(0.9, "fine"))),
    ],
)
def test_choices_have_names(judge: Any, choices: tuple[Choice, ...]) -> None:
    assert make_scorer(judge).info.choices == choices


def test_battles_have_three() -> None:
    assert [choice.value for choice in make_scorer(Battle()).info.choices] == [1, 0.5, 0]


def test_failing_choices_are_a_problem_of_the_evaluator() -> None:
    class Broken(Own):
        choices = ()

    scorers, problems = read_scorers([Broken()])
    assert (scorers, len(problems)) == ([], 1)
    assert "score_choices" in problems[0]
