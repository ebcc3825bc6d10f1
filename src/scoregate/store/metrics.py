"""Stored metrics: a judge as prompt and numbers, or the name of a class or function."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import AliasChoices, AwareDatetime, Field, FiniteFloat, model_serializer, model_validator
from pydantic_core.core_schema import SerializerFunctionWrapHandler

from scoregate.store.kinds import Kind
from scoregate.store.toml import TOML, Document, Text

MetricKind = Literal["numeric", "categorical", "conversational", "goal", "behavior"]
_ARGUMENTS = "with"


class StoredMetric(Document):
    """A metric: either of a `kind`, or code that `use` names as "module:name". `with` has the arguments of a class.

    The classes of `scoregate.metrics` describe the other fields and the kinds that have them.
    """

    always_written: ClassVar[frozenset[str]] = frozenset({"kind"})

    name: Text = ""
    id: str = Field(default="", max_length=200)
    description: Text = ""
    kind: MetricKind | None = None
    use: Text | None = None
    arguments: dict[str, Any] = Field(default_factory=dict, validation_alias=AliasChoices(_ARGUMENTS, "arguments"))
    model: Text | None = None
    metric_type: Text = ""
    metric_scope: tuple[str, ...] = ()
    min_score: FiniteFloat | None = None
    max_score: FiniteFloat | None = None
    threshold: FiniteFloat | None = None
    threshold_operator: str | None = None
    categories: tuple[Text, ...] = ()
    passing_categories: tuple[Text, ...] = ()
    requires_ground_truth: bool | None = None
    requires_context: bool | None = None
    required_criteria: tuple[Text, ...] = ()
    prohibited_criteria: tuple[Text, ...] = ()
    created_at: AwareDatetime | None = None
    prompt: Text = Field(default="", validation_alias=AliasChoices("prompt", "evaluation_prompt"))
    steps: Text | None = Field(default=None, validation_alias=AliasChoices("steps", "evaluation_steps"))
    reasoning: Text | None = None
    examples: Text | None = Field(default=None, validation_alias=AliasChoices("examples", "evaluation_examples"))

    @property
    def title(self) -> str:
        """The name of the metric in messages."""
        return self.name or self.id or self.use or str(self.kind)

    @model_validator(mode="after")
    def _check_source(self) -> StoredMetric:
        if (self.kind is None) == (self.use is None):
            raise ValueError('a metric has either a kind or the code that it uses, as in use = "module:Class"')
        if self.arguments and self.use is None:
            raise ValueError("`with` needs `use`: it holds the arguments of that code")
        return self

    @model_serializer(mode="wrap")
    def _serialize_arguments(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {_ARGUMENTS if name == "arguments" else name: value for name, value in write(self).items()}


METRICS = Kind("metrics", StoredMetric, TOML, ("metric",))
