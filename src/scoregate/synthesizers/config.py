"""What tests are to be about: in the words of whoever wants them, and by names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, field_validator, model_validator

_NAMES = ("behaviors", "categories", "topics")


class GenerationConfig(BaseModel):
    """What tests are generated from.

    `generation_prompt` says what is wanted. Of `behaviors` (also given as `requirements`), `categories` and `topics`
    that are not empty, tests have these exact values only. `additional_context` is data that the model may draw on.

    Raises:
        ValueError: nothing says what is wanted, or a name is empty.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    generation_prompt: str = ""
    behaviors: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    additional_context: str = ""

    @model_validator(mode="before")
    @classmethod
    def _other_names(cls, data: Any) -> Any:
        if not isinstance(data, dict) or "requirements" not in data:
            return data
        fields = dict(data)
        fields["behaviors"] = one_of_two(fields.get("behaviors"), fields.pop("requirements"))
        return fields

    @field_validator(*_NAMES, mode="before")
    @classmethod
    def _each_once(cls, names: Any) -> Any:
        return names if isinstance(names, str) else tuple(cleaned(names))

    @model_validator(mode="after")
    def _wants_something(self) -> GenerationConfig:
        if not self.generation_prompt.strip() and not any(getattr(self, name) for name in _NAMES):
            raise ValueError("say what tests are wanted: generation_prompt is empty, and nothing else says it")
        return self


def one_of_two(behaviors: Sequence[str] | None, requirements: Sequence[str] | None) -> Sequence[str]:
    """The behaviors, by whichever name they were given.

    Raises:
        ValueError: both were, and they differ.
    """
    if behaviors and requirements and list(behaviors) != list(requirements):
        raise ValueError("behaviors and requirements are one argument, and say different things")
    return behaviors or requirements or ()


def cleaned(names: Iterable[str] | None) -> list[str]:
    """Names without spaces around them, each once, in their order.

    Raises:
        ValueError: one is empty, or no text.
    """
    found = list(names or ())
    if bad := [name for name in found if not isinstance(name, str) or not name.strip()]:
        raise ValueError(f"a name must be some text, not {bad[0]!r:.60}")
    return list(dict.fromkeys(" ".join(name.split()) for name in found))
