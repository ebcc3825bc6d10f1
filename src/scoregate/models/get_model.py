"""From a name, or from nothing, to a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scoregate.models.account import surroundings_here
from scoregate.models.model import Model
from scoregate.models.openai_model import OpenAIModel
from scoregate.models.providers import DEFAULT, split, target_of


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
