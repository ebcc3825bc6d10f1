"""The result of one version of a judge for one example."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from scoregate.grading.grade import Grade
from scoregate.judges.responses import Citation
from scoregate.judges.versions import JudgeVersion
from scoregate.kernel.types.evaluation import Scale, Usage
from scoregate.kernel.types.event_values import Choice, ErrorInfo

YES, NO = "Yes", "No"
_BINARY_SCORES = {YES: 1.0, NO: 0.0}


@dataclass(frozen=True, slots=True)
class JudgeResult:
    """A grade by a version of a judge, or the error instead.

    Attributes:
        judge: the version.
        grade: its value is "Yes" or "No", a category or a number of the judge's scale; None after an error.
        usage: the tokens and dollars of its model calls.
        error: the reason why there is no grade.
    """

    judge: JudgeVersion = field(repr=False)
    grade: Grade
    usage: Usage | None = None
    error: ErrorInfo | None = None


def to_grade(
    judge: JudgeVersion,
    value: str | float | None,
    reason: str = "",
    *,
    citations: Sequence[Citation] = (),
    prompt: str = "",
) -> Grade:
    """The grade of a value of a judge. A category without a score is a label."""
    details: dict[str, Any] = {"scale": list(judge.scale)} if judge.score_type == "numeric" else {}
    if citations:
        details["citations"] = [citation.model_dump() for citation in citations]
    score: float | None = None
    if isinstance(value, str) and judge.score_type == "binary":
        score = _BINARY_SCORES.get(value)
    elif isinstance(value, str):
        score = next((category.score for category in judge.categories if category.value == value), None)
    elif value is not None:
        score = min(1.0, max(0.0, Scale(*judge.scale).part(value)))
    return Grade(
        value,
        reason,
        score,
        prompt=prompt,
        details=details,
        source={"judge": judge.name, "version": judge.version},
        has_label=True,
    )


def possible_scores(judge: JudgeVersion) -> tuple[Choice, ...]:
    """All the scores that a judge can give, with their names; none if it answers with a number."""
    if judge.score_type == "binary":
        return tuple(Choice(score, value) for value, score in _BINARY_SCORES.items())
    return tuple(Choice(each.score, each.value) for each in judge.categories if each.score is not None)
