"""A judge of goals: the goal of a conversation is reached only if every criterion is met."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from scoregate.enums import TestType
from scoregate.errors import MetricError
from scoregate.grading.grade import PASS_AT_ONE, Grade
from scoregate.grading.judge import ask, turns_field
from scoregate.grading.prompts import Template
from scoregate.grading.subject import Subject
from scoregate.kernel.types.conversation import Conversation, GoalVerdict
from scoregate.kernel.types.evaluation import Assertion
from scoregate.metrics.evaluation import MULTI_TURN, OfConversations, check_conversation, check_scope
from scoregate.metrics.judges import ScaledJudge

if TYPE_CHECKING:
    from pydantic import BaseModel

    from scoregate.models import Model

FEWEST_CRITERIA, MOST_CRITERIA = 2, 4


@dataclass(frozen=True, kw_only=True)
class GoalAchievementJudge(ScaledJudge, OfConversations):
    """A model judges the goal of a conversation criterion by criterion. It passes only if all of them are met.

    The compared score is the share of criteria that are met. The model's own `score` and its threshold (70 % of the
    scale if not given) are shown, and decide nothing.

    Args:
        evaluation_prompt: what to keep in mind; optional.
        required_criteria: what must happen.
        prohibited_criteria: what must never happen. Without any criteria the model derives two to four from the goal.
    """

    kind: ClassVar[str] = "goal"

    template: ClassVar[Template] = Template.GOAL
    default_threshold: ClassVar[float] = 0.7

    metric_scope: Collection[TestType | str] = MULTI_TURN
    required_criteria: Sequence[str] = ()
    prohibited_criteria: Sequence[str] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        check_scope(self.name, self.metric_scope)
        self._set(**{name: self._parse_list(name) for name in ("required_criteria", "prohibited_criteria")})

    def _parse_list(self, field_name: str) -> tuple[str, ...]:
        given = getattr(self, field_name)
        is_list = isinstance(given, Iterable) and not isinstance(given, str)
        criteria = tuple(given) if is_list else ()
        if not is_list or not all(isinstance(each, str) and each.strip() for each in criteria):
            raise MetricError(f"{self.name!r:.60}: {field_name} must be a list of sentences, not {given!r:.100}")
        return criteria

    @property
    def _needs_prompt(self) -> bool:
        return False

    @property
    def higher_is_better(self) -> bool:
        """The more criteria are met, the better."""
        return True

    @property
    def criteria(self) -> tuple[str, ...]:
        """The given criteria, each as something to be met."""
        return (*self.required_criteria, *(f"This never happens: {each}" for each in self.prohibited_criteria))

    def check_subject(self, subject: Subject) -> None:
        """Check that there is a conversation and a goal; see `Judge.check_subject`."""
        check_conversation(self.name, subject)
        if not subject.goal.strip() and not self.criteria:
            raise MetricError(f"{self.name!r:.60} judges whether a goal was reached, and this test has none")

    def template_values(self) -> Mapping[str, str | None]:
        """The description and the criteria; see `Judge.template_values`."""
        contract = "\n".join(f"{number}. {each}" for number, each in enumerate(self.criteria, 1))
        return {**super().template_values(), "contract": contract}

    def answer_sentence(self) -> str:
        """A number of the scale; see `Judge.answer_sentence`."""
        scale = self.score_threshold.scale
        return f"The score is a number from {scale.low:g} to {scale.high:g}: how much of the goal was reached."

    async def ask(self, model: Model, prompt: str, turns: int) -> Grade:
        """Ask about each criterion; see `Judge.ask`."""
        scale = self.score_threshold.scale
        answer = await ask(model, prompt, answer_schema(turns, len(self.criteria), scale.low, scale.high))
        assertions = to_assertions(answer, self.criteria)
        met = sum(each.passed for each in assertions)
        details = {
            "scale": [scale.low, scale.high],
            "confidence": answer.confidence,
            "criteria_met": met,
            "criteria_total": len(assertions),
            "relevant_turns": sorted({turn for each in assertions for turn in (each.metadata or {})["relevant_turns"]}),
        }
        return Grade(answer.score, answer.reason, met / len(assertions), PASS_AT_ONE, prompt, details, assertions)


@lru_cache(maxsize=256)
def answer_schema(turns: int, count: int, low: float, high: float) -> type[BaseModel]:
    """The schema of an answer.

    Args:
        turns: the number of turns of the conversation.
        count: the number of given criteria, which the model refers to by number; 0 lets it find two to four of its own.
        low: the lowest score.
        high: the highest score.
    """
    from pydantic import Field, create_model

    # Cache keys contain the schema, with its names and its descriptions.
    number: Any = (Annotated[int, Field(ge=1, le=count)], Field(description="The criterion's number."))
    sentence: Any = (str, Field(min_length=1, max_length=300, description="The criterion, in a sentence."))
    criterion: Any = create_model(
        "CriterionJudgement",
        criterion=number if count else sentence,
        evidence=(str, Field(description="What was said that shows whether it is met.")),
        relevant_turns=turns_field(turns),
        met=(bool, Field(description="Whether it is met; False where nothing shows it.")),
    )
    # A model may judge a criterion twice: see `to_assertions`.
    fewest, most = (count, 2 * count) if count else (FEWEST_CRITERIA, MOST_CRITERIA)
    score: Any = Annotated[float, Field(ge=low, le=high, allow_inf_nan=False)]
    share: Any = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
    return create_model(
        "GoalJudgement",
        reason=(str, Field(description="Why the goal was reached or not, in a few sentences; written first.")),
        criteria_evaluations=(list[criterion], Field(min_length=fewest, max_length=most)),
        score=(score, Field(description="How much of the goal was reached.")),
        confidence=(share, Field(description="How sure this judgement is, from 0 to 1.")),
    )


def to_assertions(answer: Any, criteria: Sequence[str]) -> tuple[Assertion, ...]:
    """The result of each criterion. A criterion without a judgement, or with two different ones, is not met.

    Args:
        answer: the model's answer.
        criteria: the given criteria; if there are none, those of the answer.
    """
    judgements = answer.criteria_evaluations
    if not criteria:
        return tuple(_to_assertion(each.criterion, [each]) for each in judgements)
    return tuple(
        _to_assertion(criterion, [each for each in judgements if each.criterion == number])
        for number, criterion in enumerate(criteria, 1)
    )


def _to_assertion(criterion: str, judgements: Sequence[Any]) -> Assertion:
    met = bool(judgements) and all(each.met for each in judgements)
    evidence = " / ".join(each.evidence for each in judgements) or "it was not judged"
    turns = sorted({turn for each in judgements for turn in each.relevant_turns})
    return Assertion(criterion, met, required=True, metadata={"evidence": evidence, "relevant_turns": turns})


def goal_verdicts(judge: GoalAchievementJudge, subject: Subject) -> Callable[[Conversation], Awaitable[GoalVerdict]]:
    """A function that judges an unfinished conversation: whether it has reached its goal.

    Args:
        judge: the judge.
        subject: the facts about the test; its conversation is ignored.
    """

    async def judge_conversation(conversation: Conversation) -> GoalVerdict:
        grade = await judge.graded(replace(subject, conversation=conversation))
        scale = judge.score_threshold.scale
        value = grade.value if isinstance(grade.value, float) else scale.low
        return GoalVerdict(bool(grade.passed), scale.part(value), grade.reason)

    return judge_conversation
