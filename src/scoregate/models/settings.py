"""What the environment tells models, read in this one place: which model, where answers are kept, prices, budgets."""

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
    """`on`: read and kept. `off`: neither. `readonly`: read. `refresh`: asked anew, and kept."""

    ON = "on"
    OFF = "off"
    READONLY = "readonly"
    REFRESH = "refresh"


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars a million tokens; tokens that the server had cached cost `cached`, where that is given."""

    input: float = 0.0
    output: float = 0.0
    cached: float | None = None


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """`model` replaces every default; `base_url`, `key` and `headers` are its provider's.

    `prices` are by globs of names; `max_cost` is in dollars.
    `spent` is the file by which the processes of a run share what they have spent.
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


def surroundings(environ: Mapping[str, str] = os.environ) -> ModelSettings:
    """Read them.

    Raises:
        SettingsError: a variable does not hold what it should.
    """
    return _read(tuple(environ.get(name, "") for name in _NAMES))


@lru_cache(maxsize=8)
def _read(values: tuple[str, ...]) -> ModelSettings:
    given = {name: value.strip() for name, value in zip(_NAMES, values, strict=True) if value.strip()}
    mode, folder = _cache(given.get("SCOREGATE_CACHE", ""))
    root = Path(given.get("SCOREGATE_ROOT") or Path.cwd())
    return ModelSettings(
        model=given.get("SCOREGATE_MODEL"),
        base_url=given.get("SCOREGATE_MODEL_BASE_URL"),
        key=given.get("SCOREGATE_MODEL_API_KEY"),
        headers=_table("SCOREGATE_MODEL_HEADERS", given),
        cache=mode,
        cache_folder=root / (folder or CACHE_FOLDER),
        prices=_prices(given.get("SCOREGATE_PRICES", "{}")),
        max_cost=_amount("SCOREGATE_MAX_COST", given),
        max_tokens=_amount("SCOREGATE_MAX_TOKENS", given),
        spent=Path(given["SCOREGATE_SPENT"]) if "SCOREGATE_SPENT" in given else None,
    )


def _cache(text: str) -> tuple[CacheMode, str]:
    """A mode, a folder, or `MODE:FOLDER`."""
    word, _, rest = text.partition(":")
    return (CacheMode(word), rest) if word in set(CacheMode) else (CacheMode.ON, text)


def _table(name: str, given: Mapping[str, str]) -> dict[str, str]:
    try:
        return {str(key): str(value) for key, value in json.loads(given.get(name, "{}")).items()}
    except (ValueError, AttributeError):
        raise SettingsError(f"{name} must be an object in JSON, not {given[name]!r:.100}") from None


def _prices(text: str) -> dict[str, Price]:
    try:
        return {glob: Price(**price) for glob, price in json.loads(text).items()}
    except (ValueError, TypeError, AttributeError) as error:
        raise SettingsError(
            f"SCOREGATE_PRICES cannot be used: {error}",
            advice='It must look like {"my-model*": {"input": 0.5, "output": 1.5}}, in dollars a million tokens.',
        ) from None


def _amount(name: str, given: Mapping[str, str]) -> float | None:
    try:
        return float(given[name]) if name in given else None
    except ValueError:
        raise SettingsError(f"{name} must be a number, not {given[name]!r}") from None
