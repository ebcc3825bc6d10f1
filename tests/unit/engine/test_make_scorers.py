"""Evaluators as scorers: their defaults, and what is wrong with those that can't run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scoregate.engine.evaluators import make_scorer, read_scorers
from scoregate.kernel.types.evaluation import Evaluation
from scoregate.kernel.types.event_values import Choice


class Minimal:
    """An evaluator with what is required."""

    id = "minimal"

    def evaluate_test_case(self, test_case: Any, output: Any) -> Evaluation:  # noqa: ARG002
        return Evaluation(1.0)


class Judge(Minimal):
    """An evaluator of a model."""

    id = "judge"
    higher_is_better = False
    max_concurrency = 1
    _battles = True

    def _model_and_prompt(self) -> tuple[str, str]:
        return "gpt", "digest"

    def _list_choices(self) -> Sequence[Choice]:
        return [Choice(1.0, "good"), Choice(0.0, "bad")]


def make(kind: type = Minimal, **attributes: Any) -> Any:
    """An evaluator with these attributes."""
    evaluator = kind()
    vars(evaluator).update(attributes)
    return evaluator


def test_an_evaluator_needs_only_a_name_and_a_method() -> None:
    evaluator = Minimal()
    scorer = make_scorer(evaluator)
    info = scorer.info
    assert (info.id, info.higher_is_better, info.battles, info.choices) == ("minimal", True, False, ())
    assert info.fingerprint is not None
    assert (info.fingerprint.model, info.fingerprint.prompt) == (None, None)
    assert (scorer.score, scorer.max_concurrency) == (evaluator.evaluate_test_case, 10)


def test_a_scorer_has_what_its_evaluator_says() -> None:
    scorer = make_scorer(Judge())
    info = scorer.info
    assert (info.id, info.higher_is_better, info.battles, scorer.max_concurrency) == ("judge", False, True, 1)
    assert info.choices == (Choice(1.0, "good"), Choice(0.0, "bad"))
    assert info.fingerprint is not None
    assert (info.fingerprint.model, info.fingerprint.prompt) == ("gpt", "digest")


def test_a_fingerprint_leaves_out_what_changes_no_score() -> None:
    plain = make_scorer(make()).info.fingerprint
    for name, value in (("max_concurrency", 3), ("id", "other"), ("higher_is_better", False)):
        assert make_scorer(make(**{name: value})).info.fingerprint == plain, name
    assert make_scorer(make(limit=3)).info.fingerprint != plain


def test_an_evaluator_that_cannot_run_is_a_problem_of_its_own() -> None:
    at_least = "its max_concurrency must be a whole number of at least 1, not"
    for evaluator, problem in (
        (Minimal, "(Minimal): it is a class; pass an instance, Minimal()"),
        (5, "(int): it has no method `evaluate_test_case`"),
        (make(evaluate_test_case="no"), "(Minimal): it has no method `evaluate_test_case`"),
        (make(id=""), "(Minimal): its `id` must be a string that is not empty, not ''"),
        (make(id=7), "(Minimal): its `id` must be a string that is not empty, not 7"),
        (make(max_concurrency=0), f"(Minimal): {at_least} 0"),
        (make(max_concurrency=1.5), f"(Minimal): {at_least} 1.5"),
    ):
        scorers, problems = read_scorers([Minimal(), evaluator, Judge()])
        assert [each.info.id for each in scorers] == ["minimal", "judge"]
        assert problems == [f"scorer 2 {problem}"]


def test_each_evaluator_has_its_own_id() -> None:
    scorers, problems = read_scorers([Minimal(), Judge(), make()])
    assert [each.info.id for each in scorers] == ["minimal", "judge"]
    assert problems == ["scorer 3: duplicate id 'minimal', which an earlier scorer has"]


def test_an_id_may_raise() -> None:
    class Broken(Minimal):
        @property
        def id(self) -> str:  # type: ignore[override]
            raise RuntimeError("no id yet")

    assert read_scorers([Broken()]) == ([], ["scorer 1 (Broken): no id yet"])
