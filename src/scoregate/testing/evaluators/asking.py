"""What evaluators that ask a model share: which model, which corrections they show it, and what is known of both."""

from __future__ import annotations

import abc
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias, TypeVar

from scoregate.core.evaluation import Threshold
from scoregate.core.override import EvaluationOverride
from scoregate.errors import InvalidSuite, StoreError
from scoregate.judging import Template, rendered
from scoregate.judging.templates import digest, system_version
from scoregate.testing.models import BaseTestEvaluator, OutputType, TestCaseType

if TYPE_CHECKING:
    from scoregate.models import Model

T = TypeVar("T")
Text: TypeAlias = str | Awaitable[str | None] | None


async def resolved(value: T | Awaitable[T]) -> T:
    """What a sync or async mapper gave."""
    if isawaitable(value):
        given: T = await value
        return given
    return value


class AsksModel(BaseTestEvaluator[TestCaseType, OutputType], abc.ABC, Generic[TestCaseType, OutputType]):
    """An evaluator that asks a model.

    Attributes:
        threshold: the range in which a score passes; None leaves pass and fail undefined.
        model: "provider/name", a name of OpenAI's, or a `Model`. None is the project's: the setting `model`, else
            "gpt-4o".
        num_overrides: how many of the most recent corrections by people the model is shown as examples.
    """

    version = 1
    threshold: Threshold | None = None
    model: str | Model | None = None
    num_overrides: int = 0
    _template: ClassVar[Template | None] = None

    @cached_property
    def _recent_overrides(self) -> list[EvaluationOverride]:
        """The newest first; read from the store when they are first wanted."""
        if not self.num_overrides:
            return []
        from scoregate.store import open_store, recent_overrides

        return recent_overrides(open_store(), self.id, self.num_overrides)

    def _model(self) -> Model:
        from scoregate.models import get_model

        return get_model(self.model)

    def _asked(self) -> tuple[str, str]:
        """Which model is asked, and a digest of what it is asked besides the case: both are part of the fingerprint."""
        return model_name(self), prompt_version(self)

    def _words(self) -> Sequence[str]:
        """What is in every question besides the template, such as criteria."""
        return ()

    def example_output_mapper(self, evaluation_override: EvaluationOverride) -> Text:  # noqa: ARG002
        """The output of a correction as the model is shown it; needed where `num_overrides` is not 0; sync or async."""
        return None

    def _examples_shown(self) -> list[EvaluationOverride]:
        """The corrections to show.

        Raises:
            InvalidSuite: some are wanted, and nothing says how they are shown. StoreError: they cannot be read.
        """
        if self.num_overrides and type(self).example_output_mapper is AsksModel.example_output_mapper:
            raise InvalidSuite(
                f"num_overrides of {type(self).__name__} is {self.num_overrides}, and it has no example_output_mapper",
                advice="Implement example_output_mapper(evaluation_override) -> str, or leave num_overrides at 0.",
            )
        return self._recent_overrides


def model_name(evaluator: AsksModel[Any, Any]) -> str:
    """The model that is asked, as reports call it: OpenAI's by their names alone, others as "provider/name"."""
    from scoregate.models.get_model import name_of

    return name_of(evaluator.model)


def prompt_version(evaluator: AsksModel[Any, Any]) -> str:
    """A digest of what the model is asked besides the case itself: template, criteria, examples."""
    asked = system_version() if evaluator._template is None else evaluator._template.version
    shown: list[EvaluationOverride] = []
    with suppress(StoreError):  # told by every case that needs them
        shown = evaluator._recent_overrides
    return digest(asked, *evaluator._words(), *map(repr, shown))


def question(
    template: Template,
    blocks: Mapping[str, Text],
    *,
    examples: Sequence[Mapping[str, Text]] = (),
    criteria: str | None = None,
) -> str | Awaitable[str]:
    """As `rendered`, of what mappers gave: at once, or, where one of them is async, later.

    Raises:
        As `rendered`.
    """
    if any(isawaitable(text) for table in (blocks, *examples) for text in table.values()):
        return _later(template, blocks, examples, criteria)
    return rendered(template, blocks, examples=_whole(examples), words={"criteria": criteria})  # type: ignore[arg-type]


async def _later(
    template: Template, blocks: Mapping[str, Text], examples: Sequence[Mapping[str, Text]], criteria: str | None
) -> str:
    known = [{name: await resolved(text) for name, text in table.items()} for table in (blocks, *examples)]
    return rendered(template, known[0], examples=_whole(known[1:]), words={"criteria": criteria})


def _whole(examples: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Those that show an output, each once; parts that a mapper left out are left out."""
    shown = [{name: text for name, text in each.items() if text is not None} for each in examples if each["output"]]
    return [each for at, each in enumerate(shown) if each not in shown[:at]]
