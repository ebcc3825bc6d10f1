"""What one evaluator says of one output: a score, a threshold, assertions, usage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from numbers import Integral, Real
from typing import Any, ClassVar

_PLAIN = (float, int)  # which by far most numbers are; to ask an abstract class takes much longer
_SIGNS = {"lt": "<", "lte": "≤", "gt": ">", "gte": "≥"}


def require_number(value: object, what: str) -> float:
    """`value` as a float.

    Raises:
        TypeError: it is no real number (a bool and a numeric string are none).
        ValueError: it is NaN, infinite, or too large for a float.
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
    """The range in which a score passes; every bound given must hold."""

    # For events: an unknown bound, such as `ge`, or one that is a text must not be ignored.
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
        """True or False; None where no bound is set."""
        if self.gte is not None and score < self.gte:
            return False
        if self.lt is not None and score >= self.lt:
            return False
        if self.lte is not None and score > self.lte:
            return False
        if self.gt is not None and score <= self.gt:
            return False
        return True if self != _UNBOUNDED else None

    def __str__(self) -> str:
        bounds = ((sign, getattr(self, name)) for name, sign in _SIGNS.items())
        return " and ".join(f"{sign} {bound:g}" for sign, bound in bounds if bound is not None)


_UNBOUNDED = Threshold()


@dataclass(frozen=True, slots=True)
class Assertion:
    """One criterion of a rubric and whether the output met it.

    Raises:
        TypeError: a field is of another type.
    """

    __pydantic_config__ = {"strict": False}  # noqa: RUF012 - whatever event it is a part of

    criterion: str
    passed: bool
    required: bool
    metadata: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        _require_type(self.criterion, str, "Assertion.criterion")
        for name in ("passed", "required"):
            if (flag := getattr(self, name)) not in (True, False):
                raise TypeError(f"Assertion.{name} must be a bool, not {flag!r:.100} ({type(flag).__name__})")
            object.__setattr__(self, name, bool(flag))
        _require_type(self.metadata, (Mapping, type(None)), "Assertion.metadata")


@dataclass(frozen=True, slots=True)
class Usage:
    """What model calls used. Tokens are counts; `cost` is in US dollars, None where no price is known.

    `answer` names what was answered, where answers are stored: one name, one answer, however often it is used.
    `cached` says that nothing was asked, since the answer was there.

    Raises:
        TypeError: a field is of another type. ValueError: the cost is not finite.
    """

    __pydantic_config__ = {"strict": False}  # noqa: RUF012 - whatever event it is a part of

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = None
    model: str | None = None
    answer: str | None = None
    cached: bool = False

    def __post_init__(self) -> None:
        for name in ("input_tokens", "output_tokens", "cached_tokens"):
            if type(count := getattr(self, name)) is not int:
                _require_type(count, Integral, f"Usage.{name}")
                object.__setattr__(self, name, int(count))
        _require_type(self.model, (str, type(None)), "Usage.model")
        _require_type(self.answer, (str, type(None)), "Usage.answer")
        _require_type(self.cached, bool, "Usage.cached")
        if self.cost is not None:
            object.__setattr__(self, "cost", require_number(self.cost, "Usage.cost"))


@dataclass(frozen=True, slots=True)
class Label:
    """What an evaluator says of an output where it gives a name and no score: a category that stands for no number.

    Args:
        label: the name. metadata: why; anything that can be written as JSON. usage: what the judgement took.

    Raises:
        TypeError: a field is of another type.
    """

    label: str
    metadata: Mapping[str, Any] | None = None
    usage: Usage | None = None

    def __post_init__(self) -> None:
        _require_type(self.label, str, "Naming.label")
        if self.usage is not None:
            _require_type(self.usage, Usage, "Naming.usage")


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The result of an evaluator on one output.

    Args:
        score: a finite number in [0, 1].
        threshold: the range in which the score passes; without one, pass or fail is undefined.
        metadata: why the score is what it is; anything that can be written as JSON.
        assertions: the criteria behind the score, one by one.
        usage: the tokens and dollars that the judgement took.

    Raises:
        TypeError: the score is no number, or another field is of another type.
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
        """Whether the threshold holds; None where there is none."""
        return None if self.threshold is None else self.threshold.holds(self.score)


@dataclass(frozen=True, slots=True)
class Scale:
    """A range of numbers, both ends included.

    Raises:
        ValueError: `high` is not greater than `low`, or the width is not finite.
    """

    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        if not self.low < self.high or not isfinite(self.high - self.low):
            raise ValueError(f"a scale goes from a number up to a greater one, not from {self.low!r} to {self.high!r}")

    def part(self, value: float) -> float:
        """Where a value lies: 0 at the low end, 1 at the high end, beyond these outside."""
        return (value - self.low) / (self.high - self.low)

    def threshold(self, own: Threshold) -> Threshold:
        """What holds for parts where `own` holds for values."""
        bounds = {name: getattr(own, name) for name in Threshold.__slots__}
        return Threshold(**{name: self.part(bound) for name, bound in bounds.items() if bound is not None})


# For pydantic, which is not imported here: a field that does not exist is an error.
_AS_WRITTEN = {"extra": "forbid"}


@dataclass(frozen=True)
class EvaluationOverrideField:
    """A field of the input or output that was judged."""

    __pydantic_config__: ClassVar[dict[str, str]] = _AS_WRITTEN

    id: str
    name: str
    value: str


@dataclass(frozen=True)
class EvaluationOverrideComment:
    """What a person said of a part of a field."""

    __pydantic_config__: ClassVar[dict[str, str]] = _AS_WRITTEN

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
