"""What is wrong with the settings, in words: the value, where it came from, what is allowed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ValidationError

from scoregate.ci.settings.commands import Command
from scoregate.ci.settings.configs import OfflineConfig
from scoregate.ci.settings.fields import EvaluatorSettings, PriceSettings, SuiteSettings
from scoregate.ci.settings.layers import TABLES, Keys, Layer

_TABLE = "must be a table; in the environment, write it as JSON"
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
    "dict_type": _TABLE,
    "mapping_type": _TABLE,
    "model_type": "must be a table",
    "value_error": "{error}",
}


_KNOWN: Mapping[str, type[BaseModel]] = {
    "commands": Command,
    "configs": OfflineConfig,
    "evaluators": EvaluatorSettings,
    "prices": PriceSettings,
    "suites": SuiteSettings,
}


def unknown_keys(layer: Layer, names: Iterable[str]) -> Iterator[str]:
    """A line for every key of a layer that is no setting."""
    for key in layer.values:
        if key not in names:
            yield f"{layer.place((key,))}: {_unknown(key, names)}"


def wrong_values(error: ValidationError, layers: Iterable[Layer]) -> Iterator[str]:
    """A line for everything that pydantic found."""
    layers = tuple(layers)
    for found in error.errors(include_url=False):
        keys = tuple(str(part) for part in found["loc"])
        known = _KNOWN[keys[0]].model_fields if keys[0] in _KNOWN else ()
        yield f"{_place(keys, layers)}: {said(keys, found, known)}"


def _place(keys: Keys, layers: tuple[Layer, ...]) -> str:
    way = keys if keys[0] in TABLES else keys[:1]
    for layer in layers:
        value: Any = layer.values
        for key in way:
            value = value.get(key) if isinstance(value, Mapping) else value
        if value is not None:
            return layer.place(way)
    return layers[-1].place(way)


def said(keys: Keys, found: Mapping[str, Any], known: Iterable[str]) -> str:
    """One thing that pydantic found, behind these keys; `known` are the names that there are beside an unknown one."""
    name = "".join(f"[{key}]" if key.isdigit() else f".{key}" for key in keys).removeprefix(".")
    if found["type"] == "extra_forbidden":
        return f"{name}: {_unknown(keys[-1], known)}"
    if found["type"] == "missing":
        return f"{name} is missing"
    rule = _RULES.get(found["type"])
    told = rule.format(**found["ctx"]) if rule and "{" in rule else rule
    return f"{name} = {found['input']!r:.80}: {told or found['msg'].replace('Input should', 'must')}"


def _unknown(key: str, names: Iterable[str]) -> str:
    near = get_close_matches(key, list(names), 1)
    return f"there is no setting {key!r}" + (f"; did you mean {near[0]!r}?" if near else "")
