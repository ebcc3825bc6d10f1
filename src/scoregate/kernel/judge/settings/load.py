"""Load the settings: read the layers, merge them, describe what is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from scoregate.errors import SettingsError
from scoregate.kernel.judge.settings.limit_fields import FEATURE_SETTINGS, LIMITS, TABLE_SETTINGS
from scoregate.kernel.judge.settings.model import Settings, setting_names
from scoregate.kernel.judge.settings.ownership import make_judging_layer
from scoregate.kernel.judge.settings.sources import (
    TABLES,
    Keys,
    Layer,
    make_flag_layer,
    read_file_layer,
    with_relative_paths,
)
from scoregate.kernel.types.declarations.fields import GateSet
from scoregate.kernel.types.runs.policy import OF_SET

_TABLE_RULE = "must be a table; in the environment, write it as JSON"
_RULES = {
    "greater_than_equal": "must be at least {ge:g}",
    "greater_than": "must be more than {gt:g}",
    "less_than_equal": "must be at most {le:g}",
    "finite_number": "must be a finite number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "int_parsing_size": "is too large",
    "string_type": "must be text",
    "string_too_short": "must not be empty",
    "tuple_type": "must be a list",
    "dict_type": _TABLE_RULE,
    "mapping_type": _TABLE_RULE,
    "model_type": "must be a table",
    "value_error": "{error}",
}


_OWN_PREFIX, _INPUT_PREFIX = "SCOREGATE_", "INPUT_"
_OTHER_VARIABLES = {
    "SCOREGATE_AGENT_MARK",
    "SCOREGATE_EVENTS",
    "SCOREGATE_HISTORY",
    "SCOREGATE_LIMITS",
    "SCOREGATE_REPORT",
    "SCOREGATE_ROOT",
    "SCOREGATE_FILTERS_TEST_SUITES",
    "SCOREGATE_GATEWAY_URL",
    "SCOREGATE_GATEWAY_HOSTS",
    "SCOREGATE_GATEWAY_RECORDS",
    "SCOREGATE_OTLP_ADDRESS",
    "SCOREGATE_OVERRIDES_TESTS_AND_HASHES",
    "SCOREGATE_TEST_RUN_MESSAGE",
    "SCOREGATE_BENCH_DIR",
    "SCOREGATE_MODEL_API_KEY",
    "SCOREGATE_REVIEWER",
    "SCOREGATE_SELECTION",
    "SCOREGATE_SLACK_WEBHOOK",
    "SCOREGATE_SPENT",
    "SCOREGATE_CONTAINER",
    "SCOREGATE_ACTION",
    "SCOREGATE_ALERT_WEBHOOK",
    "SCOREGATE_ACCOUNTS",
    "SCOREGATE_CHAMPIONS",
    "SCOREGATE_CLOUD",
    "SCOREGATE_DEPENDENCIES",
    "SCOREGATE_NODE",
    "SCOREGATE_PARTS",
    "SCOREGATE_REUSE",
}
_LIST_SETTINGS = "`scoregate settings` lists all settings"
_MOST_NAMES = 5


_ROOT, _GATES = "working_directory", "gates"
_INSTEAD = "use --working-directory, SCOREGATE_WORKING_DIRECTORY, or the action's input"


def load_settings(
    root: Path,
    environ: Mapping[str, str],
    *,
    flags: Mapping[str, Any] = MappingProxyType({}),
    cwd: Path | None = None,
    base: Layer | None = None,
) -> Settings:
    """Read the settings of a project.

    Args:
        root: the folder of the settings file: `working_directory`, the repository's top level, or the current folder.
        environ: the environment.
        flags: the flags from the command line, by setting; None and empty sequences are not set.
        cwd: paths on the command line and in the environment are relative to it; by default the root.
        base: the settings of the base's file, which then replace those of this project's file.

    Raises:
        SettingsError: lists everything that is wrong with them.
    """
    names = setting_names()
    workflow = (make_flag_layer(flags), make_environment_layer(environ, names))
    head = read_file_layer(root)
    file = head if base is None else make_judging_layer(head, base)
    layers = (*(with_relative_paths(layer, cwd or root, root=root) for layer in workflow), file)
    layers = tuple(map(_with_tables, layers))
    problems = [line for layer in layers for line in (*layer.problems, *describe_unknown_keys(layer, names))]
    if _ROOT in file.values:
        problems.append(f"{file.locate((_ROOT,))}: {_ROOT} can't be set in the file that it locates: {_INSTEAD}")
    known = [replace(la, values={k: v for k, v in la.values.items() if _is_known(k, v, names)}) for la in layers]
    try:
        settings = _build_settings(known, head.values)
    except ValidationError as error:
        problems += describe_wrong_values(error, known)
    if problems:
        raise SettingsError("\n".join(["these settings are not valid:", *(f"  {line}" for line in problems)]))
    return settings


def _with_tables(layer: Layer) -> Layer:
    """The layer with tables that are written as one value, such as `gateway = MODE`, so that layers can be merged."""
    short = {
        each.name: {each.kind.short: value}
        for each in TABLE_SETTINGS
        if not isinstance(value := layer.values.get(each.name), Mapping | None)
    }
    return replace(layer, values={**layer.values, **short})


def _build_settings(layers: Sequence[Layer], file_values: Mapping[str, Any]) -> Settings:
    values: dict[str, Any] = {}
    for layer in reversed(list(_add_set_layer(layers))):
        values = _merge_tables(values, {**layer.values, "origins": layer.origins()})
    return Settings.model_validate({**values, "file_values": dict(file_values)})


def _add_set_layer(layers: Sequence[Layer]) -> Iterator[Layer]:
    """The layers with the limits of the first set of gates, below the layer that names it."""
    named = next((layer for layer in layers if layer.values.get(_GATES) is not None), None)
    for layer in layers:
        yield layer
        chosen = next((each for each in GateSet if layer is named and each == layer.values[_GATES]), None)
        if chosen is not None:
            values = {limit.name: limit.in_sets[chosen] for limit in LIMITS if chosen in limit.in_sets}
            yield Layer(values, partial(_locate_set, layer))


def _locate_set(layer: Layer, _: Keys) -> str:
    return f"{layer.place((_GATES,))}{OF_SET}"


def _merge_tables(lower: Mapping[str, Any], upper: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two tables with the tables in them; `upper` wins."""
    merged = dict(lower)
    for name, value in upper.items():
        below = merged.get(name)
        if isinstance(below, Mapping) and isinstance(value, Mapping):
            merged[name] = _merge_tables(below, value)
        else:
            merged[name] = value
    return merged


def make_environment_layer(environ: Mapping[str, str], names: Iterable[str]) -> Layer:
    """The settings in the environment. An empty variable sets nothing; an action's input wins over SCOREGATE_*.

    Args:
        environ: all variables.
        names: the names of all settings.
    """
    names = tuple(names)
    variables = {name: variable for name in names if (variable := _variable(name, environ))}
    values = {name: _READERS.get(name, str.strip)(environ[variable]) for name, variable in variables.items()}
    known = {f"{_OWN_PREFIX}{name.upper()}" for name in names} | _OTHER_VARIABLES
    problems = []
    for variable in sorted(set(environ) - known):
        if variable.startswith(_OWN_PREFIX):
            near = get_close_matches(variable, known, 1)
            hint = f"did you mean {near[0]}?" if near else _LIST_SETTINGS
            problems.append(f"{variable}: there is no such variable; {hint}")
    return Layer(values, lambda keys: variables[keys[0]], problems=tuple(problems))


def environment_value(name: str, environ: Mapping[str, str]) -> tuple[str, str] | None:
    """The text that the environment sets one setting to, and the variable; None if it does not."""
    variable = _variable(name, environ)
    return (environ[variable].strip(), variable) if variable else None


def _variable(name: str, environ: Mapping[str, str]) -> str | None:
    upper = name.upper()
    variables = (f"{_INPUT_PREFIX}{upper.replace('_', '-')}", f"{_INPUT_PREFIX}{upper}", f"{_OWN_PREFIX}{upper}")
    return next((variable for variable in variables if environ.get(variable, "").strip()), None)


def parse_table(text: str) -> Any:
    """A table written as JSON, or as `name=value` with commas; a single value is unchanged."""
    pairs = [item.rpartition("=") for item in _parse_list(text)]
    if text.lstrip().startswith("{") or not all(name for name, _, _ in pairs):
        return _parse_json(text)
    return {name.strip(): limit.strip() for name, _, limit in pairs}


def _parse_list(text: str) -> list[Any]:
    if text.lstrip().startswith("[") and isinstance(items := _parse_json(text), list):
        return items
    return [item.strip() for line in text.splitlines() for item in line.split(",") if item.strip()]


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


_READERS: dict[str, Callable[[str], Any]] = {
    "paths": _parse_list,
    "suite": _parse_list,
    "config": _parse_list,
    "agent": _parse_json,
    "arms": _parse_json,
    "commands": _parse_json,
    "configs": _parse_json,
    "suites": _parse_json,
    "evaluators": _parse_json,
    "prices": _parse_json,
    "model_headers": _parse_json,
    "severity": parse_table,
    **{limit.name: parse_table for limit in LIMITS if limit.kind.by},
    **{each.name: _parse_list for each in FEATURE_SETTINGS if each.kind.is_list},
    **{each.name: _parse_json for each in TABLE_SETTINGS},
}


def describe_unknown_keys(layer: Layer, names: Iterable[str]) -> Iterator[str]:
    """A line for every key of a layer that is not a setting."""
    for key, value in layer.values.items():
        if not _is_known(key, value, names):
            inner = [name for name in value if name in names] if isinstance(value, Mapping) else []
            problem = _misplaced_settings(key, inner) if inner else _unknown_setting(key, names)
            yield f"{layer.locate((key,))}: {problem}"


def _is_known(key: str, value: object, names: Iterable[str]) -> bool:
    """Whether a key is a setting. A table `[gates]` is meant as a table of several."""
    is_table = key == _GATES and isinstance(value, Mapping) and any(name in names for name in value)
    return key in names and not is_table


def _misplaced_settings(table: str, names: Sequence[str]) -> str:
    subject = f"{names[0]} is a setting" if len(names) == 1 else f"{', '.join(names[:_MOST_NAMES])} are settings"
    return f"there is no table {table!r}; {subject} of the top level: write it above the first table"


def describe_wrong_values(error: ValidationError, layers: Sequence[Layer]) -> Iterator[str]:
    """A line for every error of pydantic, by layers, and in the order of a layer's file."""
    lines = []
    for problem in error.errors(include_url=False):
        keys = tuple(str(part) for part in problem["loc"])
        table = keys if keys[0] in TABLES else keys[:1]
        number = next((number for number, layer in enumerate(layers) if _is_set(layer, table)), len(layers) - 1)
        layer, field = layers[number], Settings.model_fields.get(keys[0])
        known = [] if field is None else list(_list_keys(field.annotation))
        text = f"{layer.locate(keys, table=table)}: {describe_problem(keys, problem, known)}"
        lines.append((number, layer.line(keys) or 0, text))
    yield from (text for _, _, text in sorted(lines, key=lambda each: each[:2]))


def _is_set(layer: Layer, keys: Keys) -> bool:
    value: Any = layer.values
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else value
    return value is not None


def _list_keys(kind: Any) -> Iterator[str]:
    """The keys of the table in a type, such as an optional one or a list of tables."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        yield from (field.alias or name for name, field in kind.model_fields.items())
    for part in get_args(kind):
        yield from _list_keys(part)


def describe_problem(keys: Keys, problem: Mapping[str, Any], known: Iterable[str]) -> str:
    """Describe an error of pydantic at a path of keys; `known` are the valid names for an unknown key."""
    name = "".join(f"[{key}]" if key.isdigit() else f".{key}" for key in keys).removeprefix(".")
    name = name.removesuffix(".*")  # one number for all evaluators
    if problem["type"] == "extra_forbidden":
        if len(keys) > 1 and keys[-1] in setting_names():
            return f"{name}: {keys[-1]} is a setting of the whole project: write it above the first table"
        return f"{name}: {_unknown_setting(keys[-1], known)}"
    if problem["type"] == "missing":
        return f"{name} is missing"
    if keys[-1] == "[key]" and problem["type"] == "literal_error":
        allowed = re.findall(r"'([^']+)'", problem["ctx"]["expected"])
        return f"{'.'.join(keys[:-2])}: {_unknown_setting(keys[-2], allowed)}"
    rule = _RULES.get(problem["type"])
    text = rule.format(**problem["ctx"]) if rule and "{" in rule else rule
    return f"{name} = {problem['input']!r:.80}: {text or problem['msg'].replace('Input should', 'must')}"


def _unknown_setting(key: str, names: Iterable[str]) -> str:
    near = get_close_matches(key, list(names), 1)
    return f"there is no setting {key!r}; " + (f"did you mean {near[0]!r}?" if near else _LIST_SETTINGS)
