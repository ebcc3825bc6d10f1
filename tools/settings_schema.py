"""The JSON Schema of scoregate.toml, made from the settings model; `tools/reference.py` writes it."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeAlias

from pydantic import BaseModel

from scoregate.features.gateway.declare import GatewayMode, GatewayProviderSettings, GatewaySettings
from scoregate.kernel.judge.settings.limit_fields import SuiteSettings
from scoregate.kernel.judge.settings.model import setting_names
from scoregate.kernel.judge.settings.setting_fields import SettingFields
from scoregate.kernel.judge.settings.tables import (
    AgentSettings,
    ArmsSettings,
    Command,
    EvaluatorSettings,
    OfflineConfig,
    ThresholdSettings,
)
from scoregate.kernel.types.declarations.fields import PriceSettings

_MODELS = (
    *(Command, EvaluatorSettings, GatewayProviderSettings, GatewaySettings, OfflineConfig, PriceSettings),
    *(AgentSettings, ArmsSettings, SuiteSettings, ThresholdSettings),
)
# pydantic keeps its own names if another validator runs before the bound is checked.
_BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}
_HEAD = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "https://scoregate.github.io/scoregate/scoregate.schema.json",
    "title": "scoregate.toml",
    "description": "Settings of scoregate: https://scoregate.github.io/scoregate/reference/settings/",
}


ReadFields: TypeAlias = Callable[[type[BaseModel]], Mapping[str, tuple[str, str]]]


def write_schema(read_fields: ReadFields, not_in_files: Collection[str]) -> str:
    """The schema as the text of a file.

    Args:
        read_fields: returns the type in words and the description of each field of a model.
        not_in_files: settings that a file can't set.
    """
    made = SettingFields.model_json_schema()
    names = [name for name in setting_names() if name not in not_in_files]
    root: dict[str, Any] = {"type": "object", "properties": {name: made["properties"][name] for name in names}}
    definitions = {name: each for name, each in made["$defs"].items() if name != "SecretStr"}
    for name, field in SettingFields.model_fields.items():
        if isinstance(default := field.get_default(call_default_factory=True, validated_data={}), BaseModel):
            root["properties"][name]["default"] = default.model_dump(mode="json")
    _describe(root, read_fields(SettingFields))
    for model in _MODELS:
        _describe(definitions[model.__name__], read_fields(model))
    schema = {**_HEAD, **_simplify(root), "additionalProperties": False, "$defs": _simplify(definitions)}
    return json.dumps(schema, ensure_ascii=False, indent=2) + "\n"


def _describe(definition: dict[str, Any], fields: Mapping[str, tuple[str, str]]) -> None:
    """Add the descriptions in the code, and the other forms that the model accepts."""
    definition.pop("description", None)
    for name, (kind, text) in fields.items():
        if (field := definition["properties"].get(name)) is None:
            continue
        other: dict[str, Any] | None = None
        if kind in ("list of texts", "text, or list of texts"):
            other = {"type": "string", "minLength": 1}
        elif kind == "number from 0 to 1, or a table of them":
            other = {"type": "number", "minimum": 0, "maximum": 1}
        elif kind == "text, or a table":
            other = {"enum": [mode.value for mode in GatewayMode]}
        elif kind.endswith("or `auto`"):
            other = {"const": "auto"}
        default = field.pop("default", None)
        form = {"anyOf": [other, field]} if other else field
        known = {"default": default} if default not in (None, [], {}) else {}
        definition["properties"][name] = {**form, "description": text.replace("`", ""), **known}


def _simplify(value: Any) -> Any:
    """Without titles and null, which TOML lacks."""
    if isinstance(value, list):
        return [_simplify(each) for each in value]
    if not isinstance(value, Mapping):
        return value
    result = {
        _BOUNDS.get(key, key) if isinstance(each, int | float) else key: _simplify(each)
        for key, each in value.items()
        if key != "title" or not isinstance(each, str)
    }
    if "default" in result and result["default"] is None:
        del result["default"]
    options = result.get("anyOf")
    if isinstance(options, list):
        options = [each for each in options if each != {"type": "null"}]
        flat = [inner for each in options for inner in (each["anyOf"] if set(each) == {"anyOf"} else [each])]
        del result["anyOf"]
        result |= flat[0] if len(flat) == 1 else {"anyOf": flat}
    return result
