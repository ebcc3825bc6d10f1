"""Evaluators, objects with a method `evaluate_test_case`, as the engine takes them: checked, fingerprinted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scoregate.core.events import EvaluatorInfo, Fingerprint
from scoregate.core.suite import Scorer
from scoregate.core.text import is_whole_number
from scoregate.engine.fingerprint import fingerprint_object

_WITHOUT_EFFECT = ("max_concurrency", "id", "higher_is_better")


def read_scorers(evaluators: Iterable[Any]) -> tuple[list[Scorer], list[str]]:
    """The scorers of a suite, and what is wrong with the evaluators that cannot be run."""
    scorers: dict[str, Scorer] = {}
    problems: list[str] = []
    for number, evaluator in enumerate(evaluators, start=1):
        try:
            scorer = make_scorer(evaluator)
        except Exception as error:  # an `id` may be a property that raises
            problems.append(f"evaluator {number} ({type(evaluator).__name__}): {error}")
            continue
        if scorer.info.id in scorers:
            problems.append(f"evaluator {number}: duplicate id {scorer.info.id!r}, which an earlier evaluator has")
        else:
            scorers[scorer.info.id] = scorer
    return list(scorers.values()), problems


def make_scorer(evaluator: Any) -> Scorer:
    """The scorer that an evaluator is.

    Raises:
        TypeError: it is none. Exception: whatever its `id` raises, where that is a property.
    """
    if isinstance(evaluator, type):
        raise TypeError(f"it is a class; pass an instance, {evaluator.__name__}()")
    score = getattr(evaluator, "evaluate_test_case", None)
    if not callable(score):
        raise TypeError("it has no method `evaluate_test_case`")
    name = getattr(evaluator, "id", None)
    if not isinstance(name, str) or not name:
        raise TypeError(f"its `id` must be a string that is not empty, not {name!r}")
    info = EvaluatorInfo(
        name,
        _evaluator_fingerprint(evaluator),
        bool(getattr(evaluator, "higher_is_better", True)),
        battles=bool(getattr(evaluator, "_battles", False)),
        choices=tuple(offered()) if callable(offered := getattr(evaluator, "_offered", None)) else (),
    )
    return Scorer(info, score, _max_concurrency(evaluator))


def _evaluator_fingerprint(evaluator: Any) -> Fingerprint:
    if (asked := getattr(evaluator, "_asked", None)) is None:
        return fingerprint_object(evaluator, ignore=_WITHOUT_EFFECT)
    model, prompt = asked()
    return fingerprint_object(evaluator, ignore=_WITHOUT_EFFECT, model=model, prompt=prompt)


def _max_concurrency(evaluator: Any) -> int:
    limit = getattr(evaluator, "max_concurrency", 10)
    if not is_whole_number(limit, 1):
        raise TypeError(f"its max_concurrency must be a whole number of at least 1, not {limit!r}")
    return limit
