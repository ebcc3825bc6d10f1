"""The base of evaluators that ask a model: the model, and overrides by people as examples."""

from __future__ import annotations

import abc
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias, TypeVar

from scoregate.errors import InvalidSuite, StoreError
from scoregate.grading.prompts import Template, digest_texts, render_question, system_prompt_version
from scoregate.kernel.types.evaluation import EvaluationOverride, Threshold
from scoregate.testing.models import BaseTestEvaluator, OutputType, TestCaseType

if TYPE_CHECKING:
    from scoregate.models import Model


T = TypeVar("T")
Text: TypeAlias = str | Awaitable[str | None] | None


async def resolve(value: T | Awaitable[T]) -> T:
    """The result of a sync or async mapper."""
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
        num_overrides: how many of the most recent overrides by people the prompt shows as examples.
    """

    # The engine uses `_model_and_prompt`, `_list_choices` and `_battles`; fingerprints contain the class names.

    version = 1
    threshold: Threshold | None = None
    model: str | Model | None = None
    num_overrides: int = 0
    _template: ClassVar[Template | None] = None

    @cached_property
    def _recent_overrides(self) -> list[EvaluationOverride]:
        """The newest first; read from the store on first access."""
        if not self.num_overrides:
            return []
        from scoregate.store import open_store, recent_overrides

        return recent_overrides(open_store(), self.id, self.num_overrides)

    def _model(self) -> Model:
        from scoregate.models import get_model

        return get_model(self.model)

    def _model_and_prompt(self) -> tuple[str, str]:
        """The model and a digest of the question without the case, for the fingerprint."""
        return model_name(self), prompt_version(self)

    def _prompt_parts(self) -> Sequence[str]:
        """The parts of every question besides the template, such as criteria."""
        return ()

    def example_output_mapper(self, evaluation_override: EvaluationOverride) -> Text:  # noqa: ARG002
        """The output of an override for the prompt; needed if `num_overrides` is not 0; sync or async."""
        return None

    def _examples_shown(self) -> list[EvaluationOverride]:
        """The overrides to show.

        Raises:
            InvalidSuite: `num_overrides` is set, and there is no `example_output_mapper`.
            StoreError: they cannot be read.
        """
        if self.num_overrides and type(self).example_output_mapper is AsksModel.example_output_mapper:
            raise InvalidSuite(
                f"num_overrides of {type(self).__name__} is {self.num_overrides}, and it has no example_output_mapper",
                advice="Implement example_output_mapper(evaluation_override) -> str, or leave num_overrides at 0.",
            )
        return self._recent_overrides


def model_name(evaluator: AsksModel[Any, Any]) -> str:
    """The model's name in reports: OpenAI's by name alone, others as "provider/name"."""
    from scoregate.models.openai_model import name_of

    return name_of(evaluator.model)


def prompt_version(evaluator: AsksModel[Any, Any]) -> str:
    """A digest of the question without the case: template, criteria, examples."""
    template = system_prompt_version() if evaluator._template is None else evaluator._template.version
    overrides: list[EvaluationOverride] = []
    with suppress(StoreError):  # every case that needs them reports the error
        overrides = evaluator._recent_overrides
    return digest_texts(template, *evaluator._prompt_parts(), *map(repr, overrides))


def make_question(
    template: Template,
    blocks: Mapping[str, Text],
    *,
    examples: Sequence[Mapping[str, Text]] = (),
    criteria: str | None = None,
) -> str | Awaitable[str]:
    """Render a question from the results of mappers: at once, or as an awaitable if a mapper is async.

    Args:
        template: the question.
        blocks: what is graded, by name.
        examples: blocks as well; an example without an output is left out, and so are duplicates.
        criteria: the criteria of the evaluator.

    Raises:
        MissingExtra: jinja2 is not installed.
        TypeError: a mapper returned no string.
    """

    def render(known: Sequence[Mapping[str, Any]]) -> str:
        complete = [each for each in known[1:] if each["output"]]
        shown = [{name: text for name, text in each.items() if text is not None} for each in complete]
        unique = [each for index, each in enumerate(shown) if each not in shown[:index]]
        return render_question(template, known[0], examples=unique, values={"criteria": criteria})

    async def render_later() -> str:
        return render([{name: await resolve(text) for name, text in table.items()} for table in tables])

    tables = (blocks, *examples)
    is_async = any(isawaitable(text) for table in tables for text in table.values())
    return render_later() if is_async else render(tables)
