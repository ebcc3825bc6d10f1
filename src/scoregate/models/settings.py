"""Model settings from environment variables: model, cache, prices and budget."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

from scoregate.errors import SettingsError

CACHE_FOLDER = ".scoregate-cache"
_NAMES = (
    "SCOREGATE_MODEL",
    "SCOREGATE_MODEL_BASE_URL",
    "SCOREGATE_MODEL_API_KEY",
    "SCOREGATE_MODEL_HEADERS",
    "SCOREGATE_CACHE",
    "SCOREGATE_ROOT",
    "SCOREGATE_PRICES",
    "SCOREGATE_MAX_COST",
    "SCOREGATE_MAX_TOKENS",
    "SCOREGATE_SPENT",
)


class CacheMode(StrEnum):
    """`on`: read and store answers. `off`: neither. `readonly`: only read. `refresh`: ask again, and store."""

    ON = "on"
    OFF = "off"
    READONLY = "readonly"
    REFRESH = "refresh"


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens; `cached` is for input tokens that the server had cached, None for `input`."""

    input: float = 0.0
    output: float = 0.0
    cached: float | None = None


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Model settings.

    Attributes:
        model: replaces every default model.
        base_url: the address of the model's provider.
        key: the API key for the model's provider.
        headers: further headers for the model's provider.
        cache: how to use the cache.
        cache_folder: the folder of the cache.
        prices: prices by glob of a model or "provider/model".
        max_cost: the budget of the run in US dollars.
        max_tokens: the budget of the run in tokens.
        spent: the file in which the processes of a run share their cost and tokens.
    """

    model: str | None = None
    base_url: str | None = None
    key: str | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict)
    cache: CacheMode = CacheMode.ON
    cache_folder: Path = Path(CACHE_FOLDER)
    prices: Mapping[str, Price] = field(default_factory=dict)
    max_cost: float | None = None
    max_tokens: float | None = None
    spent: Path | None = None


def load_model_settings(environ: Mapping[str, str] = os.environ) -> ModelSettings:
    """Read the settings from environment variables.

    Raises:
        SettingsError: a variable has an invalid value.
    """
    return _parse_settings(tuple(environ.get(name, "") for name in _NAMES))


@lru_cache(maxsize=8)
def _parse_settings(values: tuple[str, ...]) -> ModelSettings:
    variables = {name: value.strip() for name, value in zip(_NAMES, values, strict=True) if value.strip()}
    mode, _, folder = variables.get("SCOREGATE_CACHE", "").partition(":")  # a mode, a folder, or MODE:FOLDER
    if mode not in set(CacheMode):
        mode, folder = CacheMode.ON, variables.get("SCOREGATE_CACHE", "")
    root = Path(variables.get("SCOREGATE_ROOT") or Path.cwd())
    headers = variables.get("SCOREGATE_MODEL_HEADERS", "{}")
    try:
        parsed_headers = {str(name): str(value) for name, value in json.loads(headers).items()}
    except (ValueError, AttributeError):
        raise SettingsError(f"SCOREGATE_MODEL_HEADERS must be an object in JSON, not {headers!r:.100}") from None
    try:
        prices = {glob: Price(**price) for glob, price in json.loads(variables.get("SCOREGATE_PRICES", "{}")).items()}
    except (ValueError, TypeError, AttributeError) as error:
        raise SettingsError(
            f"SCOREGATE_PRICES cannot be used: {error}",
            advice='It must look like {"my-model*": {"input": 0.5, "output": 1.5}}, in dollars a million tokens.',
        ) from None
    return ModelSettings(
        model=variables.get("SCOREGATE_MODEL"),
        base_url=variables.get("SCOREGATE_MODEL_BASE_URL"),
        key=variables.get("SCOREGATE_MODEL_API_KEY"),
        headers=parsed_headers,
        cache=CacheMode(mode),
        cache_folder=root / (folder or CACHE_FOLDER),
        prices=prices,
        max_cost=_parse_amount("SCOREGATE_MAX_COST", variables),
        max_tokens=_parse_amount("SCOREGATE_MAX_TOKENS", variables),
        spent=Path(variables["SCOREGATE_SPENT"]) if "SCOREGATE_SPENT" in variables else None,
    )


def _parse_amount(name: str, variables: Mapping[str, str]) -> float | None:
    try:
        return float(variables[name]) if name in variables else None
    except ValueError:
        raise SettingsError(f"{name} must be a number, not {variables[name]!r}") from None
