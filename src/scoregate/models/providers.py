"""Providers with OpenAI's API: find the address, key and headers for the name of a model."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from scoregate.errors import ModelError
from scoregate.models.settings import ModelSettings, load_model_settings

# The documents of the platform's API name it, so it stays for their classes until it retires.
DEFAULT = "gpt-4o"
SCORER_DEFAULT = "gpt-6-luna"  # of `judge` and the other scorers of `evaluate`
DEFAULTS = (DEFAULT, SCORER_DEFAULT)
_FINE_TUNED = "ft:"


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider.

    Attributes:
        base_url: the address; None if every customer has another one.
        url: the environment variable that replaces the address.
        keys: the environment variables that may contain the key; empty if no key is needed.
        ignores_response_format: whether its documentation has this limit; then a schema is sent as a tool.
    """

    base_url: str | None
    url: str
    keys: tuple[str, ...] = ()
    ignores_response_format: bool = False


PROVIDERS: Mapping[str, Provider] = {
    "openai": Provider("https://api.openai.com/v1", "OPENAI_BASE_URL", ("OPENAI_API_KEY",)),
    "azure": Provider(None, "AZURE_OPENAI_ENDPOINT", ("AZURE_OPENAI_API_KEY", "AZURE_API_KEY")),
    "ollama": Provider("http://localhost:11434/v1", "OLLAMA_BASE_URL"),
    "vllm": Provider("http://localhost:8000/v1", "VLLM_BASE_URL"),
    "lmstudio": Provider("http://localhost:1234/v1", "LMSTUDIO_BASE_URL"),
    "litellm": Provider("http://localhost:4000/v1", "LITELLM_BASE_URL"),
    "openrouter": Provider("https://openrouter.ai/api/v1", "OPENROUTER_BASE_URL", ("OPENROUTER_API_KEY",)),
    "anthropic": Provider(
        "https://api.anthropic.com/v1", "ANTHROPIC_BASE_URL", ("ANTHROPIC_API_KEY",), ignores_response_format=True
    ),
    "gemini": Provider(
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "GEMINI_BASE_URL",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    ),
    "groq": Provider("https://api.groq.com/openai/v1", "GROQ_BASE_URL", ("GROQ_API_KEY",)),
    "mistral": Provider("https://api.mistral.ai/v1", "MISTRAL_BASE_URL", ("MISTRAL_API_KEY",)),
    "deepseek": Provider("https://api.deepseek.com/v1", "DEEPSEEK_BASE_URL", ("DEEPSEEK_API_KEY",)),
    "together": Provider("https://api.together.xyz/v1", "TOGETHER_BASE_URL", ("TOGETHER_API_KEY",)),
    "fireworks": Provider("https://api.fireworks.ai/inference/v1", "FIREWORKS_BASE_URL", ("FIREWORKS_API_KEY",)),
    "xai": Provider("https://api.x.ai/v1", "XAI_BASE_URL", ("XAI_API_KEY",)),
}


@dataclass(frozen=True, slots=True)
class ModelTarget:
    """A model at an address. `key` is None if no variable in `keys` contains one, although the provider needs it."""

    provider: str
    model: str
    base_url: str
    key: str | None = field(default=None, repr=False)
    keys: tuple[str, ...] = ()
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    query: tuple[tuple[str, str], ...] = ()
    timeout_s: float = 120.0

    @property
    def client_key(self) -> tuple[object, ...]:
        """Everything that the client depends on; this is all but the model."""
        return (self.base_url, self.key, self.headers, self.query, self.timeout_s)

    @property
    def name(self) -> str:
        """The name in records: "provider/name"."""
        return f"{self.provider}/{self.model}"


def resolve_target(
    name: str,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    headers: Mapping[str, str] | None = None,
    timeout_s: float = 120.0,
    settings: ModelSettings | None = None,
    environ: Mapping[str, str] = os.environ,
) -> ModelTarget:
    """Find the address and key for a name such as "openai/gpt-4o" or "gpt-4o".

    Arguments take precedence, then the settings for the project's provider, then the provider's variables.

    Args:
        name: the name of the model.
        base_url: the address; None for that of the settings, variables or provider.
        api_key: the key; None for that of the settings or variables.
        headers: further headers of every request.
        timeout_s: the time limit of one attempt in seconds.
        settings: the model settings; None to read them from `environ`.

    Raises:
        ModelError: the name is invalid, or the address of its provider is unknown.
    """
    settings = settings or load_model_settings(environ)
    if base_url is None:
        provider_name, model = split_project_name(name, settings, environ)
    else:
        provider_name, model = split_name(name, has_address=True)
    provider = PROVIDERS[provider_name]
    project_provider, _ = split_project_name(settings.model or DEFAULT, settings, environ)
    is_project_provider = provider_name == project_provider
    url = base_url or (is_project_provider and settings.base_url) or environ.get(provider.url) or provider.base_url
    if not url:
        raise ModelError(
            f"the address of the provider {provider_name!r} is not known",
            advice=f"Set {provider.url}, or pass base_url.",
        )
    key = api_key or (settings.key if is_project_provider else None) or _first_set(provider.keys, environ)
    all_headers = {**(settings.headers if is_project_provider else {}), **(headers or {})}
    target = ModelTarget(
        provider_name,
        model,
        url,
        key or (None if provider.keys else "none"),  # the package refuses an empty key
        provider.keys,
        tuple(sorted(all_headers.items())),
        timeout_s=timeout_s,
    )
    return _azure_target(target, environ) if provider_name == "azure" else target


def split_project_name(name: str, settings: ModelSettings, environ: Mapping[str, str] = os.environ) -> tuple[str, str]:
    """Split the name of a model whose address is that of the settings, variables or provider.

    If the settings or `OPENAI_BASE_URL` give an address, names such as "Qwen/Qwen3-8B" are models there: nothing is
    sent to another place than the one that the user chose.

    Raises:
        ModelError: as `split_name`.
    """
    if settings.base_url is None:
        return split_name(name, other_provider="openai" if environ.get(PROVIDERS["openai"].url) else None)
    project_provider, _ = split_name(settings.model or DEFAULT, has_address=True)
    return split_name(name, has_address=name == settings.model, other_provider=project_provider)


def split_name(name: str, *, has_address: bool = False, other_provider: str | None = None) -> tuple[str, str]:
    """Split a name into provider and model. A name without a provider is OpenAI's.

    Args:
        name: "provider/name", or the name of an OpenAI model.
        has_address: whether the address of this very model is given. Then nothing can be sent elsewhere, and the name
            may contain any slashes.
        other_provider: the provider of names whose prefix is not a provider, such as "Qwen/Qwen3-8B"; None if they
            are an error. Another spelling of a provider, such as "Ollama", and an address are always an error.

    Raises:
        ModelError: the name is empty, names a provider without a model, or an unknown provider.
    """
    provider, slash, model = name.partition("/")
    if slash and provider in PROVIDERS:
        is_named = bool(model.strip())
    else:
        is_named = bool(name.strip()) and (has_address or name not in PROVIDERS)
        is_openai = has_address or not slash or name.startswith(_FINE_TUNED)
        if ":" in name and not has_address and (colon := name.partition(":"))[0] in PROVIDERS:
            raise ModelError(
                f"{name!r:.200} has a colon between provider and model, so nothing was sent",
                advice=f'Write "{colon[0]}/{colon[2]:.200}".',
            )
        if not is_openai and (other_provider is None or provider.lower() in PROVIDERS or ":" in provider):
            raise unknown_provider_error(provider, name)
        provider, model = "openai" if is_openai or other_provider is None else other_provider, name
    if not is_named:
        raise ModelError(f"{name!r} names no model", advice='Write "provider/name", such as "openai/gpt-6-luna".')
    return provider, model


def unknown_provider_error(provider: str, name: str) -> ModelError:
    """The error for a model name whose provider has no known address."""
    return ModelError(
        f"the provider {provider!r:.60} of the model {name!r:.200} is not known, so nothing was sent",
        advice=f"Known are {', '.join(PROVIDERS)}. For another server with OpenAI's API, set "
        f'SCOREGATE_MODEL_BASE_URL, pass base_url, or write "vllm/{name:.200}" and set VLLM_BASE_URL.',
    )


def _azure_target(target: ModelTarget, environ: Mapping[str, str]) -> ModelTarget:
    """Use Azure's v1 API or, if a version is set, the older API with an address for each deployment."""
    if urlsplit(target.base_url).path.strip("/"):  # it names an API already
        return target
    from dataclasses import replace

    root = f"{target.base_url.rstrip('/')}/openai"
    version = _first_set(("AZURE_OPENAI_API_VERSION", "OPENAI_API_VERSION"), environ)
    headers = (*target.headers, ("api-key", target.key or ""))
    if version is None:
        return replace(target, base_url=f"{root}/v1", headers=headers)
    url = f"{root}/deployments/{target.model}"
    return replace(target, base_url=url, headers=headers, query=(("api-version", version),))


def _first_set(names: Iterable[str], environ: Mapping[str, str]) -> str | None:
    return next((environ[name] for name in names if environ.get(name)), None)
