"""One example of a dataset: its fields, by column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from scoregate.core.trace import Trace
from scoregate.datasets.schema import NAME, Schema


@dataclass(frozen=True, slots=True)
class Example:
    """Fields that an agent gets and judges see. Made by `Example.create(input=…, …)`.

    Args:
        properties: the fields, plain data of JSON.
        name: of the example; empty for none.
        example_id: from 1, given by the dataset when the example is added and its alone forever; None before.
        offline_trace_id: of the trace that belongs to it. trace: itself, where judges see it.
    """

    properties: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    example_id: int | None = None
    offline_trace_id: str | None = None
    trace: Trace | None = field(default=None, compare=False, repr=False)

    @classmethod
    def create(cls, *, name: str = "", offline_trace_id: str | None = None, **fields: Any) -> Example:
        """An example of these fields."""
        return cls(fields, name, offline_trace_id=offline_trace_id)

    def __getitem__(self, field_name: str) -> Any:
        return self.properties[field_name]

    def __contains__(self, field_name: object) -> bool:
        return field_name in self.properties

    def __iter__(self) -> Iterator[str]:
        return iter(self.properties)

    def get(self, field_name: str, default: Any = None) -> Any:
        """A field, or the default where there is none."""
        return self.properties.get(field_name, default)

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain data: its id and name where it has them, and the fields."""
        own = {"example_id": self.example_id, NAME: self.name, "offline_trace_id": self.offline_trace_id}
        return {**{key: value for key, value in own.items() if value}, **self.properties}

    def row(self, schema: Schema) -> dict[str, Any]:
        """As a row of a dataset, which has the trace's id in its column of traces."""
        trace, column = self.offline_trace_id, schema.trace_column
        named = {NAME: self.name} if self.name else {}
        return {**named, **({column or "offline_trace_id": trace} if trace else {}), **self.properties}


def example_of(row: Mapping[str, Any], example_id: int, schema: Schema) -> Example:
    """The example that a row of a dataset is."""
    properties = {key: row[key] for key in row if key in schema.columns}
    trace = row.get(schema.trace_column) if schema.trace_column else None
    name = row.get(NAME, "") if NAME not in schema.columns else ""
    return Example(properties, name, example_id, trace)
