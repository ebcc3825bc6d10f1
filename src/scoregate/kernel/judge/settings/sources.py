"""Layers of settings: the command line, and the project's file (scoregate.toml, or pyproject.toml)."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from scoregate.errors import SettingsError
from scoregate.kernel.host.file_access import read_project_file
from scoregate.kernel.judge.settings.limit_fields import FEATURE_SETTINGS, LIMITS, TABLE_SETTINGS
from scoregate.kernel.types.declarations.declaration import Owner
from scoregate.kernel.types.declarations.fields import BaselineKind, parse_baseline_kind
from scoregate.kernel.types.records import record
from scoregate.kernel.types.toml_lines import find_line

Keys = tuple[str, ...]
COMMAND_LINE = "the command line"
OF_BASE = " of the base"
TABLES = (
    *(limit.name for limit in LIMITS if limit.kind.by == "evaluator"),
    *("severity", "evaluators", "suites", "prices", "model_headers", "agent", "arms"),
    *(each.name for each in TABLE_SETTINGS),
)
_LARGEST_FILE = 10_000_000
_ARGUMENTS = ("paths", "commands")
_PROGRAMS = tuple(each.name for each in FEATURE_SETTINGS if each.is_program)
_PATHS = ("out", "baseline", "env_file", *_PROGRAMS)
# Why no file can set a setting, and what to do instead.
_REFUSALS = {
    "approved": (", but a change can't approve itself", "Remove it. The workflow sets it."),
    "github_token": ("", "Remove it. Tokens belong in the environment only."),
    **{each.name: each.refusal for each in FEATURE_SETTINGS if each.owner is Owner.WORKFLOW},
}


def _no_line(_: Keys) -> int | None:
    return None


@record
class Layer:
    """The values of one source.

    Args:
        values: the values.
        place: returns where a path of keys was set in it.
        line: returns the line of a path of keys in its file; None without a file.
        problems: what is wrong with the source besides its values.
    """

    values: Mapping[str, Any]
    place: Callable[[Keys], str]
    line: Callable[[Keys], int | None] = _no_line
    problems: tuple[str, ...] = ()

    def locate(self, keys: Keys, *, table: Keys | None = None) -> str:
        """The place of a path of keys with its line: `scoregate.toml:3 [suites.x]`; `table` replaces the path there."""
        file, space, rest = self.place(keys if table is None else table).partition(" ")
        line = self.line(keys)
        return f"{file}{'' if line is None else f':{line}'}{space}{rest}"

    def origins(self) -> dict[Keys, str]:
        """The place of every value."""
        return {keys: self.place(keys) for keys in _leaves(self.values)}


def _leaves(values: Mapping[str, Any], above: Keys = ()) -> Iterator[Keys]:
    for name, value in values.items():
        keys = (*above, name)
        if isinstance(value, Mapping) and keys[0] in TABLES:
            yield from _leaves(value, keys)
        else:
            yield keys


def make_flag_layer(flags: Mapping[str, Any]) -> Layer:
    """The settings on the command line; None and empty sequences are not set."""
    values = {name: value for name, value in flags.items() if value is not None and value not in ((), [], {})}
    return Layer(values, lambda keys: COMMAND_LINE if keys[0] in _ARGUMENTS else f"--{keys[0].replace('_', '-')}")


def with_relative_paths(layer: Layer, base: Path, *, root: Path) -> Layer:
    """The layer with its paths, which are relative to `base`, made relative to `root`."""
    folder = os.path.relpath(base, root)
    if folder == os.curdir:
        return layer
    values = dict(layer.values)
    for name in _PATHS:
        value = values.get(name)
        if not isinstance(value, str):
            continue
        is_program_name = name in _PROGRAMS and os.sep not in value
        is_keyword = name == "baseline" and parse_baseline_kind(value) is not BaselineKind.FILE
        if not is_program_name and not is_keyword:
            values[name] = _join(folder, value)
    paths = values.get("paths")
    if isinstance(paths, (list, tuple)):
        values["paths"] = [_join(folder, path) if isinstance(path, str) else path for path in paths]
    return replace(layer, values=values)


def _join(folder: str, path: str) -> str:
    return os.path.normpath(Path(folder, path)) if path else path


OWN_FILE = "scoregate.toml"
SHARED_FILE = "pyproject.toml"


def read_file_layer(root: Path) -> Layer:
    """The settings in the file in the root; empty without a file.

    Raises:
        SettingsError: both files have settings, or one can't be read.
    """
    return make_file_layer(_content(root / OWN_FILE), _content(root / SHARED_FILE), where=str(root))


def make_file_layer(own_content: bytes | None, shared_content: bytes | None, *, where: str) -> Layer:
    """The settings in the contents of the two files; None for a missing file.

    Raises:
        SettingsError: both have settings, or one can't be read.
    """
    own, shared = _parse_toml(own_content, OWN_FILE, where), _parse_toml(shared_content, SHARED_FILE, where)
    tool = (shared or {}).get("tool", {})
    table = tool.get("scoregate") if isinstance(tool, Mapping) else None
    if table is not None and not isinstance(table, dict):
        raise SettingsError(f"{SHARED_FILE}: tool.scoregate must be a table, not {table!r:.80}")
    if own is not None and table is not None:
        raise SettingsError(
            f"settings found in both {OWN_FILE} and {SHARED_FILE} [tool.scoregate], in {where}",
            advice="Keep one of them.",
        )
    for name, (reason, advice) in _REFUSALS.items():
        if name in (own or table or {}):
            raise SettingsError(f"{name} is set in a file in {where}{reason}", advice=advice)
    if own is not None:
        return Layer(own, lambda keys: _place(OWN_FILE, keys), lambda keys: find_line(_decode(own_content), keys))
    above = ("tool", "scoregate")
    return Layer(
        table or {},
        lambda keys: _place(SHARED_FILE, keys, above=above),
        lambda keys: find_line(_decode(shared_content), (*above, *keys)),
    )


def _decode(content: bytes | None) -> str:
    return (content or b"").decode("utf-8-sig")


def _content(path: Path) -> bytes | None:
    try:
        content = read_project_file(path, _LARGEST_FILE + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise SettingsError(f"{path} can't be read: {error.strerror}", advice="Replace it by a file.") from None
    if len(content) > _LARGEST_FILE:
        raise SettingsError(f"{path} is larger than {_LARGEST_FILE:,} bytes", advice="Make it smaller.")
    return content


def _parse_toml(content: bytes | None, name: str, where: str) -> dict[str, Any] | None:
    try:
        return None if content is None else tomllib.loads(_decode(content))
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{where}/{name} is not valid TOML: {error}") from None


def _place(file: str, keys: Keys, *, above: Keys = ()) -> str:
    if len(keys) < 2:
        return file
    names = []
    for key in (*above, *keys[:-1]):
        is_bare = key.isascii() and key.replace("-", "").replace("_", "").isalnum()
        names.append(key if is_bare else json.dumps(key, ensure_ascii=False))
    return f"{file} [{'.'.join(names)}]"
