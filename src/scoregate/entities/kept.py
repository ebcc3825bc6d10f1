"""Entities that are a document of the store each."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, ClassVar, Self

from scoregate.entities.base import Entity
from scoregate.entities.made import made
from scoregate.errors import EntityError
from scoregate.store import Kind, Store, Writer, current_store
from scoregate.store.heads import free_id, head_of


class KeptEntity(Entity):
    """An entity whose fields are those of a document; `push` keeps the comments that people wrote there."""

    kind: ClassVar[Kind[Any]]
    push_required: ClassVar[tuple[str, ...]] = ("name",)

    name: str | None = None

    def push(self) -> dict[str, Any]:
        """Keep it: under its id, which it gets from its name if it has none; what had this id is replaced.

        Raises:
            EntityError: something is missing, or cannot be kept. StoreError: it could not be written.
        """
        self._check_required()
        store = current_store()
        with store.writing() as writer:
            own = self.id or free_id(store, self.kind, self.name)
            there = head_of(store, self.kind, own)
            document = made(self.kind, {**_dated(self.kind, there), **self._fields(), "id": own}, there)
            self._write(writer, document)
        for name in {"id", "created_at"} & type(self).model_fields.keys():
            setattr(self, name, getattr(document, name))
        return document.model_dump(mode="json")  # type: ignore[no-any-return]

    def pull(self) -> Self:
        """Take its fields from the store, and return it.

        Raises:
            EntityError: it has no id, or there is none of this id. StoreError: it cannot be read.
        """
        store, own = current_store(), self._own_id()
        if (found := head_of(store, self.kind, own)) is None:
            raise EntityError(
                f"there is no {self.kind.shelf[0]} {own!r:.200}", advice=f"Looked in {store.where(self.kind, (own,))}."
            )
        self._take(found, store)
        return self

    def delete(self) -> bool:
        """Take it out of the store, by its id; whether it was there.

        Raises:
            EntityError: it has no id. StoreError: it could not be written.
        """
        store, own = current_store(), self._own_id()
        with store.writing() as writer:
            there = next(store.read(self.kind, (own,)), None) is not None
            writer.update(self.kind, (own,), lambda _: [])
        return there

    @classmethod
    def read(cls, head: Any) -> Self:
        """The entity of a document; what stands beside that is not read."""
        return cls.model_validate(head.model_dump(exclude_none=True))

    def _fields(self) -> dict[str, Any]:
        """What is kept in the document: what was said, and is not None; else what is there stays."""
        given = {name: getattr(self, name, None) for name in self.kind.model.model_fields}
        said = self.model_fields_set
        return {name: value for name, value in given.items() if value is not None and (value or name in said)}

    def _write(self, writer: Writer, document: Any) -> None:
        writer.update(self.kind, (document.id,), lambda _: [document])

    def _take(self, head: Any, store: Store) -> None:  # noqa: ARG002
        found = type(self).read(head)
        for name in self.kind.model.model_fields.keys() & type(self).model_fields.keys():
            setattr(self, name, getattr(found, name))


def _dated(kind: Kind[Any], there: Any | None) -> dict[str, datetime]:
    is_new = "created_at" in kind.model.model_fields and (there is None or there.created_at is None)
    return {"created_at": datetime.now(UTC)} if is_new else {}
