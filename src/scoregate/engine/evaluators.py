"""Convert evaluators, objects with a method `evaluate_test_case`, to scorers: check and fingerprint them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scoregate.engine.fingerprint import fingerprint_object
from scoregate.kernel.types.event_values import EvaluatorInfo
from scoregate.kernel.types.suite import Scorer
from scoregate.kernel.types.text import is_whole_number

_WITHOUT_EFFECT = ("max_concurrency", "id", "higher_is_better")


def read_scorers(evaluators: Iterable[Any]) -> tuple[list[Scorer], list[str]]:
    """Return the scorers of a suite, and a problem for each evaluator that can't run."""
    scorers: dict[str, Scorer] = {}
    problems: list[str] = []
    for number, evaluator in enumerate(evaluators, start=1):
        try:
            scorer = make_scorer(evaluator)
        except Exception as error:  # an `id` may be a property that raises
            kind = evaluator if isinstance(evaluator, type) else type(evaluator)
            problems.append(f"scorer {number} ({kind.__name__}): {error}")
            continue
        if scorer.info.id in scorers:
            problems.append(f"scorer {number}: duplicate id {scorer.info.id!r}, which an earlier scorer has")
        else:
            scorers[scorer.info.id] = scorer
    return list(scorers.values()), problems


def make_scorer(evaluator: Any) -> Scorer:
    """Convert an evaluator to a scorer.

    Raises:
        TypeError: the object is no valid evaluator.
        Exception: any exception that its `id` raises, if that is a property.
    """
    if isinstance(evaluator, type):
        raise TypeError(f"it is a class; pass an instance, {evaluator.__name__}()")
    score = getattr(evaluator, "evaluate_test_case", None)
    if not callable(score):
        raise TypeError("it has no method `evaluate_test_case`")
    name = getattr(evaluator, "id", None)
    if not isinstance(name, str) or not name:
        raise TypeError(f"its `id` must be a string that is not empty, not {name!r}")
    read_model = getattr(evaluator, "_model_and_prompt", None)
    model, prompt = (None, None) if read_model is None else read_model()
    info = EvaluatorInfo(
        name,
        fingerprint_object(evaluator, ignore=_WITHOUT_EFFECT, model=model, prompt=prompt),
        bool(getattr(evaluator, "higher_is_better", True)),
        battles=bool(getattr(evaluator, "_battles", False)),
        choices=tuple(list_choices()) if callable(list_choices := getattr(evaluator, "_list_choices", None)) else (),
    )
    max_concurrency = getattr(evaluator, "max_concurrency", 10)
    if not is_whole_number(max_concurrency, 1):
        raise TypeError(f"its max_concurrency must be a whole number of at least 1, not {max_concurrency!r}")
    return Scorer(info, score, max_concurrency)
