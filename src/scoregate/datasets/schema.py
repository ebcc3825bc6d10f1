"""The schema of a dataset: columns and their types, from a JSON Schema or inferred from rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, get_args
from uuid import uuid4

from scoregate.errors import InvalidDataset
from scoregate.kernel.types.trace import Trace
from scoregate.store.datasets import Columns, ColumnType
from scoregate.store.json_lines import Row, decode_row, encode_row

TYPES: tuple[ColumnType, ...] = get_args(ColumnType)
_SCHEMA_KEYS = {"type", "properties", "required", "title", "description", "additionalProperties", "$schema", "$id"}
_COLUMN_KEYS = {"type", "title", "description", "examples", "$comment"}
NAME_FIELD = "name"
_NOT_PLAIN = "contains values that JSON does not preserve: tuples, or keys that are no text"
_TYPE_NAMES: dict[str, str] = {
    "array": "an array",
    "object": "an object",
    "integer": "an integer",
    "trace": "a trace's id",
}
_TYPE_CHECKS: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),  # in Python, True is an int
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "trace": lambda value: isinstance(value, str) and bool(value),
}


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns of a dataset in their order, each with its type."""

    columns: Columns

    @property
    def trace_column(self) -> str | None:
        """The column with the ids of traces, if there is one."""
        return next((name for name, type_ in self.columns.items() if type_ == "trace"), None)

    @property
    def document(self) -> dict[str, Any]:
        """The JSON Schema."""
        return {"type": "object", "properties": {name: {"type": type_} for name, type_ in self.columns.items()}}

    def problems(self, row: Mapping[str, Any]) -> Iterator[str]:
        """The problems of a row. Besides its columns a row may have a name."""
        for column, type_ in self.columns.items():
            if (value := row.get(column)) is None:
                yield f"column {column!r:.60}: is missing"
            elif not _TYPE_CHECKS[type_](value):
                yield f"column {column!r:.60}: must be {_TYPE_NAMES.get(type_, f'a {type_}')}, not {value!r:.60}"
        for key, value in row.items():
            if key not in self.columns and value is not None and not (key == NAME_FIELD and isinstance(value, str)):
                known = ", ".join(self.columns)
                yield f"column {key!r:.60}: there is no such column; the schema has {known:.200}"

    def line(self, row: Mapping[str, Any]) -> bytes | str:
        """The stored form of a row, or its problems."""
        if wrong := "; ".join(self.problems(row)):
            return wrong
        ordered: Row = {column: row[column] for column in self.columns}
        if NAME_FIELD not in ordered and row.get(NAME_FIELD) is not None:
            ordered[NAME_FIELD] = row[NAME_FIELD]
        try:
            line = encode_row(ordered)
        except ValueError as error:
            return str(error)
        nested = any(isinstance(value, list | dict) for value in ordered.values())
        # A tuple or a key 1 would come back as a list or "1".
        return _NOT_PLAIN if nested and decode_row(line) != ordered else line


def parse_schema(document: object) -> Schema:
    """Parse a JSON Schema.

    Raises:
        InvalidDataset: it is not a JSON Schema of an object, has no columns or several of traces, or is not supported.
    """
    given = _check_object(document, "the schema", _SCHEMA_KEYS)
    if given.get("type") != "object":
        raise InvalidDataset(f"the schema's type must be 'object', not {given.get('type')!r:.60}")
    properties = given.get("properties")
    if not isinstance(properties, Mapping) or not properties:
        raise InvalidDataset(f"the schema's properties must be an object with the columns, not {properties!r:.60}")
    columns: Columns = {}
    for name, column in properties.items():
        _check_name(name)
        given_type = _check_object(column, f"the schema of column {name!r:.60}", _COLUMN_KEYS).get("type")
        type_ = next((each for each in TYPES if each == given_type), None)
        if type_ is None:
            known = ", ".join(TYPES)
            raise InvalidDataset(f"the type of column {name!r:.60} must be one of {known}, not {given_type!r:.60}")
        columns[name] = type_
    schema = Schema(columns)
    if len(traces := [name for name, type_ in schema.columns.items() if type_ == "trace"]) > 1:
        raise InvalidDataset(f"the schema has {len(traces)} columns of type trace, and may have one: {traces!r:.200}")
    # Every column is required and no other is allowed, so the schema must not contradict that.
    required = given.get("required", [])
    if not isinstance(required, list) or (other := [name for name in required if name not in schema.columns]):
        raise InvalidDataset(f"the schema requires {other if isinstance(required, list) else required!r:.200}")
    if given.get("additionalProperties"):
        raise InvalidDataset("the schema allows additionalProperties; a row can have its columns only")
    return schema


def infer_schema(rows: Iterable[Mapping[str, Any]]) -> Schema:
    """The schema of rows that all have the same fields. A field that is None counts as missing.

    Raises:
        InvalidDataset: there are no rows, their fields differ, or a value has no type that a column can have.
    """
    columns: Columns = {}
    for number, row in enumerate(rows, 1):
        types: Columns = {
            _check_name(name): _infer_type(name, value) for name, value in row.items() if value is not None
        }
        if number > 1 and (differing := sorted(types.keys() ^ columns.keys())):
            raise InvalidDataset(f"the examples have different fields: {differing!r:.300} (example {number})")
        columns = types if number == 1 else {n: _merge_types(n, columns[n], types[n], number) for n in columns}
    if not columns:
        raise InvalidDataset("a dataset needs a schema, or examples to find it from")
    return Schema(columns)


def _check_object(given: object, what: str, known: set[str]) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise InvalidDataset(f"{what} must be an object, not {given!r:.60}")
    if unknown := sorted(str(key) for key in given.keys() - known):
        raise InvalidDataset(
            f"{what} contains {unknown[0]!r:.60}, which is not supported",
            advice="Of a column, only the type is checked.",
        )
    return given


def _check_name(name: object) -> str:
    if not isinstance(name, str) or not name.strip():
        raise InvalidDataset(f"a column needs a name, not {name!r:.60}")
    return name


def _infer_type(name: str, value: object) -> ColumnType:
    """The first type that fits. A boolean is no integer."""
    for type_ in ("boolean", "integer", "number", "string", "array", "object"):
        if _TYPE_CHECKS[type_](value):
            return type_
    raise InvalidDataset(f"field {name!r:.60}: no column can hold {value!r:.60}", advice="Use plain data of JSON.")


def _merge_types(name: str, one: ColumnType, other: ColumnType, number: int) -> ColumnType:
    if one == other:
        return one
    if {one, other} == {"integer", "number"}:
        return "number"
    raise InvalidDataset(f"field {name!r:.60}: {one} in the examples before, {other} in example {number}")


@dataclass(frozen=True, slots=True)
class Example:
    """Fields for an agent and judges. Created by `Example.create(input=…, …)`.

    Args:
        _properties: the fields, as JSON data.
        name: the name of the example; may be empty.
        example_id: a generated text that no other example has. In a dataset it is a number, counted from 1, assigned
            by the dataset and never reused.
        offline_trace_id: the id of the trace of the example.
        trace: the trace, if judges may see it.
        created_at: the time in ISO format; in a dataset the time of the version that added the example.
    """

    _properties: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    example_id: int | str = field(default_factory=lambda: str(uuid4()))
    offline_trace_id: str | None = None
    trace: Trace | None = field(default=None, compare=False, repr=False)
    created_at: str = field(default_factory=lambda: datetime.now(UTC).isoformat(), compare=False)

    @classmethod
    def create(cls, *, name: str = "", offline_trace_id: str | None = None, **fields: Any) -> Example:
        """An example of these fields."""
        return cls(fields, name, offline_trace_id=offline_trace_id)

    @property
    def properties(self) -> dict[str, Any]:
        """A copy of the fields."""
        return dict(self._properties)

    def __getitem__(self, field_name: str) -> Any:
        return self._properties[field_name]

    def __contains__(self, field_name: object) -> bool:
        return field_name in self._properties

    def __iter__(self) -> Iterator[str]:
        return iter(self._properties)

    def get(self, field_name: str, default: Any = None) -> Any:
        """A field, or the default if it is missing."""
        return self._properties.get(field_name, default)

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain data, with the id, the time, and the name if it has one."""
        own = {
            "example_id": self.example_id,
            "created_at": self.created_at,
            NAME_FIELD: self.name,
            "offline_trace_id": self.offline_trace_id,
        }
        return {**{key: value for key, value in own.items() if value}, **self._properties}

    def row(self, schema: Schema) -> dict[str, Any]:
        """The row of a dataset. The id of the trace is in the column of traces."""
        trace, column = self.offline_trace_id, schema.trace_column
        named = {NAME_FIELD: self.name} if self.name else {}
        return {**named, **({column or "offline_trace_id": trace} if trace else {}), **self._properties}


def to_example(row: Mapping[str, Any], example_id: int, schema: Schema, created_at: str) -> Example:
    """The example of a row, which was added at this time."""
    properties = {key: row[key] for key in row if key in schema.columns}
    trace = row.get(schema.trace_column) if schema.trace_column else None
    name = row.get(NAME_FIELD, "") if NAME_FIELD not in schema.columns else ""
    return Example(properties, name, example_id, trace, created_at=created_at)
