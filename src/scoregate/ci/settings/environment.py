"""The environment: `SCOREGATE_<NAME>`, and `INPUT_<NAME>` as GitHub gives an action's inputs to its container."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from scoregate.ci.settings.layers import Layer

_OWN, _INPUT = "SCOREGATE_", "INPUT_"
_NO_SETTINGS = {
    "SCOREGATE_EVENTS",
    "SCOREGATE_REPORT",
    "SCOREGATE_ROOT",
    "SCOREGATE_FILTERS_TEST_SUITES",
    "SCOREGATE_OVERRIDES_TESTS_AND_HASHES",
    "SCOREGATE_TEST_RUN_MESSAGE",
    "SCOREGATE_BENCH_DIR",
    "SCOREGATE_MODEL_API_KEY",
    "SCOREGATE_SPENT",
    "SCOREGATE_CONTAINER",
    "SCOREGATE_ACTION",
    "SCOREGATE_ACCOUNTS",
}


def environment_layer(environ: Mapping[str, str], names: Iterable[str]) -> Layer:
    """What the environment sets; an empty variable sets nothing, and an action's input wins over ours.

    Args:
        environ: all variables. names: the settings that there are.
    """
    names = tuple(names)
    found = {name: variable for name in names if (variable := _variable(name, environ))}
    values = {name: _READERS.get(name, str.strip)(environ[variable]) for name, variable in found.items()}
    return Layer(values, lambda keys: found[keys[0]], tuple(_unknown(environ, names)))


def environment_value(name: str, environ: Mapping[str, str]) -> tuple[str, str] | None:
    """What the environment sets one setting to, as text, and by which variable; None where it does not."""
    variable = _variable(name, environ)
    return (environ[variable].strip(), variable) if variable else None


def _variable(name: str, environ: Mapping[str, str]) -> str | None:
    upper = name.upper()
    variables = (f"{_INPUT}{upper.replace('_', '-')}", f"{_INPUT}{upper}", f"{_OWN}{upper}")
    return next((variable for variable in variables if environ.get(variable, "").strip()), None)


def _unknown(environ: Mapping[str, str], names: tuple[str, ...]) -> Iterable[str]:
    known = {f"{_OWN}{name.upper()}" for name in names} | _NO_SETTINGS
    for variable in sorted(set(environ) - known):
        if variable.startswith(_OWN):
            near = get_close_matches(variable, known, 1)
            yield f"{variable} is set, but no such setting exists" + (f"; did you mean {near[0]}?" if near else "")


def _list(text: str) -> list[Any]:
    if text.lstrip().startswith("[") and isinstance(items := _json(text), list):
        return items
    return [item.strip() for line in text.splitlines() for item in line.split(",") if item.strip()]


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def read_table(text: str) -> Any:
    """A table written as JSON, or as `name=value` with commas between; one value alone is left as it is."""
    pairs = [item.rpartition("=") for item in _list(text)]
    if text.lstrip().startswith("{") or not all(name for name, _, _ in pairs):
        return _json(text)
    return {name.strip(): limit.strip() for name, _, limit in pairs}


_READERS: dict[str, Callable[[str], Any]] = {
    "paths": _list,
    "suite": _list,
    "config": _list,
    "commands": _json,
    "configs": _json,
    "suites": _json,
    "evaluators": _json,
    "prices": _json,
    "model_headers": _json,
    "min_score": read_table,
    "max_drop": read_table,
    "severity": read_table,
}
