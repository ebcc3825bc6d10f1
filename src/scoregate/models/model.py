"""What a model is to the rest of us: something that answers, as text or as an object of a schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from scoregate.core.evaluation import Usage

if TYPE_CHECKING:
    from pydantic import BaseModel

Message: TypeAlias = Mapping[str, Any]
Prompt: TypeAlias = str | Sequence[Message]


@dataclass(frozen=True, slots=True)
class Generation:
    """An answer.

    `parsed` is an instance of the schema that was asked for, else None. `usage` is what it took, in tokens and
    dollars; `cached` says that it was read from the cache and took nothing. `model` is the name the server gave.
    """

    text: str
    parsed: Any = None
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    cached: bool = False
    finish_reason: str | None = None


@runtime_checkable
class Model(Protocol):
    """A model that can be asked; `name` is "provider/name"."""

    @property
    def name(self) -> str:
        """What it is called in records."""
        ...

    async def a_generate(
        self,
        prompt: Prompt,
        *,
        schema: type[BaseModel] | None = None,
        temperature: float | None = None,
        **parameters: Any,
    ) -> Generation:
        """Answer a question.

        Args:
            prompt: one message of a user, or all messages as the protocol has them: `{"role": …, "content": …}`.
            schema: what the answer must be an instance of.
            temperature: None leaves it to the server; where a model does not take one, none is sent.
            parameters: what else the request is to hold, such as `max_tokens`.

        Raises:
            ModelError: there is no answer that can be used; its class and its advice say why.
        """
        ...

    def generate(
        self,
        prompt: Prompt,
        *,
        schema: type[BaseModel] | None = None,
        temperature: float | None = None,
        **parameters: Any,
    ) -> Generation:
        """As `a_generate`, in this thread."""
        ...
