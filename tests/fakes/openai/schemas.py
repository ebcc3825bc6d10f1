"""A smallest instance of any JSON schema: the first of every choice, every property, the least of every range."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_DEEPEST = 8


def make_instance(schema: Mapping[str, Any]) -> Any:
    return _make(schema, schema, 0)


def _make(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Any:
    for word, build in _WORDS.items():
        if word in schema:
            return build(schema, root, depth)
    kind = schema.get("type", "object" if "properties" in schema else "string")
    kind = kind[0] if isinstance(kind, list) else kind
    return _TYPES[kind](schema, root, depth)


def _resolve(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Any:
    target: Any = root
    for part in schema["$ref"].removeprefix("#/").split("/"):
        target = target[part]
    return _make(target, root, depth + 1)


def _object(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Any:
    return {name: _make(part, root, depth + 1) for name, part in schema.get("properties", {}).items()}


def _array(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Any:
    if "prefixItems" in schema:
        return [_make(part, root, depth + 1) for part in schema["prefixItems"]]
    count = schema.get("minItems", 0 if depth >= _DEEPEST else 1)
    return [_make(schema.get("items", {}), root, depth + 1) for _ in range(count)]


def _number(schema: Mapping[str, Any], _root: Mapping[str, Any], _depth: int) -> Any:
    least = schema.get("minimum", schema.get("exclusiveMinimum", -1) + 1)
    return min(least, schema.get("maximum", least))


def _string(schema: Mapping[str, Any], _root: Mapping[str, Any], _depth: int) -> Any:
    return "because it is so"[: schema.get("maxLength")].ljust(schema.get("minLength", 0), ".")


_WORDS = {
    "$ref": _resolve,
    "const": lambda schema, _root, _depth: schema["const"],
    "enum": lambda schema, _root, _depth: schema["enum"][0],
    "anyOf": lambda schema, root, depth: _make(schema["anyOf"][-1 if depth >= _DEEPEST else 0], root, depth),
    "oneOf": lambda schema, root, depth: _make(schema["oneOf"][0], root, depth),
    "allOf": lambda schema, root, depth: _make(schema["allOf"][0], root, depth),
}
_TYPES = {
    "object": _object,
    "array": _array,
    "number": _number,
    "integer": _number,
    "string": _string,
    "boolean": lambda _schema, _root, _depth: True,
    "null": lambda _schema, _root, _depth: None,
}
