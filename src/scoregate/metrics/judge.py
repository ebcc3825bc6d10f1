"""Metrics that ask a model."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from scoregate.errors import MetricError
from scoregate.judging import Template, rendered
from scoregate.judging.templates import digest
from scoregate.metrics.grade import Grade
from scoregate.metrics.metric import Metric
from scoregate.metrics.subject import Subject

if TYPE_CHECKING:
    from scoregate.models import Model


@dataclass(frozen=True, kw_only=True)
class Judge(Metric, abc.ABC):
    """A metric that asks a model, which gives its reason before its answer.

    Args:
        model: "provider/name", a name of OpenAI's, or a `Model`; None is the project's.
    """

    template: ClassVar[Template] = Template.METRIC

    model: str | Model | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.model is not None and not isinstance(self.model, str) and not hasattr(self.model, "a_generate"):
            raise MetricError(f"the model of {self.name!r:.60} must be a name or a Model, not {self.model!r:.60}")

    async def graded(self, subject: Subject) -> Grade:
        """As `Metric.graded`."""
        from scoregate.models import get_model

        self.check(subject)
        return await self.asked(get_model(self.model), self.question(subject), subject.turns)

    @abc.abstractmethod
    async def asked(self, model: Model, prompt: str, turns: int) -> Grade:
        """What the model answers, as a grade. `turns` is how many a conversation has, else 0."""

    @abc.abstractmethod
    def answers(self) -> str:
        """What may be answered, in words."""

    def check(self, subject: Subject) -> None:
        """Hold a subject against what this metric needs.

        Raises:
            MetricError: it lacks something.
        """

    def words(self) -> Mapping[str, str | None]:
        """What the template asks for besides the subject: words of who made the metric."""
        return {}

    def shown(self, subject: Subject) -> dict[str, str]:
        """What the model is shown of a subject, by name."""
        return subject.blocks()

    def question(self, subject: Subject) -> str:
        """What the model is asked; what the test and the output say stands in it between fences."""
        return rendered(self.template, self.shown(subject), words={"answers": self.answers(), **self.words()})

    def model_name(self) -> str:
        """The model that is asked, as reports call it.

        Raises:
            ModelError: the name names nothing.
        """
        from scoregate.models.get_model import name_of

        return name_of(self.model)

    def prompt_version(self) -> str:
        """A digest of all that is asked besides the subject."""
        said = (f"{name}={text}" for name, text in sorted(self.words().items()) if text)
        return digest(self.template.version, self.answers(), *said)
