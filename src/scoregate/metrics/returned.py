"""What functions return, as grades."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scoregate.core.evaluation import checked_number
from scoregate.core.scale import Scale
from scoregate.metrics.bar import Bar
from scoregate.metrics.grade import Grade, MetricResult, Value, verdict
from scoregate.metrics.metric import ScoreType

_KINDS = ("numeric", "categorical", "binary")
_OWN = ("score", "reason", "is_successful")


@dataclass(frozen=True, slots=True)
class Terms:
    """How scores of a function are read: what kind they are, and what passes.

    Raises:
        ValueError: the kind is none, or a category passes that is none.
    """

    kind: ScoreType = "numeric"
    scale: Scale = Scale()  # noqa: RUF009
    bar: Bar | None = None
    categories: tuple[str, ...] = ()
    passing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in _KINDS:
            raise ValueError(f"score_type must be one of {', '.join(_KINDS)}, not {self.kind!r:.60}")
        if self.categories and (strange := set(self.passing) - set(self.categories)):
            raise ValueError(f"the passing_categories {sorted(strange)!r:.100} are none of its categories")


def grade_of(terms: Terms, returned: Any) -> Grade:
    """The grade.

    Raises:
        TypeError: it is nothing that a metric may return. ValueError: the score is none of these terms.
    """
    if returned is None:
        return Grade(None)
    told = _told(returned)
    value, said = told["score"], told.get("is_successful")
    reason, more = str(told.get("reason") or ""), {name: part for name, part in told.items() if name not in _OWN}
    if value is None:
        return Grade(None, reason, more=more)
    grade = _READ[terms.kind](terms, value)
    if isinstance(said, bool) and said is not grade.passed:
        grade = verdict(grade.value, passed=said, more=grade.more)
    return Grade(grade.value, reason, grade.score, grade.threshold, more={**grade.more, **more})


def _told(returned: Any) -> Mapping[str, Any]:
    if isinstance(returned, MetricResult):
        return {**returned.details, "score": returned.score}
    if isinstance(returned, Mapping) and "score" in returned:
        return returned
    raise TypeError(
        f'a metric must return a dict with a "score", a MetricResult or None, not {type(returned).__name__}:'
        f" {returned!r:.200}"
    )


def _number(terms: Terms, value: Any) -> Grade:
    number, scale = checked_number(value, "the score"), terms.scale
    if not scale.low <= number <= scale.high:
        raise ValueError(f"the score must lie from {scale.low:g} to {scale.high:g}, not at {number:g}")
    more: dict[str, Any] = {"scale": [scale.low, scale.high]}
    if terms.bar is None:
        return Grade(number, score=scale.part(number), more=more)
    score, threshold = terms.bar.score(number)
    passes_at = f"{terms.bar.operator} {terms.bar.threshold:g}"
    return Grade(number, score=score, threshold=threshold, more={**more, "passes_at": passes_at})


def _category(terms: Terms, value: Value) -> Grade:
    if not isinstance(value, str) or (terms.categories and value not in terms.categories):
        known = f" {list(terms.categories)!r:.200}" if terms.categories else " a string"
        raise ValueError(f"the score must be one of its categories,{known}, not {value!r:.100}")
    return verdict(value, passed=value in terms.passing) if terms.passing else Grade(value)


def _yes_or_no(_terms: Terms, value: Value) -> Grade:
    if value not in (0, 1):
        raise ValueError(f"the score of a binary metric must be True or False, not {value!r:.100}")
    return verdict(float(value), passed=bool(value))


_READ = {"numeric": _number, "categorical": _category, "binary": _yes_or_no}
