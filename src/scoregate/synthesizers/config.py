"""The configuration of a generation: a description and allowed labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, field_validator, model_validator

from scoregate.enums import TestType

_LABEL_FIELDS = ("behaviors", "categories", "topics")


class GenerationConfig(BaseModel):
    """The configuration of a generation.

    `generation_prompt` describes the tests. If `behaviors` (or `requirements`), `categories` or `topics` are not empty,
    tests have only these values. `additional_context` is data for the model.

    Raises:
        ValueError: the configuration is empty, or a label is empty.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    generation_prompt: str = ""
    behaviors: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    additional_context: str = ""

    @model_validator(mode="before")
    @classmethod
    def _merge_requirements(cls, data: Any) -> Any:
        if not isinstance(data, dict) or "requirements" not in data:
            return data
        fields = dict(data)
        fields["behaviors"] = merge_requirements(fields.get("behaviors"), fields.pop("requirements"))
        return fields

    @field_validator(*_LABEL_FIELDS, mode="before")
    @classmethod
    def _clean_labels(cls, names: Any) -> Any:
        return names if isinstance(names, str) else tuple(clean_names(names))

    @model_validator(mode="after")
    def _check_content(self) -> GenerationConfig:
        if not self.generation_prompt.strip() and not any(getattr(self, name) for name in _LABEL_FIELDS):
            raise ValueError(
                "generation_prompt, behaviors, categories and topics are empty; describe the tests in one of them"
            )
        return self


def merge_requirements(behaviors: Sequence[str] | None, requirements: Sequence[str] | None) -> Sequence[str]:
    """The behaviors, under either name.

    Raises:
        ValueError: both are given and differ.
    """
    if behaviors and requirements and list(behaviors) != list(requirements):
        raise ValueError("behaviors and requirements are one argument, and say different things")
    return behaviors or requirements or ()


def clean_names(names: Iterable[str] | None) -> list[str]:
    """Unique names in order, without surrounding space.

    Raises:
        ValueError: a name is empty or no text.
    """
    cleaned = list(names or ())
    if bad := [name for name in cleaned if not isinstance(name, str) or not name.strip()]:
        raise ValueError(f"a name must be some text, not {bad[0]!r:.60}")
    return list(dict.fromkeys(" ".join(name.split()) for name in cleaned))


@dataclass(frozen=True, slots=True)
class Brief:
    """A configuration with the name of its synthesizer (`maker`) and the type of all tests (`kind`)."""

    maker: str
    kind: TestType
    config: GenerationConfig

    @property
    def names(self) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """The allowed behaviors, categories and topics; empty if the model chooses them."""
        return self.config.behaviors, self.config.categories, self.config.topics
