"""The interface of a model: it answers a prompt with text or an instance of a schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from scoregate.kernel.types.evaluation import Usage

if TYPE_CHECKING:
    from pydantic import BaseModel

Message: TypeAlias = Mapping[str, Any]
Prompt: TypeAlias = str | Sequence[Message]


@dataclass(frozen=True, slots=True)
class Generation:
    """An answer.

    Attributes:
        text: the text of the answer.
        parsed: an instance of the requested schema; None without a schema.
        usage: tokens, and the cost in US dollars.
        model: the name of the model that the server reported.
        cached: whether the answer was read from the cache and cost nothing.
        finish_reason: why the model stopped, as the server reported it.
        message: the message as the server sent it, with its tool calls.
    """

    text: str
    parsed: Any = None
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    cached: bool = False
    finish_reason: str | None = None
    message: Mapping[str, Any] = field(default_factory=dict)


@runtime_checkable
class Model(Protocol):
    """A model that answers prompts."""

    @property
    def name(self) -> str:
        """The name in records: "provider/name"."""
        ...

    async def a_generate(
        self,
        prompt: Prompt,
        *,
        schema: type[BaseModel] | None = None,
        temperature: float | None = None,
        **parameters: Any,
    ) -> Generation:
        """Answer a prompt.

        Args:
            prompt: a message of the user, or a list of messages: `{"role": …, "content": …}`.
            schema: the answer must be an instance of this class.
            temperature: None leaves it to the server. It is not sent to a model that does not support it.
            parameters: further parameters of the request, such as `max_tokens`.

        Raises:
            ModelError: there is no usable answer; the class and the advice of the error give the reason.
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
        """Do the same as `a_generate`, in this thread."""
        ...
