"""Providers of the settings: their names, variables and keys."""

from __future__ import annotations

import pytest

from scoregate.errors import SettingsError
from scoregate.features.gateway.declare import GatewayProviderSettings
from scoregate.features.gateway.proxy import find_providers
from scoregate.models.providers import PROVIDERS

MINE = GatewayProviderSettings(base_url="https://models.example.com/v1", key_env="MY_KEY")


def refuse(*names: str) -> str:
    with pytest.raises(SettingsError) as exc_info:
        find_providers({"MY_KEY": "k"}, dict.fromkeys(names, MINE))
    return f"{exc_info.value} {exc_info.value.advice}"


def test_the_name_of_another_provider_is_refused() -> None:
    for name in PROVIDERS:
        assert f"[gateway.providers.{name}]: the gateway knows {name} already" in refuse(name)
    assert "Set its address in the variable OPENAI_BASE_URL, or use another name." in refuse("openai")
    assert "ANTHROPIC_BASE_URL" in refuse("anthropic")
    # Their variables would replace those of other providers, or of the project's model.
    for name, variable in (
        ("google-gemini", "GOOGLE_GEMINI_BASE_URL"),
        ("azure_openai", "AZURE_OPENAI_BASE_URL"),
        ("scoregate-model", "SCOREGATE_MODEL_BASE_URL"),
        ("model", "MODEL_BASE_URL"),
    ):
        assert f"its variable {variable}, is that of another provider" in refuse(name)
    assert "is that of [gateway.providers.my_models]" in refuse("my-models", "my_models")
    assert "invalid name" in refuse("My models")


def test_a_provider_without_a_key_gets_no_calls() -> None:
    provider = find_providers({}, {"mine": MINE})["mine"]
    assert (provider.key, provider.missing_key) == ("", "MY_KEY")
    assert provider.url_variables == {"MINE_BASE_URL": "/v1"}
    assert find_providers({"MY_KEY": "k"}, {"mine": MINE})["mine"].missing_key == ""
    assert find_providers({}, {"mine": MINE}, replays=True)["mine"].missing_key == ""
    local = GatewayProviderSettings(base_url="http://localhost:8000/v1")
    assert find_providers({}, {"mine": local})["mine"].missing_key == ""
