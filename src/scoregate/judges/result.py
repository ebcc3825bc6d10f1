"""What one version of a judge says of one example."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scoregate.core.evaluation import Evaluation, Naming, Usage
from scoregate.core.events import ErrorInfo
from scoregate.core.scale import Scale
from scoregate.judges.responses import Citation, Response
from scoregate.judges.version import JudgeVersion
from scoregate.store.judges import ScoreType

YES, NO = "Yes", "No"


@dataclass(frozen=True, slots=True)
class JudgeResult:
    """A score, or what kept it from being made.

    `value` is "Yes" or "No", a category, or a number from `low` to `high`; None where there is an error. `score` is
    the value in [0, 1], None where it is a label that stands for no number. `usage` is what models took for it, in
    tokens and dollars; `prompt` what a prompt judge asked.
    """

    name: str
    judge_id: str
    version: str
    score_type: ScoreType
    value: str | float | None = None
    score: float | None = None
    reason: str = ""
    low: float = 0.0
    high: float = 1.0
    citations: tuple[Citation, ...] = ()
    prompt: str | None = None
    usage: Usage | None = None
    error: ErrorInfo | None = None

    def evaluation(self) -> Evaluation | Naming:
        """As the engine has it, with its own value and scale in the metadata; a name where that stands for no score."""
        if self.score is None:
            return Naming(str(self.value), metadata=self.metadata())
        return Evaluation(self.score, metadata=self.metadata())

    def metadata(self) -> Mapping[str, Any]:
        """All that is known besides the score."""
        said: dict[str, Any] = {"judge": self.name, "version": self.version, "value": self.value, "reason": self.reason}
        if self.score_type == "numeric":
            said["scale"] = [self.low, self.high]
        if self.citations:
            said["citations"] = [citation.model_dump() for citation in self.citations]
        if self.prompt is not None:
            said["prompt"] = self.prompt
        return said


def result_of(judge: JudgeVersion, response: Response, *, prompt: str | None = None) -> JudgeResult:
    """The result that a response is."""
    given = getattr(response, "value")  # noqa: B009
    value = (YES if given else NO) if isinstance(given, bool) else given
    return JudgeResult(
        judge.name,
        judge.id,
        judge.version,
        judge.score_type,
        value=value,
        score=score_of(judge, value),
        reason=response.reason,
        low=judge.scale[0],
        high=judge.scale[1],
        citations=response.citations,
        prompt=prompt,
    )


def score_of(judge: JudgeVersion, value: str | float) -> float | None:
    """A value of a judge in [0, 1]: where it lies on the scale, or what its category stands for."""
    if isinstance(value, str):
        scores = {YES: 1.0, NO: 0.0} if judge.score_type == "binary" else {c.value: c.score for c in judge.categories}
        return scores.get(value)
    return min(1.0, max(0.0, Scale(*judge.scale).part(value)))
