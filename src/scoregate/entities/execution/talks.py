"""How what is under test is asked: by one message, or by a simulated user in a conversation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scoregate.conversations import Limits, Plan, converse
from scoregate.conversations.user import prompt_version
from scoregate.core.conversation import Conversation
from scoregate.core.target import Session, Target
from scoregate.entities.execution.asked import WANTED, Asked
from scoregate.entities.execution.measures import Measures
from scoregate.entities.execution.subjects import Answer, subject_of
from scoregate.enums import TestType
from scoregate.errors import EntityError, MetricError
from scoregate.judging.templates import digest
from scoregate.metrics import GoalAchievementJudge, goal_verdicts

if TYPE_CHECKING:
    from scoregate.models import Model

_NO_METRIC = "Name metrics for the run, the test set or the behavior, or give the test a behavior to look for."


@dataclass(frozen=True)
class Talks:
    """How conversations are led.

    Args:
        user: the model that plays the user: "provider/name", a name of OpenAI's, or a `Model`; None is the project's.
        judge: says when a goal is reached, where a test is not measured by such a judge itself.
        limits: how far conversations go whose tests do not say.
    """

    user: str | Model | None = None
    judge: GoalAchievementJudge = field(default_factory=GoalAchievementJudge)
    limits: Limits = field(default_factory=Limits)

    def version(self) -> str:
        """A digest of what else than the target decides how conversations go.

        Raises:
            ModelError: the name of a model names nothing.
        """
        from scoregate.models.get_model import name_of

        judge = self.judge
        asked = (name_of(self.user), prompt_version(), judge.model_name(), judge.prompt_version())
        return digest(*asked, repr(self.limits))


@dataclass(frozen=True)
class Asking:
    """Asks tests of a target, each in a conversation of its own."""

    target: Target
    measures: Measures
    talks: Talks

    async def ask(self, test: Asked) -> Answer:
        """What came back.

        Raises:
            MetricError: nothing measures the test; nobody is asked then. EntityError: it does not say what to ask.
            EndpointError: the target gave no answer that can be judged. ModelError: the simulated user gave none.
        """
        measured = self.measures.of(test)
        if not measured:
            raise MetricError("no metric is for this test", advice=_NO_METRIC)
        is_single = test.turns is TestType.SINGLE_TURN
        prompt, plan = test.prompt if is_single else None, None if is_single else test.test_configuration
        if prompt is None and plan is None:
            raise EntityError(f"a {test.turns} test needs {WANTED[test.turns]}, and this one has none")
        async with self.target.session() as session:
            if prompt is not None:
                return await session.send(prompt.content)
            return await self._conversation(session, test)

    async def _conversation(self, session: Session, test: Asked) -> Conversation:
        from scoregate.models import get_model

        assert test.test_configuration is not None
        plan = Plan(**test.test_configuration.model_dump())
        verdicts = goal_verdicts(self._judge(test), subject_of(test, Conversation(())))
        user = get_model(self.talks.user)
        return await converse(session, plan, user=user, goal_judge=verdicts, limits=self.talks.limits)

    def _judge(self, test: Asked) -> GoalAchievementJudge:
        own = (each for each in self.measures.of(test) if isinstance(each, GoalAchievementJudge))
        return next(own, self.talks.judge)
