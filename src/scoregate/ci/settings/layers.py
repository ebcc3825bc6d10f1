"""Layers of settings: values, and for each the place where it was set."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scoregate.ci.settings.fields import BaselineKind, baseline_kind

Keys = tuple[str, ...]
COMMAND_LINE = "the command line"
OF_THE_BASE = " of the base"
TABLES = ("min_score", "max_drop", "severity", "evaluators", "suites", "prices", "model_headers")
_ARGUMENTS = ("paths", "commands")
_PATHS = ("out", "python", "baseline")


@dataclass(frozen=True, slots=True)
class Layer:
    """Values of one source. `place` says in words where a path of keys was set in it."""

    values: Mapping[str, Any]
    place: Callable[[Keys], str]
    notices: tuple[str, ...] = ()

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


def flag_layer(flags: Mapping[str, Any]) -> Layer:
    """What was given on the command line; None and empty sequences were not."""
    given = {name: value for name, value in flags.items() if value is not None and value not in ((), [], {})}
    return Layer(given, lambda keys: COMMAND_LINE if keys[0] in _ARGUMENTS else f"--{keys[0].replace('_', '-')}")


def anchored(layer: Layer, base: Path, *, root: Path) -> Layer:
    """The layer with its paths, which are relative to `base`, made relative to `root`."""
    way = os.path.relpath(base, root)
    if way == os.curdir:
        return layer
    values = dict(layer.values)
    for name in _PATHS:
        if isinstance(value := values.get(name), str) and _is_path(name, value):
            values[name] = _joined(way, value)
    paths = values.get("paths")
    if isinstance(paths, (list, tuple)):
        values["paths"] = [_joined(way, path) if isinstance(path, str) else path for path in paths]
    return Layer(values, layer.place, layer.notices)


def _is_path(name: str, value: str) -> bool:
    if name == "baseline":
        return baseline_kind(value) is BaselineKind.FILE
    return name != "python" or os.sep in value


def _joined(way: str, path: str) -> str:
    return os.path.normpath(Path(way, path)) if path else path
