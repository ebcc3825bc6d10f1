"""Was the goal of a conversation reached? Only if every criterion of it is met."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from scoregate.core.conversation import Conversation, GoalVerdict
from scoregate.core.scale import Scale
from scoregate.enums import TestType
from scoregate.errors import MetricError
from scoregate.judging import Template
from scoregate.judging.judge import asked
from scoregate.metrics.conversations import MULTI_TURN, OfConversations, check_conversation, check_scope
from scoregate.metrics.criteria import assertions_of, schema_of
from scoregate.metrics.grade import MET, Grade
from scoregate.metrics.scaled import ScaledJudge
from scoregate.metrics.subject import Subject

if TYPE_CHECKING:
    from scoregate.models import Model

_THRESHOLD = 0.7


@dataclass(frozen=True, kw_only=True)
class GoalAchievementJudge(ScaledJudge, OfConversations):
    """A model judges a conversation's goal criterion by criterion. It passes only if each of them is met.

    The model's own `score`, and the threshold for it (70 % of the scale if not given), are told and decide nothing;
    what is compared is the share of criteria that are met.

    Args:
        evaluation_prompt: what to keep in mind; not needed.
        required_criteria, prohibited_criteria: what must be so, and what must never happen. Without any the model takes
            two to four criteria out of the goal.
    """

    kind: ClassVar[str] = "goal"

    template: ClassVar[Template] = Template.GOAL

    metric_scope: Collection[TestType | str] = MULTI_TURN
    required_criteria: Sequence[str] = ()
    prohibited_criteria: Sequence[str] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        check_scope(self.name, self.metric_scope)
        self._set(**{name: self._listed(name) for name in ("required_criteria", "prohibited_criteria")})

    def _listed(self, name: str) -> tuple[str, ...]:
        given = getattr(self, name)
        listed = () if isinstance(given, str) else tuple(given)
        if isinstance(given, str) or not all(isinstance(each, str) and each.strip() for each in listed):
            raise MetricError(f"{self.name!r:.60}: {name} must be a list of sentences, not {given!r:.100}")
        return listed

    @property
    def _needs_prompt(self) -> bool:
        return False

    def _middle(self, scale: Scale) -> float:
        return scale.low + _THRESHOLD * (scale.high - scale.low)

    @property
    def higher_is_better(self) -> bool:
        """As `Metric.higher_is_better`: more criteria that are met are."""
        return True

    @property
    def criteria(self) -> tuple[str, ...]:
        """Those that were given, each as something to be met."""
        return (*self.required_criteria, *(f"This never happens: {each}" for each in self.prohibited_criteria))

    def check(self, subject: Subject) -> None:
        """As `Judge.check`."""
        check_conversation(self.name, subject)
        if not subject.goal.strip() and not self.criteria:
            raise MetricError(f"{self.name!r:.60} judges whether a goal was reached, and this test has none")

    def words(self) -> Mapping[str, str | None]:
        """As `Judge.words`."""
        contract = "\n".join(f"{number}. {each}" for number, each in enumerate(self.criteria, 1))
        return {**super().words(), "contract": contract}

    def answers(self) -> str:
        """As `Judge.answers`."""
        low, high = self.bar.scale.low, self.bar.scale.high
        return f"The score is a number from {low:g} to {high:g}: how much of the goal was reached."

    async def asked(self, model: Model, prompt: str, turns: int) -> Grade:
        """As `Judge.asked`."""
        scale = self.bar.scale
        answer = await asked(model, prompt, schema_of(turns, len(self.criteria), scale.low, scale.high))
        found = assertions_of(answer, self.criteria)
        met = sum(each.passed for each in found)
        told = {"scale": [scale.low, scale.high], "confidence": answer.confidence}
        told |= {"criteria_met": met, "criteria_total": len(found), "relevant_turns": _turns(found)}
        return Grade(answer.score, answer.reason, met / len(found), MET, prompt, told, found)


def goal_verdicts(judge: GoalAchievementJudge, subject: Subject) -> Callable[[Conversation], Awaitable[GoalVerdict]]:
    """What says of a conversation, while it goes on, whether it has reached its goal.

    Args:
        subject: what is known of the test; the conversation in it does not matter.
    """

    async def verdict(conversation: Conversation) -> GoalVerdict:
        grade = await judge.graded(replace(subject, conversation=conversation))
        value = grade.value if isinstance(grade.value, float) else judge.bar.scale.low
        return GoalVerdict(bool(grade.passed), judge.bar.scale.part(value), grade.reason)

    return verdict


def _turns(assertions: Sequence[Any]) -> list[int]:
    return sorted({turn for each in assertions for turn in each.metadata["relevant_turns"]})
