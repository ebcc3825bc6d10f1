"""What a task did for one case: its calls of models and its spans, for scorers that ask for `trace`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum
from typing import Any, NamedTuple

from scoregate.kernel.types.trace import Span


class Content(NamedTuple):
    """The content of an answer of a chat: its text, its reasoning, and the text of a refusal."""

    text: str = ""
    reasoning: str = ""
    refusal: str = ""


def read_content(content: Any) -> Content:
    """Read the content of an answer: a text, or a list of parts as reasoning models send it. Media are left out."""
    if isinstance(content, str):
        return Content(content)
    texts: dict[str, list[str]] = {name: [] for name in Content._fields}
    for part in content if isinstance(content, list) else ():
        if isinstance(part, str):
            texts["text"].append(part)
        elif isinstance(part, Mapping):
            kind = str(part.get("type") or "text")
            if kind in ("text", "output_text"):
                texts["text"].append(_to_text(part.get("text")))
            elif kind == "refusal":
                texts["refusal"].append(_to_text(part.get("refusal")))
            elif "thinking" in kind or "reasoning" in kind:
                names = ("thinking", "reasoning", "text", "summary")
                texts["reasoning"] += [_to_text(part.get(name)) for name in names]
    return Content(**{name: "".join(found) for name, found in texts.items()})


def _to_text(value: Any) -> str:
    return value if isinstance(value, str) else read_content(value).text


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call of a model.

    Attributes:
        model: the name of the model in the request.
        provider: the provider, such as "openai"; the host if no provider is known for it.
        messages: the messages of a chat; empty for other requests.
        request: the parameters of the request, with the messages or the input.
        response: the answer as the server sent it; empty for a stream, or after an error.
        input_tokens: the tokens of the request; 0 if the server reported none.
        output_tokens: the tokens of the answer; 0 if the server reported none.
        cost: US dollars; None if it is unknown.
        duration_s: how long the call took, with retries and waits for the rate limit, in seconds; for a stream, until
            it began.
        cached: whether the answer was read from the cache.
        error: the exception, as its type and its message; None without one.
    """

    model: str
    provider: str = ""
    messages: Sequence[Mapping[str, Any]] = ()
    request: Mapping[str, Any] = field(default_factory=dict)
    response: Mapping[str, Any] = field(default_factory=dict)
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    duration_s: float = 0.0
    cached: bool = False
    error: str | None = None

    @property
    def text(self) -> str:
        """The text of the first answer of a chat; empty if there is none."""
        return read_content(self._answer().get("content")).text

    @property
    def tool_calls(self) -> list[Mapping[str, Any]]:
        """The tools that the first answer of a chat calls, each with `name` and `arguments`."""
        calls = self._answer().get("tool_calls")
        items = calls if isinstance(calls, list) else ()
        functions = (call.get("function") for call in items if isinstance(call, Mapping))
        return [function for function in functions if isinstance(function, Mapping)]

    def _answer(self) -> Mapping[str, Any]:
        """The message of the first answer of a chat; empty if there is none."""
        choices = self.response.get("choices")
        first = choices[0] if isinstance(choices, list) and choices else None
        message = first.get("message") if isinstance(first, Mapping) else None
        return message if isinstance(message, Mapping) else {}


@dataclass(frozen=True, slots=True)
class TaskTrace:
    """What a task did for one case.

    Attributes:
        calls: the calls of models, in the order in which they ended: those of clients that `scoregate.models.wrap`
            wrapped, and of models of `scoregate.models.get_model`.
        spans: the steps that OpenTelemetry recorded, in the order of their start, with those of
            `scoregate.offline_tests.observe`; the first one is the task itself. Empty if opentelemetry-sdk is not
            installed.
    """

    calls: tuple[ModelCall, ...] = ()
    spans: tuple[Span, ...] = ()

    @property
    def input_tokens(self) -> int:
        """The input tokens of all calls."""
        return sum(call.input_tokens for call in self.calls)

    @property
    def output_tokens(self) -> int:
        """The output tokens of all calls."""
        return sum(call.output_tokens for call in self.calls)

    @property
    def cost(self) -> float | None:
        """The cost of all calls in US dollars; None if that of one is unknown."""
        costs = [call.cost for call in self.calls if call.cost is not None]
        return fsum(costs) if len(costs) == len(self.calls) else None

    @property
    def errors(self) -> tuple[str, ...]:
        """The errors of calls and spans."""
        messages = (*(call.error for call in self.calls), *(span.error for span in self.spans))
        return tuple(error for error in messages if error is not None)
