"""From names and the environment to addresses, keys, caches and prices."""

from __future__ import annotations

from pathlib import Path

import pytest

from scoregate.errors import ModelError, SettingsError
from scoregate.models.providers import PROVIDERS, resolve_target
from scoregate.models.settings import CacheMode, Price, load_model_settings


def test_a_bare_name_is_one_of_openais() -> None:
    target = resolve_target("gpt-4o", environ={"OPENAI_API_KEY": "k"})
    assert (target.name, target.base_url, target.key) == ("openai/gpt-4o", "https://api.openai.com/v1", "k")


def test_a_slash_that_names_no_provider_belongs_to_the_name() -> None:
    assert resolve_target("ft:gpt-4o/ours", environ={}).name == "openai/ft:gpt-4o/ours"
    assert resolve_target("openrouter/meta-llama/llama-4", environ={}).model == "meta-llama/llama-4"


@pytest.mark.parametrize("provider", sorted(PROVIDERS.keys() - {"azure"}))
def test_every_provider_has_an_address_that_a_variable_replaces(provider: str) -> None:
    assert resolve_target(f"{provider}/m", environ={}).base_url.startswith("http")
    assert resolve_target(f"{provider}/m", environ={PROVIDERS[provider].url: "http://x/v1"}).base_url == "http://x/v1"


def test_who_needs_no_key_has_one_that_is_none() -> None:
    assert resolve_target("ollama/llama3", environ={}).key == "none"
    assert resolve_target("openai/gpt-4o", environ={}).key is None


def test_the_projects_own_provider_may_be_elsewhere() -> None:
    environ = {
        "SCOREGATE_MODEL": "vllm/ours",
        "SCOREGATE_MODEL_BASE_URL": "http://gpu/v1",
        "SCOREGATE_MODEL_API_KEY": "k",
        "SCOREGATE_MODEL_HEADERS": '{"X-Team": "a"}',
    }
    ours, theirs = resolve_target("vllm/other", environ=environ), resolve_target("gpt-4o", environ=environ)
    assert (ours.base_url, ours.key, ours.headers) == ("http://gpu/v1", "k", (("X-Team", "a"),))
    assert (theirs.base_url, theirs.key, theirs.headers) == ("https://api.openai.com/v1", None, ())


def test_azures_resource_and_its_older_form() -> None:
    environ = {"AZURE_OPENAI_ENDPOINT": "https://r.openai.azure.com", "AZURE_OPENAI_API_KEY": "k"}
    assert resolve_target("azure/d", environ=environ).base_url == "https://r.openai.azure.com/openai/v1"
    old = resolve_target("azure/d", environ={**environ, "OPENAI_API_VERSION": "2024-10-21"})
    assert old.base_url == "https://r.openai.azure.com/openai/deployments/d"
    assert (old.query, dict(old.headers)["api-key"]) == ((("api-version", "2024-10-21"),), "k")
    with pytest.raises(ModelError, match="azure") as told:
        resolve_target("azure/d", environ={})
    assert "AZURE_OPENAI_ENDPOINT" in told.value.advice


@pytest.mark.parametrize("name", ["", " ", "openai/"])
def test_a_name_of_nothing(name: str) -> None:
    with pytest.raises(ModelError, match="names no model"):
        resolve_target(name, environ={})


def test_keys_are_not_shown() -> None:
    assert "sekret" not in repr(resolve_target("gpt-4o", api_key="sekret", headers={"a": "sekret"}, environ={}))


@pytest.mark.parametrize(
    ("text", "mode", "folder"),
    [
        ("", CacheMode.ON, ".scoregate-cache"),
        ("off", CacheMode.OFF, ".scoregate-cache"),
        ("readonly", CacheMode.READONLY, ".scoregate-cache"),
        ("refresh:c", CacheMode.REFRESH, "c"),
        ("evals/cache", CacheMode.ON, "evals/cache"),
    ],
)
def test_where_answers_are_kept(tmp_path: Path, text: str, mode: CacheMode, folder: str) -> None:
    settings = load_model_settings({"SCOREGATE_CACHE": text, "SCOREGATE_ROOT": str(tmp_path)})
    assert (settings.cache, settings.cache_folder) == (mode, tmp_path / folder)


def test_prices_and_budgets_come_by_variables() -> None:
    settings = load_model_settings(
        {"SCOREGATE_PRICES": '{"m*": {"input": 1, "output": 2}}', "SCOREGATE_MAX_COST": "2.5", "SCOREGATE_SPENT": "/s"}
    )
    assert settings.prices == {"m*": Price(1, 2)}
    assert (settings.max_cost, settings.max_tokens, settings.spent) == (2.5, None, Path("/s"))


@pytest.mark.parametrize(
    "environ",
    [
        {"SCOREGATE_PRICES": "no"},
        {"SCOREGATE_PRICES": '{"m": {"imput": 1}}'},
        {"SCOREGATE_MAX_COST": "much"},
        {"SCOREGATE_MODEL_HEADERS": "[1]"},
    ],
)
def test_what_cannot_be_read_names_its_variable(environ: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match=next(iter(environ))):
        load_model_settings(environ)
