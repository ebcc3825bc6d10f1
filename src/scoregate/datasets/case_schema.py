"""A JSON Schema of the cases in YAML and JSON files, with which editors complete and check them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

# Editors for YAML know this version.
_DIALECT = "http://json-schema.org/draft-07/schema#"
_FIELDS: Mapping[str, Mapping[str, Any]] = {
    "input": {"description": "What the task receives."},
    "expected": {"description": "What scorers compare the output with."},
    "id": {"type": ["string", "integer", "null"], "description": "A name that stays if the input changes."},
    "tags": {
        "type": ["array", "string", "null"],
        "items": {"type": "string"},
        "description": "Names of groups of cases, for --tag and slices.",
    },
    "metadata": {"type": "object", "description": "Anything else that scorers or people read."},
}
_TYPES = ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string"), (list, "array"), (dict, "object"))
_DEEPEST = 6
# What a new case may lack, although all others have it.
_OPTIONAL = {"id", "tags", "metadata"}


def make_case_schema(rows: Iterable[Mapping[str, Any]] | None) -> dict[str, Any]:
    """The schema of a file of cases: a list of cases, or an object with such a list under `examples`.

    Args:
        rows: the cases that the file has. The schema knows their fields and types, and no other fields. None for any.
    """
    case = _make_any_case() if rows is None else _make_known_case(list(rows))
    cases = {"type": "array", "items": {"$ref": "#/definitions/case"}}
    holder = {
        "type": "object",
        "properties": {"$schema": {"type": "string"}, "examples": cases},
        "required": ["examples"],
    }
    return {"$schema": _DIALECT, "title": "Cases", "anyOf": [cases, holder], "definitions": {"case": case}}


def _make_any_case() -> dict[str, Any]:
    return {"type": "object", "properties": {name: dict(field) for name, field in _FIELDS.items()}}


def _make_known_case(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    known = _infer(rows, 0) if rows else {}
    found: Mapping[str, Any] = known.get("properties", {})
    # Fields of scoregate that no case has yet are completed, too.
    properties = {name: {**found.get(name, {}), **field} for name, field in _FIELDS.items()}
    properties["metadata"].pop("required", None)
    others = {name: field for name, field in found.items() if name not in _FIELDS}
    needed = [name for name in known.get("required", ()) if name not in _OPTIONAL]
    known = {**known, "required": needed} if needed else {key: known[key] for key in known if key != "required"}
    return {**known, "type": "object", "properties": {**properties, **others}, "additionalProperties": False}


def _infer(values: Sequence[Any], depth: int) -> dict[str, Any]:
    """The schema of all values: their types, and the fields and items of objects and lists."""
    types = sorted({_name_type(value) for value in values})
    if "number" in types and "integer" in types:
        types.remove("integer")
    schema: dict[str, Any] = {"type": types[0] if len(types) == 1 else types}
    if depth >= _DEEPEST:
        return schema
    if objects := [value for value in values if isinstance(value, dict)]:
        names = dict.fromkeys(name for each in objects for name in each)
        schema["properties"] = {
            name: _infer([each[name] for each in objects if name in each], depth + 1) for name in names
        }
        if required := [name for name in names if all(name in each for each in objects)]:
            schema["required"] = required
    if items := [item for value in values if isinstance(value, list) for item in value]:
        schema["items"] = _infer(items, depth + 1)
    return schema


def _name_type(value: Any) -> str:
    return next((name for type_, name in _TYPES if isinstance(value, type_)), "null" if value is None else "string")
