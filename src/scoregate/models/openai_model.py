"""A model behind OpenAI's chat completions, wherever they are spoken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scoregate.core.evaluation import Usage
from scoregate.core.metering import total
from scoregate.errors import MalformedAnswer
from scoregate.models.answers import generation_of
from scoregate.models.asking import ask
from scoregate.models.calls import Answer
from scoregate.models.failures import explained
from scoregate.models.model import Generation, Prompt
from scoregate.models.requests import Request, call_of
from scoregate.models.steps import ASYNC, SYNC, Mode, Steps, a_run, run

if TYPE_CHECKING:
    from pydantic import BaseModel

    from scoregate.models.providers import Target


class OpenAIModel:
    """A `Model` at a target; `parameters` go into every request."""

    def __init__(self, target: Target, parameters: Mapping[str, Any]) -> None:
        self.target = target
        self.parameters = dict(parameters)

    @property
    def name(self) -> str:
        """ "provider/name"."""
        return self.target.name

    def __repr__(self) -> str:
        return f"get_model({self.name!r})"

    async def a_generate(
        self,
        prompt: Prompt,
        *,
        schema: type[BaseModel] | None = None,
        temperature: float | None = None,
        **parameters: Any,
    ) -> Generation:
        """As `Model.a_generate`."""
        request = self._request(prompt, schema, temperature, parameters)
        return await a_run(_generation(request, ASYNC))

    def generate(
        self,
        prompt: Prompt,
        *,
        schema: type[BaseModel] | None = None,
        temperature: float | None = None,
        **parameters: Any,
    ) -> Generation:
        """As `Model.generate`."""
        return run(_generation(self._request(prompt, schema, temperature, parameters), SYNC))

    def _request(
        self, prompt: Prompt, schema: type[BaseModel] | None, temperature: float | None, parameters: Mapping[str, Any]
    ) -> Request:
        messages = ({"role": "user", "content": prompt},) if isinstance(prompt, str) else tuple(prompt)
        given = {} if temperature is None else {"temperature": temperature}
        return Request(self.target, messages, {**self.parameters, **parameters, **given}, schema)


def _generation(request: Request, mode: Mode) -> Steps[Generation]:
    """The answer; a malformed one may be repaired once."""
    answer = yield from _answer(request, mode)
    try:
        return generation_of(answer, request.schema)
    except MalformedAnswer as malformed:
        if (second := request.repaired(answer, malformed.message)) is None:
            raise
    repaired = yield from _answer(second, mode)
    made = generation_of(repaired, request.schema)
    usage = total((answer.usage or Usage(), made.usage)) or made.usage
    return replace(made, usage=usage, cached=usage.cached)


def _answer(request: Request, mode: Mode) -> Steps[Answer]:
    target = request.target
    try:
        return (yield from ask(call_of(request, mode), mode))
    except Exception as error:
        told = explained(error, provider=target.provider, model=target.model, keys=target.keys)
        if told is error:
            raise
        raise told from None
