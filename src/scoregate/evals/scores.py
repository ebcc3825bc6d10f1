"""Scores: what the scorers of users return, as evaluations of the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from inspect import iscoroutine
from numbers import Real
from types import SimpleNamespace
from typing import Any

from scoregate.kernel.types.evaluation import Evaluation, Label, Scale, Scores, Threshold, require_number
from scoregate.kernel.types.event_values import Pending
from scoregate.kernel.types.records import record

_PASS_AT_ONE = Threshold(gte=1)
_SCALE_ADVICE = "Wrap the scorer, as in scorer(…, scale=(0, 100)), with the lowest and the highest score"
_THRESHOLD_ADVICE = (
    "a dict with `score` and `threshold` would be two scores. Write scorer(…, threshold=0.5), or return "
    "Evaluation(0.3, Threshold(gte=0.5))"
)
_KINDS = "a bool, a number, a dict of these, an Evaluation, an object with `score`, or None"


@record
class ScoreReader:
    """Converts the results of one scorer.

    Args:
        threshold: where a score passes, on the scale; None leaves it to the result.
        scale: the range of the scorer's numbers.
        scale_advice: what to do about a number outside of 0 to 1, without a scale.
        number_threshold: where a number passes without `threshold`; None for numbers that can't fail.
    """

    threshold: Threshold | None = None
    scale: Scale | None = None
    scale_advice: str = _SCALE_ADVICE
    number_threshold: Threshold | None = None

    def read(self, result: Any) -> Evaluation | Label | Scores | Pending | None:
        """The result for the record.

        Raises:
            TypeError: the result is nothing that a scorer returns.
            ValueError: a number is outside of the scale, or outside of 0 to 1 without one.
        """
        if isinstance(result, Mapping) and "score" in result and "threshold" in result:
            raise TypeError(_THRESHOLD_ADVICE)
        if isinstance(result, Mapping) and _is_explained_score(result):
            return self._read_object(SimpleNamespace(**result))
        if isinstance(result, Mapping):
            return self._read_mapping(result)
        if isinstance(result, list | tuple) and not hasattr(result, "score") and not isinstance(result, Pending):
            return self._read_list(result)
        return result if isinstance(result, Pending) else self._read_one(result)

    def _read_mapping(self, results: Mapping[Any, Any]) -> Scores:
        read = [(str(name), self._read_value(name, value)) for name, value in results.items()]
        if len(scores := Scores(read)) < len(read):
            raise TypeError(f"a dict of scores must have keys with different texts, not {list(results)!r:.100}")
        return scores

    def _read_list(self, results: Sequence[Any]) -> Scores:
        """Objects with a name and a score, as scorers of Braintrust return them."""
        names = [getattr(each, "name", None) for each in results]
        if not results or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
            raise TypeError(f"a list of scores must have objects with different names, not {results!r:.100}")
        return Scores({str(name): self._read_one(each) for name, each in zip(names, results, strict=True)})

    def _read_value(self, name: Any, result: Any) -> Evaluation | Label | None:
        try:
            return self._read_one(result)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{str(name)!r:.60}: {error}") from None

    def _read_one(self, result: Any) -> Evaluation | Label | None:
        if result is None or isinstance(result, Label):
            return result
        if isinstance(result, Evaluation):
            return result if self.threshold is None else replace(result, threshold=self._threshold(None))
        if is_bool(result):
            return Evaluation(float(result), self._threshold(_PASS_AT_ONE))
        if isinstance(result, Real):
            return self._read_number(result, {})
        if hasattr(result, "score"):
            return self._read_object(result)
        if iscoroutine(result):
            result.close()
            raise TypeError(f"await {result.__qualname__}(…): a scorer returns {_KINDS}, not a coroutine")
        raise TypeError(f"a scorer returns {_KINDS}, not {type(result).__name__}: {result!r:.100}")

    def _read_object(self, result: Any) -> Evaluation | Label | None:
        score, details = result.score, getattr(result, "metadata", None)
        metadata = dict(details) if isinstance(details, Mapping) else {}
        if isinstance(reason := getattr(result, "reason", None), str):
            metadata = {"reason": reason, **metadata}
        if score is None:
            return None
        if is_bool(score):
            return Evaluation(float(score), self._threshold(_PASS_AT_ONE), metadata or None)
        return self._read_number(require_number(score, f"the score of a {type(result).__name__}"), metadata)

    def _read_number(self, value: Any, metadata: Mapping[str, Any]) -> Evaluation:
        number = require_number(value, "a score")
        if self.scale is None:
            if not 0 <= number <= 1:
                raise ValueError(f"the score {_format_exactly(number)} is outside of 0 to 1. {self.scale_advice}")
            return Evaluation(number, self._threshold(self.number_threshold), metadata or None)
        low, high = self.scale.low, self.scale.high
        if not low <= number <= high:
            raise ValueError(f"the score {_format_exactly(number)} is outside of its scale, {low:g} to {high:g}")
        stated = {"value": number, **metadata, "scale": [low, high]}
        default = None if self.number_threshold is None else self.scale.threshold(self.number_threshold)
        return Evaluation(self.scale.part(number), self._threshold(default), stated)

    def _threshold(self, default: Threshold | None) -> Threshold | None:
        if self.threshold is None:
            return default
        return self.threshold if self.scale is None else self.scale.threshold(self.threshold)


def _is_explained_score(result: Mapping[Any, Any]) -> bool:
    """Whether a dict is one score with a name, a reason or metadata, as users of Braintrust write it."""
    has_text = isinstance(result.get("reason"), str) or isinstance(result.get("name"), str)
    has_details = has_text or isinstance(result.get("metadata"), Mapping)
    return "score" in result and has_details and result.keys() <= {"name", "score", "reason", "metadata"}


def _format_exactly(number: float) -> str:
    """The number with all digits that matter: a rounding error is seen, as in 1.0000000000000002."""
    return repr(number).removesuffix(".0")


def is_bool(value: object) -> bool:
    """Whether a value is a bool, of Python or of numpy."""
    kind = type(value)
    return kind is bool or (kind.__module__ == "numpy" and kind.__name__.startswith("bool"))


def make_threshold(value: Any, *, higher_is_better: bool = True) -> Threshold | None:
    """The threshold that a user gives: a number, at or above which a score passes (below, if lower is better).

    Raises:
        TypeError: it is neither a number nor a Threshold.
        ValueError: it is not finite.
    """
    if value is None or isinstance(value, Threshold):
        return value
    number = require_number(value, "threshold")
    return Threshold(gte=number) if higher_is_better else Threshold(lte=number)
