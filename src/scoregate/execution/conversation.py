"""The task of a test: send one message, or let a simulated user talk with the target."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from scoregate.enums import TestType
from scoregate.errors import EntityError, MetricError
from scoregate.execution.cases import REQUIRED_CONTENT, TestLike
from scoregate.execution.metrics import MetricSelection
from scoregate.execution.simulated_user import converse, prompt_version
from scoregate.execution.stopping import ConversationPlan, Limits
from scoregate.grading.prompts import digest_texts
from scoregate.kernel.types.conversation import Conversation, Reply, Target
from scoregate.kernel.types.json_io import to_text
from scoregate.metrics import GoalAchievementJudge, Subject, goal_verdicts

if TYPE_CHECKING:
    from scoregate.models import Model

Answer: TypeAlias = Reply | Conversation

_CONVERSATION_FIELDS = ("goal", "instructions", "scenario", "restrictions")
_PLAN_FIELDS = (*_CONVERSATION_FIELDS, "max_turns", "min_turns")
_NO_METRIC = "Name metrics for the run, the test set or the behavior, or set the behavior of the test."


@dataclass(frozen=True)
class ConversationOptions:
    """The models and limits of conversations.

    Args:
        user: the model of the simulated user: "provider/name", an OpenAI model name, or a `Model`; None: the
            project's model.
        judge: decides whether a goal is reached, for tests without a goal judge among their metrics.
        limits: the limits for conversations without limits of their own.
    """

    user: str | Model | None = None
    judge: GoalAchievementJudge = field(default_factory=GoalAchievementJudge)
    limits: Limits = field(default_factory=Limits)

    def version(self) -> str:
        """A digest of everything besides the target that affects conversations.

        Fingerprints contain it, so that `Limits` and its fields keep their names.

        Raises:
            ModelError: there is no model of this name.
        """
        from scoregate.models.openai_model import name_of

        names = (name_of(self.user), prompt_version(), self.judge.model_name(), self.judge.prompt_version())
        return digest_texts(*names, repr(self.limits))


@dataclass(frozen=True)
class TargetTask:
    """Runs tests against a target, each in a session of its own."""

    target: Target
    metrics: MetricSelection
    options: ConversationOptions

    async def run(self, test: TestLike) -> Answer:
        """The target's answer to a test.

        Raises:
            MetricError: no metric applies to the test; then the target is not called.
            EntityError: the test has no prompt and no goal.
            EndpointError: the target returned no usable answer.
            ModelError: the simulated user failed.
        """
        metrics = self.metrics.for_test(test)
        if not metrics:
            raise MetricError("no metric is for this test", advice=_NO_METRIC)
        is_conversation = test.turns is TestType.MULTI_TURN
        if (test.test_configuration if is_conversation else test.prompt) is None:
            raise EntityError(f"a {test.turns} test needs {REQUIRED_CONTENT[test.turns]}, and this one has none")
        judges = (each for each in metrics if isinstance(each, GoalAchievementJudge))
        goal_judge = next(judges, self.options.judge)
        async with self.target.session() as session:
            if test.prompt is not None and not is_conversation:
                return await session.send(test.prompt.content)
            from scoregate.models import get_model

            plan = ConversationPlan(**{name: getattr(test.test_configuration, name) for name in _PLAN_FIELDS})
            user = get_model(self.options.user)
            verdicts = goal_verdicts(goal_judge, make_subject(test, Conversation(())))
            return await converse(session, plan, user=user, goal_judge=verdicts, limits=self.options.limits)


def make_subject(test: TestLike, answer: Answer) -> Subject:
    """The input of metrics."""
    prompt = test.prompt
    labels: dict[str, Any] = {name: getattr(test, name) or "" for name in ("behavior", "category", "topic")}
    if isinstance(answer, Conversation):
        labels |= {name: getattr(test.test_configuration, name, "") for name in _CONVERSATION_FIELDS}
        return Subject(conversation=answer, **labels)
    return Subject(
        input=prompt.content if prompt else "",
        output=to_text(answer.output),
        expected_output=prompt.expected_response if prompt else None,
        context=answer.context,
        metadata=answer.metadata,
        tool_calls=answer.tool_calls,
        **labels,
    )


def evaluator_output(answer: Answer) -> Any:
    """The input of evaluators: the output, or the conversation."""
    return answer.output if isinstance(answer, Reply) else answer


def record_output(answer: Answer) -> Any:
    """The output in the record."""
    return answer.output if isinstance(answer, Reply) else answer.plain()


def record_details(answer: Answer) -> dict[str, Any] | None:
    """What the record stores next to an output. A conversation has these details in its turns."""
    if isinstance(answer, Conversation):
        return None
    if answer.trace is not None:
        return answer.trace  # type: ignore[no-any-return]
    details = {"context": list(answer.context), "tool_calls": list(answer.tool_calls), "metadata": {**answer.metadata}}
    return {name: value for name, value in details.items() if value} or None
