"""Does the answer show the behavior that its test is about? What tests are judged by where nobody says by what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from scoregate.core.parts import Choice
from scoregate.errors import MetricError
from scoregate.judging import Template, judge
from scoregate.judging.answers import either
from scoregate.metrics.grade import Grade, verdict
from scoregate.metrics.judge import Judge
from scoregate.metrics.metric import ScoreType
from scoregate.metrics.outputs import OfOutputs
from scoregate.metrics.subject import Subject

if TYPE_CHECKING:
    from scoregate.models import Model

YES, NO = "Yes", "No"


@dataclass(frozen=True, kw_only=True)
class BehaviorJudge(Judge, OfOutputs):
    """A model says whether an output, or the assistant of a conversation, shows the behavior that its test names."""

    kind: ClassVar[str] = "behavior"

    template: ClassVar[Template] = Template.BEHAVIOR

    name: str = "behavior"

    @property
    def score_type(self) -> ScoreType:
        """As `Metric.score_type`."""
        return "binary"

    def check(self, subject: Subject) -> None:
        """As `Judge.check`."""
        if not subject.behavior.strip():
            raise MetricError(
                f"{self.name!r:.60} looks for the behavior that a test names, and this test names none",
                advice="Give the test a behavior, or judge it by metrics of your own.",
            )

    def shown(self, subject: Subject) -> dict[str, str]:
        """As `Judge.shown`, the behavior first."""
        return {"behavior": subject.behavior, **super().shown(subject)}

    def possible_scores(self) -> tuple[Choice, ...]:
        """As `Metric.possible_scores`."""
        return Choice(1.0, YES), Choice(0.0, NO)

    def answers(self) -> str:
        """As `Judge.answers`."""
        return either(YES, NO)

    async def asked(self, model: Model, prompt: str, turns: int) -> Grade:
        """As `Judge.asked`."""
        told = await judge(model, prompt, (YES, NO), turns=turns)
        named = {"relevant_turns": list(told.turns)} if turns else {}
        return verdict(told.choice, passed=told.choice == YES, reason=told.reason, prompt=prompt, more=named)


def behavior_judge(model: str | Model | None = None) -> BehaviorJudge:
    """The default metric: "does the answer show this behavior"; Yes passes. `model` as of all judges."""
    return BehaviorJudge(model=model)
