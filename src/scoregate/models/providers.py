"""Who speaks OpenAI's protocol, and where: from a name to an address with its key and headers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from scoregate.errors import ModelError
from scoregate.models.settings import ModelSettings, surroundings

DEFAULT = "gpt-4o"


@dataclass(frozen=True, slots=True)
class Provider:
    """`base_url` is its address, None where everybody has another; `url` is the variable that replaces it.

    `keys` are the variables that may hold the key; there is none where none is needed.
    """

    base_url: str | None
    url: str
    keys: tuple[str, ...] = ()


PROVIDERS: Mapping[str, Provider] = {
    "openai": Provider("https://api.openai.com/v1", "OPENAI_BASE_URL", ("OPENAI_API_KEY",)),
    "azure": Provider(None, "AZURE_OPENAI_ENDPOINT", ("AZURE_OPENAI_API_KEY", "AZURE_API_KEY")),
    "ollama": Provider("http://localhost:11434/v1", "OLLAMA_BASE_URL"),
    "vllm": Provider("http://localhost:8000/v1", "VLLM_BASE_URL"),
    "lmstudio": Provider("http://localhost:1234/v1", "LMSTUDIO_BASE_URL"),
    "litellm": Provider("http://localhost:4000/v1", "LITELLM_BASE_URL"),
    "openrouter": Provider("https://openrouter.ai/api/v1", "OPENROUTER_BASE_URL", ("OPENROUTER_API_KEY",)),
    "anthropic": Provider("https://api.anthropic.com/v1", "ANTHROPIC_BASE_URL", ("ANTHROPIC_API_KEY",)),
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
class Target:
    """A model at an address. `key` is None where one is needed and none was found; `keys` were looked at for it."""

    provider: str
    model: str
    base_url: str
    key: str | None = field(default=None, repr=False)
    keys: tuple[str, ...] = ()
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    query: tuple[tuple[str, str], ...] = ()
    timeout_s: float = 120.0

    @property
    def place(self) -> tuple[object, ...]:
        """What a client for it depends on; that is not the model."""
        return (self.base_url, self.key, self.headers, self.query, self.timeout_s)

    @property
    def name(self) -> str:
        """As it stands in records: "provider/name"."""
        return f"{self.provider}/{self.model}"


def target_of(
    name: str,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    headers: Mapping[str, str] | None = None,
    timeout_s: float = 120.0,
    around: ModelSettings | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Target:
    """The model of a name such as "openai/gpt-4o" or "gpt-4o".

    What is given here comes first, then the settings of the project's own provider, then the provider's variables.

    Args:
        around: what the environment says, where that is known already.

    Raises:
        ModelError: the name names nothing, or nobody has told the provider's address.
    """
    provider_name, model = split(name)
    provider, around = PROVIDERS[provider_name], around or surroundings(environ)
    is_projects = provider_name == split(around.model or DEFAULT)[0]
    url = base_url or (is_projects and around.base_url) or environ.get(provider.url) or provider.base_url
    if not url:
        raise ModelError(
            f"the address of the provider {provider_name!r} is not known",
            advice=f"Set {provider.url}, or pass base_url.",
        )
    key = api_key or (around.key if is_projects else None) or _first(provider.keys, environ)
    sent = {**(around.headers if is_projects else {}), **(headers or {})}
    target = Target(
        provider_name,
        model,
        url,
        key or (None if provider.keys else "none"),
        provider.keys,
        tuple(sorted(sent.items())),
        timeout_s=timeout_s,
    )
    return _azure(target, environ) if provider_name == "azure" else target


def split(name: str) -> tuple[str, str]:
    """Provider and name; what has no known provider before its first slash is a name of OpenAI's.

    Raises:
        ModelError: the name is empty.
    """
    provider, slash, model = name.partition("/")
    found = (provider, model) if slash and provider in PROVIDERS else ("openai", name)
    if not found[1].strip():
        raise ModelError(f"{name!r} names no model", advice='Write "provider/name", such as "openai/gpt-6-luna".')
    return found


def _azure(target: Target, environ: Mapping[str, str]) -> Target:
    """Azure's resource: its v1 API, or where a version is named the older one with an address for each deployment."""
    if urlsplit(target.base_url).path.strip("/"):
        return target
    from dataclasses import replace

    root = f"{target.base_url.rstrip('/')}/openai"
    version = _first(("AZURE_OPENAI_API_VERSION", "OPENAI_API_VERSION"), environ)
    headers = (*target.headers, ("api-key", target.key or ""))
    if version is None:
        return replace(target, base_url=f"{root}/v1", headers=headers)
    url = f"{root}/deployments/{target.model}"
    return replace(target, base_url=url, headers=headers, query=(("api-version", version),))


def _first(names: Iterable[str], environ: Mapping[str, str]) -> str | None:
    return next((environ[name] for name in names if environ.get(name)), None)
