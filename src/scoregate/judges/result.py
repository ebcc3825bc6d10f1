"""What one version of a judge says of one example."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scoregate.core.evaluation import Evaluation, Naming, Usage
from scoregate.core.parts import Choice, ErrorInfo
from scoregate.core.scale import Scale
from scoregate.judges.responses import Citation, Response
from scoregate.judges.version import JudgeVersion
from scoregate.store.judges import ScoreType

YES, NO = "Yes", "No"
_BINARY = {YES: 1.0, NO: 0.0}


@dataclass(frozen=True, slots=True)
class JudgeResult:
    """A score, or what kept it from being made, by this version of a judge.

    `value` is "Yes" or "No", a category, or a number from `low` to `high`; None where there is an error. `score` is
    the value in [0, 1], None where it is a label that stands for no number. `usage` is what models took for it, in
    tokens and dollars; `prompt` what a prompt judge asked.
    """

    judge: JudgeVersion = field(repr=False)
    value: str | float | None = None
    score: float | None = None
    reason: str = ""
    citations: tuple[Citation, ...] = ()
    prompt: str | None = None
    usage: Usage | None = None
    error: ErrorInfo | None = None

    @property
    def name(self) -> str:
        """The judge's."""
        return self.judge.name

    @property
    def judge_id(self) -> str:
        """The judge's."""
        return self.judge.id

    @property
    def version(self) -> str:
        """As in "1.2"; empty where the judge has none."""
        return self.judge.version

    @property
    def score_type(self) -> ScoreType:
        """Binary, categorical or numeric."""
        return self.judge.score_type

    @property
    def low(self) -> float:
        """The least that the judge can say."""
        return self.judge.scale[0]

    @property
    def high(self) -> float:
        """The most that it can say."""
        return self.judge.scale[1]

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
    return JudgeResult(judge, value, score_of(judge, value), response.reason, response.citations, prompt)


def choices_of(judge: JudgeVersion) -> tuple[Choice, ...]:
    """All the scores that it can give, by their names; none where it answers with any number."""
    if judge.score_type == "binary":
        return tuple(Choice(score, value) for value, score in _BINARY.items())
    return tuple(Choice(each.score, each.value) for each in judge.categories if each.score is not None)


def score_of(judge: JudgeVersion, value: str | float) -> float | None:
    """A value of a judge in [0, 1]: where it lies on the scale, or what its category stands for."""
    if isinstance(value, str):
        if judge.score_type == "binary":
            return _BINARY.get(value)
        return next((category.score for category in judge.categories if category.value == value), None)
    return min(1.0, max(0.0, Scale(*judge.scale).part(value)))
