"""Providers behind the gateway: their addresses, keys, and the calls that are forwarded."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from urllib.parse import unquote, urlsplit

from scoregate.errors import SettingsError
from scoregate.features.gateway.declare import GatewayProviderSettings
from scoregate.kernel.types.records import record
from scoregate.models.providers import PROVIDERS

_ID = r"[\w.:@%~-]{1,200}"
_OPENAI_POST = (
    "chat/completions|completions|responses|embeddings|moderations|"
    "images/(?:generations|edits|variations)|audio/(?:speech|transcriptions|translations)"
)
# A provider could resolve them to another path.
_DOTS = re.compile(r"(?:^|[/\\])\.{1,2}(?:[/\\]|$)|[\x00-\x1f\x7f]")
_OPENAI_GET = rf"models(?:/{_ID}){{0,2}}"


@record
class Api:
    """The calls that are forwarded to a kind of provider, and how it takes the key.

    Attributes:
        post: matches the path of a POST request, without its first slash.
        get: the same for GET.
        key_header: the header of the key.
        mount: the part of the gateway's path that the provider's address already contains.
    """

    post: re.Pattern[str]
    get: re.Pattern[str]
    key_header: str = "authorization"
    mount: str = ""

    def allows(self, method: str, path: str) -> bool:
        """Whether a call is forwarded."""
        pattern = {"POST": self.post, "GET": self.get}.get(method)
        return pattern is not None and pattern.fullmatch(path) is not None and not _DOTS.search(unquote(path))


OPENAI = Api(re.compile(_OPENAI_POST), re.compile(_OPENAI_GET), mount="/v1")
_APIS: Mapping[str, Api] = {
    "anthropic": Api(
        re.compile(r"v1/(?:messages|messages/count_tokens|chat/completions)"),
        re.compile(rf"v1/models(?:/{_ID})?"),
        "x-api-key",
    ),
    "gemini": Api(
        re.compile(
            rf"v1(?:alpha|beta)?/models/{_ID}:(?:generateContent|streamGenerateContent|embedContent|batchEmbedContents"
            rf"|countTokens)|v1beta/openai/(?:{_OPENAI_POST})"
        ),
        re.compile(rf"v1(?:alpha|beta)?/models(?:/{_ID})?|v1beta/openai/{_OPENAI_GET}"),
        "x-goog-api-key",
    ),
    "azure": Api(
        re.compile(rf"openai/(?:deployments/{_ID}/)?(?:v1/)?(?:{_OPENAI_POST})"),
        re.compile(rf"openai/(?:v1/)?{_OPENAI_GET}"),
        "api-key",
    ),
}
# The variables by which clients find an address, and the path below the provider's prefix that they expect there.
_ADDRESSES: Mapping[str, Mapping[str, str]] = {
    "openai": {"OPENAI_BASE_URL": "/v1", "OPENAI_API_BASE": "/v1"},
    "anthropic": {"ANTHROPIC_BASE_URL": "", "ANTHROPIC_API_BASE": ""},
    "gemini": {"GOOGLE_GEMINI_BASE_URL": "", "GEMINI_API_BASE": "/v1beta", "GEMINI_BASE_URL": "/v1beta/openai"},
    "azure": {"AZURE_OPENAI_ENDPOINT": "", "AZURE_API_BASE": "", "AZURE_OPENAI_BASE_URL": "/openai"},
    "mistral": {"MISTRAL_BASE_URL": "/v1", "MISTRAL_API_BASE": "/v1"},
}
_ROOTS = {
    "anthropic": "https://api.anthropic.com",
    "gemini": "https://generativelanguage.googleapis.com",
}
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,40}")


@record
class GatewayProvider:
    """A provider that the gateway forwards calls to.

    Attributes:
        name: the first part of its paths at the gateway, and its name for prices.
        base_url: the address that replaces `api.mount`, without a slash at the end.
        api: the calls that are forwarded.
        key: the key; empty if it needs none, or if answers are only replayed.
        key_variables: the variables in which clients look for a key.
        url_variables: the variables in which clients look for the address, with the path that each expects.
        missing_key: the variable of the key, if it is not set; then calls are refused. Empty otherwise.
    """

    name: str
    base_url: str
    api: Api = OPENAI
    key: str = field(default="", repr=False)
    key_variables: tuple[str, ...] = ()
    url_variables: Mapping[str, str] = field(default_factory=dict)
    missing_key: str = ""

    @property
    def host(self) -> str:
        """The host of the address, for messages."""
        return urlsplit(self.base_url).netloc

    def key_headers(self) -> dict[str, str]:
        """The headers with the key."""
        if not self.key:
            return {}
        bearer = self.api.key_header == "authorization"
        return {self.api.key_header: f"Bearer {self.key}" if bearer else self.key}


def find_providers(
    environ: Mapping[str, str],
    custom: Mapping[str, GatewayProviderSettings],
    *,
    replays: bool = False,
    project_provider: str = "",
) -> dict[str, GatewayProvider]:
    """Find the providers that suites can use.

    These are the providers with a key, those without need of one whose address is set, and all of the settings.

    Args:
        environ: the host's environment, with the keys.
        custom: the providers of the settings.
        replays: whether answers are only replayed; then no provider needs a key.
        project_provider: the provider of the project's model, which is among them if it needs no key.

    Raises:
        SettingsError: a provider of the settings has an invalid name or address, or the name of another provider.
    """
    providers = {}
    for name, known in PROVIDERS.items():
        variables = _ADDRESSES.get(name, {known.url: "/v1"})
        key = next((environ[variable] for variable in known.keys if environ.get(variable)), "")
        address = next((environ[variable] for variable in variables if environ.get(variable)), "")
        # A replay asks no provider, but needs an address: `.invalid` never resolves.
        address = address or _ROOTS.get(name) or known.base_url or ("https://replayed.invalid" if replays else "")
        is_served = (
            bool(key)
            or replays
            or (not known.keys and address != known.base_url)
            or (not known.keys and name == project_provider)
        )
        if not address or not is_served:
            continue
        api = _APIS.get(name, OPENAI)
        base_url = check_address(address, f"the address of {name}").rstrip("/")
        if not api.mount:
            # Users name the address with or without the version, which is in the path of each call.
            base_url = re.sub(r"/(?:v1|v1beta|v1beta/openai|openai)$", "", base_url)
        providers[name] = GatewayProvider(name, base_url, api, key, known.keys, variables)
    for name, settings in custom.items():
        variable = _name_variable(name, custom)
        address = check_address(settings.base_url, f"gateway.providers.{name}.base_url").rstrip("/")
        key = environ.get(settings.key_env, "") if settings.key_env else ""
        keys = (settings.key_env,) if settings.key_env else ()
        missing = settings.key_env or "" if not key and not replays else ""
        providers[name] = GatewayProvider(name, address, OPENAI, key, keys, {variable: "/v1"}, missing)
    return providers


def _name_variable(name: str, custom: Mapping[str, GatewayProviderSettings]) -> str:
    """The variable with the address of a provider of the settings.

    Raises:
        SettingsError: the name is invalid, or belongs to another provider.
    """
    if not _NAME.fullmatch(name):
        raise SettingsError(
            f"[gateway.providers] has an invalid name: {name!r:.60}",
            advice="Use small letters, digits, hyphens and underscores.",
        )
    if name in PROVIDERS:
        variable = next(iter(_ADDRESSES.get(name, {PROVIDERS[name].url: ""})))
        raise SettingsError(
            f"[gateway.providers.{name}]: the gateway knows {name} already",
            advice=f"Set its address in the variable {variable}, or use another name.",
        )
    variable = _make_variable(name)
    known = {each for known in _ADDRESSES.values() for each in known} | {each.url for each in PROVIDERS.values()}
    others = [other for other in custom if other != name and _make_variable(other) == variable]
    if others or name == "model" or variable in {*known, "SCOREGATE_MODEL_BASE_URL"}:
        owner = f"[gateway.providers.{others[0]}]" if others else "another provider"
        raise SettingsError(
            f"[gateway.providers.{name}]: its name, or its variable {variable}, is that of {owner}",
            advice="Use another name.",
        )
    return variable


def _make_variable(name: str) -> str:
    return f"{name.upper().replace('-', '_')}_BASE_URL"


def check_address(address: str, source: str) -> str:
    """Check an address of a provider: HTTPS, or HTTP to this machine.

    Raises:
        SettingsError: it is none.
    """
    try:
        parts = urlsplit(address)
        is_valid = bool(parts.hostname) and parts.port != 0 and not parts.username and not parts.query
    except ValueError:
        is_valid = False
    if not is_valid or parts.scheme not in ("http", "https"):
        raise SettingsError(
            f"{source} is not an address: {address!r:.200}", advice="It must look like https://HOST/v1."
        )
    return address
