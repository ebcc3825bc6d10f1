"""Base classes of entities: checked fields, JSON and CSV, and the store."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from types import UnionType
from typing import Any, ClassVar, Self, Union, get_args, get_origin
from uuid import UUID

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.fields import FieldInfo

from scoregate.errors import EntityError
from scoregate.store import Kind, Store, Writer, current_store
from scoregate.store.errors import error_message
from scoregate.store.lookup import find_document, unused_id
from scoregate.store.tables import TableError, TableReader, guard_cell, open_text, to_cell, unguard_cell
from scoregate.store.toml import Document


def build_document(kind: Kind[Any], fields: dict[str, Any], there: Any | None) -> Any:
    """A document with these fields, and the comments of the present document.

    Raises:
        EntityError: the fields are invalid, or a value cannot be stored.
    """
    present = {} if there is None else there.model_dump()
    try:
        document = kind.model.model_validate({**present, **fields})
        if isinstance(there, Document) and isinstance(document, Document):
            document._text = there._text
        _check_writable(kind, document)
    except ValidationError as error:
        raise EntityError(f"{_kind_name(kind)} {fields.get('name')!r:.60}: {error_message(error)}") from None
    return document


def _check_writable(kind: Kind[Any], document: Any) -> None:
    """Check that the file would contain the same values. TOML has no null, for example."""
    try:
        text = b"".join(kind.layout.write([document]))
    except (TypeError, ValueError) as error:
        raise EntityError(f"{_kind_name(kind)} {document.name!r:.60} cannot be kept: {error}") from None
    stored = next(kind.layout.read(BytesIO(text), kind, origin=_kind_name(kind)))
    if stored.model_dump() != document.model_dump():
        lost = [name for name, value in document.model_dump().items() if getattr(stored, name) != value]
        raise EntityError(
            f"{_kind_name(kind)} {document.name!r:.60}: {', '.join(lost)} cannot be kept as it is",
            advice="Use text, numbers, true and false, lists and tables; None has no form in TOML.",
        )


def _kind_name(kind: Kind[Any]) -> str:
    return kind.key_parts[0]


def to_name(thing: Any) -> str:
    """The name of a thing: a text, or the `name` of an object or a mapping.

    Raises:
        TypeError: it has no name.
    """
    name = thing.get("name") if isinstance(thing, Mapping) else getattr(thing, "name", thing)
    if not isinstance(name, str) or not name:
        raise TypeError(f"a name, or something that has one, is needed, not {thing!r:.60}")
    return name


def to_id(thing: Any) -> str:
    """The id of a thing: a text, a UUID, or the `id` of an object or a mapping.

    Raises:
        TypeError: it has no id.
    """
    identifier = thing.get("id") if isinstance(thing, Mapping) else getattr(thing, "id", thing)
    identifier = str(identifier) if isinstance(identifier, UUID) else identifier
    if not isinstance(identifier, str) or not identifier:
        raise TypeError(f"an id, or something that has one, is needed, not {thing!r:.60}")
    return identifier


def write_row(fields: Mapping[str, Any], path: Path) -> None:
    """Write a header and one row. Values that are no text are JSON, None is an empty cell.

    Raises:
        OSError: the file cannot be written.
    """
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([list(fields), [guard_cell(to_cell(value)) for value in fields.values()]])


def read_row(path: Path, model: type[BaseModel]) -> dict[str, Any]:
    """The fields that `write_row` wrote for an entity of this class.

    Raises:
        EntityError: the file does not have a header and one row.
        OSError: the file cannot be read.
    """
    try:
        with open_text(path) as file:
            table = TableReader(file)
            rows = [table.header, *(row for _, row in table if row)]
    except TableError as error:
        raise EntityError(error.message(path), advice=error.advice) from None
    if len(rows) != 2 or len(rows[0]) != len(rows[1]):
        raise EntityError(f"{path}: must be a header and one row with as many cells")
    fields = model.model_fields
    return {name: _parse_cell(unguard_cell(cell), fields.get(name)) for name, cell in zip(*rows, strict=True) if cell}


def _parse_cell(cell: str, field: FieldInfo | None) -> object:
    if field is None:
        return cell
    is_union = get_origin(field.annotation) in (Union, UnionType)
    types = get_args(field.annotation) if is_union else (field.annotation,)
    if any(isinstance(kind, type) and issubclass(kind, str) for kind in types):
        return cell
    try:
        return json.loads(cell)
    except ValueError:
        return cell


class EntityModel(BaseModel):
    """A model with fields. Assigned values are validated, unknown names are ignored."""

    model_config = ConfigDict(validate_assignment=True, extra="ignore")

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON data."""
        return self.model_dump(mode="json")

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Create an object from its fields.

        Raises:
            ValueError: pydantic's ValidationError.
        """
        return cls.model_validate(data)

    def to_csv(self, filename: str | Path) -> None:
        """Write a header and one row."""
        write_row(self.to_dict(), Path(filename))

    @classmethod
    def from_csv(cls, filename: str | Path) -> Self:
        """Read a file that `to_csv` wrote.

        Raises:
            EntityError: the file does not have a header and one row.
            OSError: the file cannot be read.
        """
        return cls.from_dict(read_row(Path(filename), cls))

    def __str__(self) -> str:
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)


class Entity(EntityModel):
    """An object in the store, under its `id`. `push` assigns an id if it has none."""

    push_required: ClassVar[tuple[str, ...]] = ()

    id: str | None = None

    def push(self) -> dict[str, Any]:
        """Store it, replace the object with its id, and return the stored fields.

        Raises:
            EntityError: a required field is missing.
            StoreError: it cannot be written.
        """
        raise NotImplementedError

    def pull(self) -> Self:
        """Load its fields from the store, and return it.

        Raises:
            EntityError: it has no id, or the id does not exist.
            StoreError: it cannot be read.
        """
        raise NotImplementedError

    def delete(self) -> bool:
        """Delete it from the store; return whether it existed.

        Raises:
            EntityError: it has no id.
            StoreError: it cannot be written.
        """
        raise NotImplementedError

    def _own_id(self) -> str:
        if not self.id:
            raise EntityError("Entity has no ID")
        return self.id

    def _check_required(self) -> None:
        if missing := [name for name in self.push_required if getattr(self, name) is None]:
            raise EntityError(f"Required fields for push: {', '.join(missing)}")


class StoredEntity(Entity):
    """An entity that is a document. `push` preserves comments in its file."""

    kind: ClassVar[Kind[Any]]
    push_required: ClassVar[tuple[str, ...]] = ("name",)

    name: str | None = None

    def push(self) -> dict[str, Any]:
        """Store it under its id, which is derived from its name if it has none. A present document is replaced.

        Raises:
            EntityError: a field is missing or cannot be stored.
            StoreError: it cannot be written.
        """
        self._check_required()
        store = current_store()
        with store.open_writer() as writer:
            own = self.id or unused_id(store, self.kind, self.name)
            stored = find_document(store, self.kind, own)
            fields = {**self._fields(), "id": own}
            if "created_at" in self.kind.model.model_fields and (stored is None or stored.created_at is None):
                fields.setdefault("created_at", datetime.now(UTC))
            document = build_document(self.kind, fields, stored)
            self._write(writer, document)
        for name in {"id", "created_at"} & type(self).model_fields.keys():
            setattr(self, name, getattr(document, name))
        return document.model_dump(mode="json")  # type: ignore[no-any-return]

    def pull(self) -> Self:
        """Load its fields from the store, and return it.

        Raises:
            EntityError: it has no id, or the id does not exist.
            StoreError: it cannot be read.
        """
        store, own = current_store(), self._own_id()
        if (document := find_document(store, self.kind, own)) is None:
            raise EntityError(
                f"there is no {self.kind.key_parts[0]} {own!r:.200}",
                advice=f"Looked in {store.location(self.kind, (own,))}.",
            )
        self._take(document, store)
        return self

    def delete(self) -> bool:
        """Delete it from the store by its id; return whether it existed.

        Raises:
            EntityError: it has no id.
            StoreError: it cannot be written.
        """
        store, own = current_store(), self._own_id()
        with store.open_writer() as writer:
            is_stored = next(store.read(self.kind, (own,)), None) is not None
            writer.update(self.kind, (own,), lambda _: [])
        return is_stored

    @classmethod
    def read(cls, head: Any) -> Self:
        """The entity of a document. Files next to the document are not read."""
        return cls.model_validate(head.model_dump(exclude_none=True))

    def _fields(self) -> dict[str, Any]:
        """The fields to store: those that were set and are not None. Other stored fields stay."""
        values = {name: getattr(self, name, None) for name in self.kind.model.model_fields}
        assigned = self.model_fields_set
        return {name: value for name, value in values.items() if value is not None and (value or name in assigned)}

    def _write(self, writer: Writer, document: Any) -> None:
        writer.update(self.kind, (document.id,), lambda _: [document])

    def _take(self, head: Any, store: Store) -> None:  # noqa: ARG002
        stored = type(self).read(head)
        for name in self.kind.model.model_fields.keys() & type(self).model_fields.keys():
            setattr(self, name, getattr(stored, name))
