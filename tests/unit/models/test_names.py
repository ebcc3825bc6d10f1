"""From names and the environment to addresses, keys, caches and prices."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from scoregate.errors import ModelError, SettingsError
from scoregate.models import get_model
from scoregate.models.openai_model import OpenAIModel, name_of
from scoregate.models.providers import PROVIDERS, resolve_target
from scoregate.models.settings import CacheMode, Price, load_model_settings


def test_a_bare_name_is_of_openai() -> None:
    target = resolve_target("gpt-4o", environ={"OPENAI_API_KEY": "k"})
    assert (target.name, target.base_url, target.key) == ("openai/gpt-4o", "https://api.openai.com/v1", "k")


def test_a_slash_without_a_provider_is_in_the_name() -> None:
    assert resolve_target("ft:gpt-4o/ours", environ={}).name == "openai/ft:gpt-4o/ours"
    assert resolve_target("openrouter/meta-llama/llama-4", environ={}).model == "meta-llama/llama-4"


def test_an_unknown_provider_without_an_address_is_an_error() -> None:
    names = ("my-local/llama", "Qwen/Qwen3-8B", "Ollama/llama3", "localhost:11434/llama", "/llama")
    for environ in ({}, {"OPENAI_API_KEY": "k"}, {"SCOREGATE_MODEL": "gpt-4o"}, {"VLLM_BASE_URL": "http://gpu/v1"}):
        for name in names:
            with pytest.raises(ModelError, match="is not known, so nothing was sent") as exc_info:
                resolve_target(name, environ=environ)
            assert "Known are openai, azure, ollama" in exc_info.value.advice
            assert "set SCOREGATE_MODEL_BASE_URL" in exc_info.value.advice


def test_an_address_allows_a_model_of_any_name(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu, proxy = "http://gpu/v1", "http://proxy/v1"
    environments: list[tuple[dict[str, str], str, str, str | None]] = [
        ({"OPENAI_BASE_URL": proxy, "OPENAI_API_KEY": "k"}, proxy, "openai", "k"),
        ({"SCOREGATE_MODEL_BASE_URL": gpu, "SCOREGATE_MODEL_API_KEY": "s"}, gpu, "openai", "s"),
        ({"SCOREGATE_MODEL_BASE_URL": gpu, "OPENAI_BASE_URL": proxy}, gpu, "openai", None),
        ({"SCOREGATE_MODEL": "meta-llama/other", "SCOREGATE_MODEL_BASE_URL": gpu}, gpu, "openai", None),
        ({"SCOREGATE_MODEL": "vllm/ours", "SCOREGATE_MODEL_BASE_URL": gpu, "OPENAI_API_KEY": "k"}, gpu, "vllm", "none"),
        ({"SCOREGATE_MODEL": "Qwen/other", "OPENAI_BASE_URL": proxy}, proxy, "openai", None),
    ]
    for environ, address, provider, key in environments:
        for name in ("my-local/llama", "Qwen/Qwen3-8B", "/models/llama"):
            target = resolve_target(name, environ=environ)
            assert (target.provider, target.model, target.base_url, target.key) == (provider, name, address, key)
        for name in ("Ollama/llama3", "localhost:11434/llama"):
            with pytest.raises(ModelError, match="is not known, so nothing was sent"):
                resolve_target(name, environ=environ)
        known = resolve_target("mistral/small", environ=environ)
        assert (known.base_url, known.key) == ("https://api.mistral.ai/v1", None), "a known provider is asked itself"
    monkeypatch.setenv("OPENAI_BASE_URL", proxy)
    assert get_model("Qwen/Qwen3-8B").name == "openai/Qwen/Qwen3-8B"
    assert name_of("Qwen/Qwen3-8B") == "Qwen/Qwen3-8B"


def test_a_provider_is_no_model() -> None:
    for name in PROVIDERS:
        with pytest.raises(ModelError, match="names no model"):
            resolve_target(name, environ={})


def test_a_model_with_an_address_can_have_any_name() -> None:
    environ = {"SCOREGATE_MODEL": "meta-llama/llama-4", "SCOREGATE_MODEL_BASE_URL": "http://gpu/v1"}
    targets = [
        resolve_target("meta-llama/llama-4", environ=environ),
        resolve_target("meta-llama/llama-4", base_url="http://gpu/v1", environ={}),
    ]
    for target in targets:
        assert (target.model, target.base_url) == ("meta-llama/llama-4", "http://gpu/v1")
    assert resolve_target("gpt-4o", environ=environ).base_url == "http://gpu/v1"
    assert resolve_target("mistral", base_url="http://gpu/v1", environ={}).model == "mistral"


def test_provider_and_name_can_be_separate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCOREGATE_MODEL", "vllm/ours")
    calls: list[tuple[tuple[Any, ...], dict[str, Any], str]] = [
        (("openai", "gpt-4o"), {}, "openai/gpt-4o"),
        (("openai", "gpt-4o", "key"), {}, "openai/gpt-4o"),
        (("ollama",), {"model_name": "llama3.1"}, "ollama/llama3.1"),
        ((), {"provider": "ollama", "model_name": "llama3.1"}, "ollama/llama3.1"),
        ((), {"provider": "openrouter", "model_name": "meta-llama/llama-4"}, "openrouter/meta-llama/llama-4"),
        ((), {"provider": "ollama/llama3.1"}, "ollama/llama3.1"),
        ((), {"model_name": "gpt-4o"}, "openai/gpt-4o"),
        ((), {}, "vllm/ours"),
    ]
    for arguments, named, name in calls:
        assert get_model(*arguments, **named).name == name
    assert isinstance(model := get_model("openai", "gpt-4o", "sekret"), OpenAIModel)
    assert (model.target.key, model.parameters) == ("sekret", {})


def test_contradicting_names_are_an_error() -> None:
    calls: list[tuple[tuple[Any, ...], dict[str, Any], str]] = [
        (("my-local", "llama"), {}, "'my-local' of the model 'my-local/llama' is not known"),
        (("openai/gpt-4o", "gpt-4o"), {}, "'openai/gpt-4o' of the model"),
        ((), {"provider": "my-local"}, "'my-local' of the model 'my-local/' is not known"),
        ((), {"provider": "ollama"}, "'ollama' names no model"),
        (("openai",), {"provider": "ollama", "model_name": "x"}, "one provider, not 'openai' and 'ollama'"),
        ((get_model("gpt-4o"), "gpt-4o"), {}, "takes a model or names"),
    ]
    for arguments, named, fields in calls:
        with pytest.raises(ModelError, match=re.escape(fields)):
            get_model(*arguments, **named)


def test_reports_name_a_custom_model() -> None:
    class Fake:
        name = "fake/model"

    assert name_of(Fake()) == "fake/model"  # type: ignore[arg-type]
    assert (name_of("openai/a/b"), name_of("ollama/a"), name_of("gpt-4o")) == ("a/b", "ollama/a", "gpt-4o")
    with pytest.raises(ModelError, match="is not known"):
        name_of("fake/model")


@pytest.mark.parametrize("provider", sorted(PROVIDERS.keys() - {"azure"}))
def test_every_provider_has_an_address_that_a_variable_replaces(provider: str) -> None:
    assert resolve_target(f"{provider}/m", environ={}).base_url.startswith("http")
    assert resolve_target(f"{provider}/m", environ={PROVIDERS[provider].url: "http://x/v1"}).base_url == "http://x/v1"


def test_a_local_provider_needs_no_key() -> None:
    assert resolve_target("ollama/llama3", environ={}).key == "none"
    assert resolve_target("openai/gpt-4o", environ={}).key is None


def test_a_custom_provider_has_its_address() -> None:
    environ = {
        "SCOREGATE_MODEL": "vllm/ours",
        "SCOREGATE_MODEL_BASE_URL": "http://gpu/v1",
        "SCOREGATE_MODEL_API_KEY": "k",
        "SCOREGATE_MODEL_HEADERS": '{"X-Team": "a"}',
    }
    ours, theirs = resolve_target("vllm/other", environ=environ), resolve_target("gpt-4o", environ=environ)
    assert (ours.base_url, ours.key, ours.headers) == ("http://gpu/v1", "k", (("X-Team", "a"),))
    assert (theirs.base_url, theirs.key, theirs.headers) == ("https://api.openai.com/v1", None, ())


def test_azure_has_two_forms() -> None:
    environ = {"AZURE_OPENAI_ENDPOINT": "https://r.openai.azure.com", "AZURE_OPENAI_API_KEY": "k"}
    assert resolve_target("azure/d", environ=environ).base_url == "https://r.openai.azure.com/openai/v1"
    old = resolve_target("azure/d", environ={**environ, "OPENAI_API_VERSION": "2024-10-21"})
    assert old.base_url == "https://r.openai.azure.com/openai/deployments/d"
    assert (old.query, dict(old.headers)["api-key"]) == ((("api-version", "2024-10-21"),), "k")
    with pytest.raises(ModelError, match="azure") as exc_info:
        resolve_target("azure/d", environ={})
    assert "AZURE_OPENAI_ENDPOINT" in exc_info.value.advice


@pytest.mark.parametrize("name", ["", " ", "openai/"])
def test_empty_names(name: str) -> None:
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
def test_cache_has_a_folder(tmp_path: Path, text: str, mode: CacheMode, folder: str) -> None:
    settings = load_model_settings({"SCOREGATE_CACHE": text, "SCOREGATE_ROOT": str(tmp_path)})
    assert (settings.cache, settings.cache_folder) == (mode, tmp_path / folder)


def test_variables_set_prices_and_budgets() -> None:
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
def test_invalid_values_name_their_variable(environ: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match=next(iter(environ))):
        load_model_settings(environ)
