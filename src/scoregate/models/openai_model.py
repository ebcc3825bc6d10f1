"""Models with OpenAI's chat completions API, of any provider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scoregate.errors import MalformedAnswer, ModelError
from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.usage import sum_usage
from scoregate.models.ask import ask
from scoregate.models.budget import current_model_settings
from scoregate.models.calls import ASYNC, SYNC, Answer, Mode, Steps, run_steps, run_steps_async
from scoregate.models.errors import convert_error
from scoregate.models.model import Generation, Model, Prompt
from scoregate.models.providers import (
    DEFAULT,
    PROVIDERS,
    resolve_target,
    split_project_name,
    unknown_provider_error,
)
from scoregate.models.requests import Request, Sender
from scoregate.models.structured_output import build_generation

if TYPE_CHECKING:
    from pydantic import BaseModel

    from scoregate.models.providers import ModelTarget


class OpenAIModel:
    """A `Model` at a target; `parameters` are sent with every request."""

    def __init__(self, target: ModelTarget, parameters: Mapping[str, Any]) -> None:
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
        """Answer a prompt, see `Model.a_generate`."""
        request = self._request(prompt, schema, temperature, parameters)
        return await run_steps_async(_generation(request, ASYNC))

    def generate(
        self,
        prompt: Prompt,
        *,
        schema: type[BaseModel] | None = None,
        temperature: float | None = None,
        **parameters: Any,
    ) -> Generation:
        """Answer a prompt, see `Model.generate`."""
        return run_steps(_generation(self._request(prompt, schema, temperature, parameters), SYNC))

    def _request(
        self, prompt: Prompt, schema: type[BaseModel] | None, temperature: float | None, parameters: Mapping[str, Any]
    ) -> Request:
        messages = ({"role": "user", "content": prompt},) if isinstance(prompt, str) else tuple(prompt)
        temperatures = {} if temperature is None else {"temperature": temperature}
        return Request(self.target, messages, {**self.parameters, **parameters, **temperatures}, schema)


def _generation(request: Request, mode: Mode) -> Steps[Generation]:
    """Return the answer; the model is asked once to repair a malformed answer."""
    sender = Sender(request)
    answer = yield from _answer(sender, mode)
    try:
        return build_generation(answer, request.schema)
    except MalformedAnswer as malformed:
        sender.learn(answer)
        if (repair_request := request.build_repair(answer, malformed.message)) is None:
            raise
    repair_sender = Sender(repair_request)
    repaired = yield from _answer(repair_sender, mode)
    try:
        generation = build_generation(repaired, request.schema)
    except MalformedAnswer:
        repair_sender.learn(repaired)
        raise
    # The malformed answer is paid for, too.
    usage = sum_usage((answer.usage or Usage(), generation.usage)) or generation.usage
    return replace(generation, usage=usage, cached=usage.cached)


def _answer(sender: Sender, mode: Mode) -> Steps[Answer]:
    target = sender.request.target
    try:
        return (yield from ask(sender.build_call(mode), mode))
    except Exception as error:
        converted = convert_error(error, provider=target.provider, model=target.model, keys=target.keys)
        if converted is error:
            raise
        raise converted from None


def get_model(
    name: str | Model | None = None,
    model_name: str | None = None,
    api_key: str | None = None,
    *,
    provider: str | None = None,
    default: str = DEFAULT,
    base_url: str | None = None,
    headers: Mapping[str, str] | None = None,
    timeout_s: float = 120.0,
    **parameters: Any,
) -> Model:
    """Create a model. Nothing is sent yet, and no key is needed yet.

    Args:
        name: "provider/name", or the name of an OpenAI model; a `Model` is returned unchanged. None for the project's
            model: the setting `model`, or else `default`. With `model_name`, the provider alone.
        model_name: the name of the model, if the provider is given apart.
        api_key: the key; None for that of the environment.
        provider: the provider, as in `get_model(provider="openai", model_name="gpt-4o")`.
        default: the default of the caller; the setting `model` replaces it.
        base_url: the address; None for that of the environment or the provider.
        headers: further headers of every request.
        timeout_s: the time limit of one attempt in seconds.
        parameters: further parameters of every request, such as `max_tokens`.

    Raises:
        ModelError: the name is invalid or names an unknown provider, or the address of the provider is unknown.
    """
    if name is not None and not isinstance(name, str):
        if model_name is not None or provider is not None:
            raise ModelError(f"get_model() takes a model or names, not both: {name!r:.60}")
        return name
    settings = current_model_settings()
    wanted = join_names(name, provider=provider, model_name=model_name) or settings.model or default
    target = resolve_target(
        wanted, base_url=base_url, api_key=api_key, headers=headers, timeout_s=timeout_s, settings=settings
    )
    return OpenAIModel(target, parameters)


def join_names(name: str | None, *, provider: str | None, model_name: str | None) -> str | None:
    """The name of a model from the arguments of `get_model`; None if none is given.

    Raises:
        ModelError: they contradict each other, or there is no such provider.
    """
    if name is not None and provider is not None:
        raise ModelError(f"get_model() takes one provider, not {name!r:.60} and {provider!r:.60}")
    if model_name is None:
        if provider is not None and "/" not in provider and provider not in PROVIDERS:
            raise unknown_provider_error(provider, f"{provider}/")
        return name or provider
    given = name or provider
    if given is None:
        return model_name
    if given not in PROVIDERS:
        raise unknown_provider_error(given, f"{given}/{model_name}")
    return f"{given}/{model_name}"


def name_of(model: str | Model | None, *, default: str = DEFAULT) -> str:
    """Return the name of a model in reports: a bare name for OpenAI's models, otherwise "provider/name".

    Args:
        model: the name or the model, as for `get_model`.
        default: the default of the caller.

    Raises:
        ModelError: the name is invalid.
    """
    if model is not None and not isinstance(model, str):
        return model.name.removeprefix("openai/")
    settings = current_model_settings()
    used_model = model or settings.model or default
    provider, name = split_project_name(used_model, settings)
    return name if provider == "openai" else f"{provider}/{name}"
