"""What a dataset's rows look like: columns and their types, given as a JSON Schema or found from rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from scoregate.errors import InvalidDataset
from scoregate.store.datasets import Columns, ColumnType
from scoregate.store.rows import Row, line_of, row_of

TYPES: tuple[ColumnType, ...] = get_args(ColumnType)
_OF_SCHEMA = {"type", "properties", "required", "title", "description", "additionalProperties", "$schema", "$id"}
_OF_COLUMN = {"type", "title", "description", "examples", "$comment"}
NAME = "name"
_NOT_PLAIN = "has something that JSON does not give back as it is: tuples, or keys that are no text"
_MEANS: dict[str, str] = {"array": "an array", "object": "an object", "integer": "an integer", "trace": "a trace's id"}
_IS: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
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
        """The column whose values are ids of traces, where there is one."""
        return next((name for name, type_ in self.columns.items() if type_ == "trace"), None)

    @property
    def document(self) -> dict[str, Any]:
        """As a JSON Schema."""
        return {"type": "object", "properties": {name: {"type": type_} for name, type_ in self.columns.items()}}

    def problems(self, row: Mapping[str, Any]) -> Iterator[str]:
        """All that is wrong with a row. Beside its columns a row may have a name."""
        for column, type_ in self.columns.items():
            if (value := row.get(column)) is None:
                yield f"column {column!r:.60}: is missing"
            elif not _IS[type_](value):
                yield f"column {column!r:.60}: must be {_MEANS.get(type_, f'a {type_}')}, not {value!r:.60}"
        for field, value in row.items():
            if field not in self.columns and value is not None and not (field == NAME and isinstance(value, str)):
                known = ", ".join(self.columns)
                yield f"column {field!r:.60}: there is no such column; the schema has {known:.200}"

    def line(self, row: Mapping[str, Any]) -> bytes | str:
        """A row as it is kept, or what is wrong with it."""
        if wrong := "; ".join(self.problems(row)):
            return wrong
        ordered: Row = {column: row[column] for column in self.columns}
        if NAME not in ordered and row.get(NAME) is not None:
            ordered[NAME] = row[NAME]
        try:
            line = line_of(ordered)
        except ValueError as error:
            return str(error)
        nested = any(isinstance(value, list | dict) for value in ordered.values())
        return _NOT_PLAIN if nested and row_of(line) != ordered else line


def schema_of(document: object) -> Schema:
    """The schema that a JSON Schema describes.

    Raises:
        InvalidDataset: it is no JSON Schema of an object, has no columns, several of traces, or says what is not held.
    """
    given = _object(document, "the schema", _OF_SCHEMA)
    if given.get("type") != "object":
        raise InvalidDataset(f"the schema's type must be 'object', not {given.get('type')!r:.60}")
    properties = given.get("properties")
    if not isinstance(properties, Mapping) or not properties:
        raise InvalidDataset(f"the schema's properties must be an object with the columns, not {properties!r:.60}")
    schema = Schema({_named(name): _type(name, column) for name, column in properties.items()})
    if len(traces := [name for name, type_ in schema.columns.items() if type_ == "trace"]) > 1:
        raise InvalidDataset(f"the schema has {len(traces)} columns of type trace, and may have one: {traces!r:.200}")
    _check_rest(given, schema)
    return schema


def inferred(rows: Iterable[Mapping[str, Any]]) -> Schema:
    """The schema of rows that all have the same fields; a field that is None counts as none.

    Raises:
        InvalidDataset: there are no rows, their fields differ, or a value has no type that a column can have.
    """
    columns: Columns = {}
    for number, row in enumerate(rows, 1):
        found: Columns = {_named(name): _type_of(name, value) for name, value in row.items() if value is not None}
        if number > 1 and (differ := sorted(found.keys() ^ columns.keys())):
            raise InvalidDataset(f"the examples have different fields: {differ!r:.300} (example {number})")
        columns = found if number == 1 else {n: _both(n, columns[n], found[n], number) for n in columns}
    if not columns:
        raise InvalidDataset("a dataset needs a schema, or examples to find it from")
    return Schema(columns)


def _object(given: object, what: str, known: set[str]) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise InvalidDataset(f"{what} must be an object, not {given!r:.60}")
    if unknown := sorted(str(key) for key in given.keys() - known):
        raise InvalidDataset(f"{what} says {unknown[0]!r:.60}, which is not held", advice="Of a column, its type is.")
    return given


def _type(name: str, column: object) -> ColumnType:
    given = _object(column, f"the schema of column {name!r:.60}", _OF_COLUMN).get("type")
    if found := next((type_ for type_ in TYPES if type_ == given), None):
        return found
    raise InvalidDataset(f"the type of column {name!r:.60} must be one of {', '.join(TYPES)}, not {given!r:.60}")


def _named(name: object) -> str:
    if not isinstance(name, str) or not name.strip():
        raise InvalidDataset(f"a column needs a name, not {name!r:.60}")
    return name


def _check_rest(given: Mapping[str, Any], schema: Schema) -> None:
    """Every column is required and there are no others, whatever the schema says: so it may not say otherwise."""
    required = given.get("required", [])
    if not isinstance(required, list) or (other := [name for name in required if name not in schema.columns]):
        raise InvalidDataset(f"the schema requires {other if isinstance(required, list) else required!r:.200}")
    if given.get("additionalProperties"):
        raise InvalidDataset("the schema allows additionalProperties; a row has its columns, and none beside them")


def _type_of(name: str, value: object) -> ColumnType:
    """The first of the types that fits; a boolean is no integer."""
    for type_ in ("boolean", "integer", "number", "string", "array", "object"):
        if _IS[type_](value):
            return type_
    raise InvalidDataset(f"field {name!r:.60}: no column can hold {value!r:.60}", advice="Use plain data of JSON.")


def _both(name: str, one: ColumnType, other: ColumnType, number: int) -> ColumnType:
    if one == other:
        return one
    if {one, other} == {"integer", "number"}:
        return "number"
    raise InvalidDataset(f"field {name!r:.60}: {one} in the examples before, {other} in example {number}")
