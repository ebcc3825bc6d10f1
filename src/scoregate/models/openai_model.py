"""A model behind OpenAI's chat completions, wherever they are spoken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scoregate.core.evaluation import Usage
from scoregate.core.usage import sum_usage
from scoregate.errors import MalformedAnswer
from scoregate.models.ask import ask
from scoregate.models.budget import surroundings_here
from scoregate.models.calls import ASYNC, SYNC, Answer, Mode, Steps, a_run, run
from scoregate.models.errors import explained
from scoregate.models.model import Generation, Model, Prompt
from scoregate.models.providers import DEFAULT, split, target_of
from scoregate.models.requests import Request, call_of
from scoregate.models.structured_output import generation_of

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
    usage = sum_usage((answer.usage or Usage(), made.usage)) or made.usage
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


def get_model(
    name: str | Model | None = None,
    *,
    default: str = DEFAULT,
    base_url: str | None = None,
    api_key: str | None = None,
    headers: Mapping[str, str] | None = None,
    timeout_s: float = 120.0,
    **parameters: Any,
) -> Model:
    """A model that can be asked; nothing is asked yet, and no key is needed yet.

    Args:
        name: "provider/name", or a name of OpenAI's; a `Model` is given back as it is. None is the project's: the
            setting `model`, else `default`.
        default: what is documented as the default where this is called from; the setting `model` replaces it.
        base_url, api_key, headers: instead of the provider's own, and of what the environment says.
        timeout_s: seconds that one attempt may take.
        parameters: what every request is to hold, such as `max_tokens`.

    Raises:
        ModelError: the name names nothing.
    """
    if name is not None and not isinstance(name, str):
        return name
    around = surroundings_here()
    chosen = name or around.model or default
    target = target_of(chosen, base_url=base_url, api_key=api_key, headers=headers, timeout_s=timeout_s, around=around)
    return OpenAIModel(target, parameters)


def name_of(model: str | Model | None, *, default: str = DEFAULT) -> str:
    """What reports call the model that `get_model` gives: OpenAI's by their names alone, others as "provider/name".

    Raises:
        ModelError: the name names nothing.
    """
    given = model or surroundings_here().model or default
    provider, name = split(given if isinstance(given, str) else given.name)
    return name if provider == "openai" else f"{provider}/{name}"
