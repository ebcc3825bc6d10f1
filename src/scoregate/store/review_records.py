"""What people said, as items of the store: who said it, when, and of what."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, model_validator

from scoregate.errors import StoreError
from scoregate.store.kinds import Key, Kind
from scoregate.store.protocol import Store


class Item(BaseModel):
    """Anything in the store. Nobody's field is ignored: a misspelt one would be lost."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ReviewRecord(Item):
    """What one person said of one thing.

    `id` tells it apart: a digest of what it was said of and by whom, so that a person's second word on a thing takes
    the place of the first, and the same word said on two branches is one.
    """

    id: str = Field(default="", max_length=200)
    by: str = ""
    created_at: AwareDatetime | None = None

    def about(self) -> object:
        """What it was said of, as JSON."""
        raise NotImplementedError

    @model_validator(mode="after")
    def _named(self) -> ReviewRecord:
        if not self.id:
            text = json.dumps([self.about(), self.by], sort_keys=True)
            object.__setattr__(self, "id", hashlib.sha256(text.encode()).hexdigest()[:16])
        return self


S = TypeVar("S", bound=ReviewRecord)


def key_of(item: ReviewRecord) -> str:
    """Its id."""
    return item.id


def same_words(one: ReviewRecord, other: ReviewRecord) -> bool:
    """Whether they say the same, at whatever time."""
    return one.model_dump(exclude={"created_at"}) == other.model_dump(exclude={"created_at"})


def age(item: ReviewRecord) -> tuple[float, str]:
    """What sorts items from the oldest to the newest; those without a time come first."""
    return (item.created_at.timestamp() if item.created_at else float("-inf"), item.id)


@dataclass(slots=True)
class Kept:
    """How many items were new, took the place of another, or had been there."""

    added: int = 0
    changed: int = 0
    known: int = 0


def upsert(
    store: Store,
    kind: Kind[S],
    shelf: Key,
    items: Iterable[S],
    *,
    thing: Callable[[S], Hashable] | None = None,
) -> Kept:
    """Add items to a shelf, all in one step. What is there already stays as it is, with its time.

    Args:
        thing: what an item is said of and by whom, where items of other ids may say it too: those go.

    Raises:
        StoreError: the shelf cannot be read or written; then nothing is added.
    """
    kept = Kept()
    items = list(items)
    new = {} if thing is None else {thing(item): item.id for item in items}

    def change(present: Iterable[S]) -> Iterable[S]:
        stays = present if thing is None else (each for each in present if new.get(thing(each), each.id) == each.id)
        by_id = {item.id: item for item in stays}
        for item in items:
            there = by_id.get(item.id)
            if there is not None and same_words(there, item):
                kept.known += 1
                continue
            kept.added += there is None
            kept.changed += there is not None
            by_id[item.id] = item
        return by_id.values()

    store.update(kind, shelf, change)
    return kept


def remove(store: Store, kind: Kind[S], shelf: Key, names: Iterable[str]) -> list[S]:
    """Take items from a shelf, all in one step, and return them.

    Args:
        names: their ids, or beginnings of ids that only one item has.

    Raises:
        StoreError: a name is that of no item, or of several; then nothing is removed.
    """
    removed: dict[str, S] = {}

    def change(present: Iterable[S]) -> Iterable[S]:
        items = list(present)
        removed.update((item.id, item) for item in (_named(items, name, store.where(kind, shelf)) for name in names))
        return [item for item in items if item.id not in removed]

    store.update(kind, shelf, change)
    return list(removed.values())


def _named(items: list[S], name: str, where: str) -> S:
    found = [item for item in items if item.id == name] or [item for item in items if name and item.id.startswith(name)]
    if len(found) != 1:
        said = f"{len(found)} begin with it" if found else "there is none"
        raise StoreError(f"{where}: no one item {name!r:.200}: {said}", advice="The command `list` shows every id.")
    return found[0]
