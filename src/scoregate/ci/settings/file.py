"""The project's file: `[tool.scoregate]` in pyproject.toml, or scoregate.toml."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scoregate.ci.settings.layers import Keys, Layer
from scoregate.errors import SettingsError

OWN_FILE = "scoregate.toml"
SHARED_FILE = "pyproject.toml"


def file_layer(root: Path) -> Layer:
    """What the file in the root sets; nothing where there is none.

    Raises:
        SettingsError: both files set something, or one cannot be read.
    """
    return layer_of(_content(root / OWN_FILE), _content(root / SHARED_FILE), where=str(root))


def layer_of(own_content: bytes | None, shared_content: bytes | None, *, where: str) -> Layer:
    """What the contents of the two files set; None for one that is not there.

    Raises:
        SettingsError: both set something, or one cannot be read.
    """
    own, shared = _parsed(own_content, OWN_FILE, where), _parsed(shared_content, SHARED_FILE, where)
    table = _table(shared)
    if own is not None and table is not None:
        raise SettingsError(
            f"settings stand both in {OWN_FILE} and in {SHARED_FILE} [tool.scoregate], in {where}",
            advice="Keep one of them.",
        )
    if "github_token" in (own or table or {}):
        raise SettingsError(
            f"github_token stands in a file in {where}", advice="Take it out: tokens are given by the environment."
        )
    if own is not None:
        return Layer(own, lambda keys: _place(OWN_FILE, keys))
    return Layer(table or {}, lambda keys: _place(f"{SHARED_FILE}", keys, above=("tool", "scoregate")))


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}") from None


def _parsed(content: bytes | None, name: str, where: str) -> dict[str, Any] | None:
    try:
        return None if content is None else tomllib.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{where}/{name} is not valid TOML: {error}") from None


def _table(shared: dict[str, Any] | None) -> dict[str, Any] | None:
    tool = (shared or {}).get("tool", {})
    table = tool.get("scoregate") if isinstance(tool, Mapping) else None
    if table is not None and not isinstance(table, dict):
        raise SettingsError(f"{SHARED_FILE}: tool.scoregate must be a table, not {table!r:.80}")
    return table


def _place(file: str, keys: Keys, *, above: Keys = ()) -> str:
    if len(keys) < 2:
        return file
    return f"{file} [{'.'.join(_bare(key) for key in (*above, *keys[:-1]))}]"


def _bare(key: str) -> str:
    plain = key.isascii() and key.replace("-", "").replace("_", "").isalnum()
    return key if plain else json.dumps(key, ensure_ascii=False)
