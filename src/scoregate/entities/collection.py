"""What all collections can: list what the store has, find one by id or name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Generic, TypeVar

from scoregate.entities.base import Entity
from scoregate.entities.filters import FieldsOf, filter_of
from scoregate.entities.kept import KeptEntity
from scoregate.errors import EntityError
from scoregate.store import Store, current_store
from scoregate.store.heads import ambiguous, head_of, heads

E = TypeVar("E", bound=Entity)
K = TypeVar("K", bound=KeptEntity)


class Collection(Generic[E]):
    """All entities of a kind; `entity` is their class. Every method raises StoreError where one cannot be read."""

    entity: ClassVar[type[Entity]]

    @classmethod
    def all(cls, filter: str | None = None) -> list[E]:  # noqa: A002
        """All of them, or those that pass a filter in a small part of OData, such as `name eq 'Safety'`.

        Raises:
            EntityError: the filter is none that is understood.
        """
        passes = None if filter is None else filter_of(filter)
        return [each for each in cls._every(current_store()) if passes is None or passes(FieldsOf(each))]

    @classmethod
    def first(cls) -> E | None:
        """The first of them; None where there is none."""
        return next(iter(cls._every(current_store())), None)

    @classmethod
    def pull(cls, id: str | None = None, name: str | None = None) -> E:  # noqa: A002
        """One of them, whole: by its id, else by its name, in whatever case.

        Raises:
            EntityError: neither is given, there is none, or several have this name.
        """
        if id is not None:
            return cls.entity(id=str(id)).pull()  # type: ignore[return-value]
        if name is None:
            raise EntityError("Either id or name must be provided")
        found = [each for each in cls._every(current_store()) if _is_called(each, name)]
        if not found:
            raise EntityError(f"No entity found with name {name!r:.200}")
        if len(found) > 1:
            raise EntityError(ambiguous(name, (each.id for each in found)))
        return found[0].pull() if found[0].id else found[0]

    @classmethod
    def exists(cls, id: str) -> bool:  # noqa: A002
        """Whether there is one of this id."""
        return any(each.id == str(id) for each in cls._every(current_store()))

    @classmethod
    def _every(cls, store: Store) -> Iterator[E]:
        raise NotImplementedError


class Documents(Collection[K]):
    """A collection of entities that are a document each."""

    entity: ClassVar[type[KeptEntity]]

    @classmethod
    def exists(cls, id: str) -> bool:  # noqa: A002
        """Whether there is one of this id."""
        return head_of(current_store(), cls.entity.kind, str(id)) is not None

    @classmethod
    def _every(cls, store: Store) -> Iterator[K]:
        return map(cls.entity.read, heads(store, cls.entity.kind))  # type: ignore[arg-type]


def _is_called(entity: Entity, name: str) -> bool:
    found = getattr(entity, "name", None)
    return isinstance(found, str) and found.casefold() == name.casefold()
