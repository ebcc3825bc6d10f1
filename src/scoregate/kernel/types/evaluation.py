"""The result of one evaluator for one output: a score, a threshold, assertions, usage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import isfinite
from numbers import Integral, Real
from typing import Any, ClassVar

_PLAIN = (float, int)  # most numbers are; isinstance with an abstract class takes much longer
_SIGNS = {"lt": "<", "lte": "≤", "gt": ">", "gte": "≥"}


def require_number(value: object, what: str) -> float:
    """Convert a number to a float.

    Args:
        value: a real number.
        what: the name of the value in messages.

    Raises:
        TypeError: the value is no real number, such as a bool or a numeric string.
        ValueError: the value is NaN, infinite, or too large for a float.
    """
    if type(value) not in _PLAIN and (isinstance(value, bool) or not isinstance(value, Real)):
        raise TypeError(f"{what} must be a number, not {value!r:.100} ({type(value).__name__})")
    try:
        number = float(value)  # type: ignore[arg-type]
    except OverflowError:
        raise ValueError(f"{what} is too large for a float") from None
    if not isfinite(number):
        raise ValueError(f"{what} must be finite, not {value!r}")
    return number


def _require_type(value: object, kind: type | tuple[type, ...], what: str) -> None:
    if not isinstance(value, kind):
        name = kind.__name__ if isinstance(kind, type) else kind[0].__name__
        raise TypeError(f"{what} must be of type {name}, not {value!r:.100} ({type(value).__name__})")


@dataclass(frozen=True, slots=True)
class Threshold:
    """The range in which a score passes; every bound that is set must hold."""

    # In events, an unknown bound, such as `ge`, or a text as bound must not be ignored.
    __pydantic_config__ = {"extra": "forbid", "strict": True}  # noqa: RUF012

    lt: float | None = None
    lte: float | None = None
    gt: float | None = None
    gte: float | None = None

    def __post_init__(self) -> None:
        for name in _SIGNS:
            if (bound := getattr(self, name)) is not None:
                object.__setattr__(self, name, require_number(bound, f"Threshold.{name}"))

    def holds(self, score: float) -> bool | None:
        """Whether the score is in the range; None if no bound is set."""
        gte, lt, lte, gt = self.gte, self.lt, self.lte, self.gt
        if gte is not None and score < gte:
            return False
        if lt is not None and score >= lt:
            return False
        if lte is not None and score > lte:
            return False
        if gt is not None and score <= gt:
            return False
        return None if gte is None and lt is None and lte is None and gt is None else True

    def __str__(self) -> str:
        bounds = ((sign, getattr(self, name)) for name, sign in _SIGNS.items())
        return " and ".join(f"{sign} {bound:g}" for sign, bound in bounds if bound is not None)


@dataclass(frozen=True, slots=True)
class Assertion:
    """One criterion of a rubric and whether the output met it.

    Raises:
        TypeError: a field has the wrong type.
    """

    __pydantic_config__ = {"strict": False}  # noqa: RUF012 - also as part of a strict event

    criterion: str
    passed: bool
    required: bool
    metadata: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        _require_type(self.criterion, str, "Assertion.criterion")
        for name in ("passed", "required"):
            if (flag := getattr(self, name)) not in (True, False):  # also 1, 0 and the bools of numpy
                raise TypeError(f"Assertion.{name} must be a bool, not {flag!r:.100} ({type(flag).__name__})")
            object.__setattr__(self, name, bool(flag))
        _require_type(self.metadata, (Mapping, type(None)), "Assertion.metadata")


@dataclass(frozen=True, slots=True)
class Usage:
    """The usage of model calls.

    Args:
        input_tokens: the number of input tokens.
        output_tokens: the number of output tokens.
        cached_tokens: the number of input tokens that the provider had cached.
        cost: US dollars; None if no price is known.
        model: the name of the model; several are joined by commas.
        answer: the id of the stored answer; the same answer has the same id each time it is used.
        cached: whether the answer was read from a store, without a call.
        calls: the number of calls, with those that were answered from a store.
        stored: of a sum, how many of them were answered from a store.
        unpriced: of a sum with a cost, the models that are not in it, since no price is known; joined by commas.

    Raises:
        TypeError: a field has the wrong type.
        ValueError: the cost is not finite.
    """

    __pydantic_config__ = {"strict": False}  # noqa: RUF012 - also as part of a strict event

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = None
    model: str | None = None
    answer: str | None = None
    cached: bool = False
    calls: int = 1
    stored: int = 0
    unpriced: str | None = None

    def __post_init__(self) -> None:
        for name in ("input_tokens", "output_tokens", "cached_tokens", "calls", "stored"):
            if type(count := getattr(self, name)) is not int:
                _require_type(count, Integral, f"Usage.{name}")
                object.__setattr__(self, name, int(count))
        _require_type(self.model, (str, type(None)), "Usage.model")
        _require_type(self.answer, (str, type(None)), "Usage.answer")
        _require_type(self.unpriced, (str, type(None)), "Usage.unpriced")
        _require_type(self.cached, bool, "Usage.cached")
        if self.cost is not None:
            object.__setattr__(self, "cost", require_number(self.cost, "Usage.cost"))

    @property
    def unpriced_models(self) -> tuple[str, ...]:
        """The models that used tokens without a known price; with any, the cost is too low or unknown."""
        if self.cost is not None:
            return tuple(self.unpriced.split(", ")) if self.unpriced else ()
        return tuple((self.model or "a model").split(", ")) if self.input_tokens + self.output_tokens else ()


@dataclass(frozen=True, slots=True)
class Label:
    """A category without a number, which an evaluator gives instead of a score.

    Args:
        label: the name of the category.
        metadata: the explanation; any value with a JSON form.
        usage: the usage of the evaluator's model calls.

    Raises:
        TypeError: a field has the wrong type.
    """

    label: str
    metadata: Mapping[str, Any] | None = None
    usage: Usage | None = None

    def __post_init__(self) -> None:
        _require_type(self.label, str, "Label.label")
        if self.usage is not None:
            _require_type(self.usage, Usage, "Label.usage")


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The result of an evaluator for one output.

    Args:
        score: a finite number in [0, 1].
        threshold: the range in which the score passes; without one, the evaluation neither passes nor fails.
        metadata: the explanation of the score; any value with a JSON form.
        assertions: the criteria of the score.
        usage: the usage of the evaluator's model calls.

    Raises:
        TypeError: the score is not a number, or another field has the wrong type.
        ValueError: the score is not finite or outside [0, 1].
    """

    score: float
    threshold: Threshold | None = None
    metadata: Mapping[str, Any] | None = None
    assertions: Sequence[Assertion] | None = None
    usage: Usage | None = None

    def __post_init__(self) -> None:
        score = self.score
        if type(score) is not float:
            score = require_number(score, "Evaluation.score")
            object.__setattr__(self, "score", score)
        if not 0.0 <= score <= 1.0:
            raise ValueError(f"Evaluation.score must lie in [0, 1], not {score!r}")
        if self.threshold is not None:
            _require_type(self.threshold, Threshold, "Evaluation.threshold")
        if self.usage is not None:
            _require_type(self.usage, Usage, "Evaluation.usage")
        if self.assertions is not None:
            _require_type(self.assertions, Sequence, "Evaluation.assertions")
            for assertion in self.assertions:
                _require_type(assertion, Assertion, "each of Evaluation.assertions")

    @property
    def passed(self) -> bool | None:
        """Whether the score is in the range of the threshold; None without a threshold.

        In Autoblocks' SDK this is a method; here it is read without parentheses.
        """
        return None if self.threshold is None else self.threshold.holds(self.score)


def is_plain(evaluation: Evaluation) -> bool:
    """Whether an evaluation is only a score, perhaps with a threshold."""
    return evaluation.metadata is None and evaluation.assertions is None and evaluation.usage is None


# They are frozen, and many are equal.
make_plain_evaluation = lru_cache(maxsize=4096)(Evaluation)
"""Make an evaluation of a score and a threshold; `score` must be a float."""


class Scores(dict[str, Evaluation | Label | None]):
    """Several results of one call of an evaluator, by name. Each is recorded as `evaluator.name`."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A range of numbers with both ends, which scores are mapped to [0, 1] from.

    Raises:
        ValueError: `high` is not greater than `low`, or the width is not finite.
    """

    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        if not self.low < self.high or not isfinite(self.high - self.low):
            raise ValueError(f"a scale goes from a number up to a greater one, not from {self.low!r} to {self.high!r}")

    def part(self, value: float) -> float:
        """Map a value linearly: the low end to 0, the high end to 1."""
        return (value - self.low) / (self.high - self.low)

    def threshold(self, threshold: Threshold) -> Threshold:
        """Map the bounds of a threshold from the scale to [0, 1]."""
        bounds = {name: getattr(threshold, name) for name in Threshold.__slots__}
        return Threshold(**{name: self.part(bound) for name, bound in bounds.items() if bound is not None})


# For pydantic, which is not imported here: an unknown field is an error.
_NO_EXTRA_FIELDS = {"extra": "forbid"}


@dataclass(frozen=True)
class EvaluationOverrideField:
    """A field of the input or output of a review."""

    __pydantic_config__: ClassVar[dict[str, str]] = _NO_EXTRA_FIELDS

    id: str
    name: str
    value: str


@dataclass(frozen=True)
class EvaluationOverrideComment:
    """A person's comment on a part of a field."""

    __pydantic_config__: ClassVar[dict[str, str]] = _NO_EXTRA_FIELDS

    field_id: str
    quoted_text: str
    comment_text: str


@dataclass(frozen=True)
class EvaluationOverride:
    """A person's correction of a judge's score; both scores in [0, 1]."""

    original_score: float
    override_score: float
    input_fields: list[EvaluationOverrideField] = field(default_factory=list)
    output_fields: list[EvaluationOverrideField] = field(default_factory=list)
    comments: list[EvaluationOverrideComment] = field(default_factory=list)
