"""Reviews by people, as items of the store: reviewer, time and subject."""

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
    """The base class of items. Unknown fields are errors, so a misspelled field is not lost."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ReviewRecord(Item):
    """A review of one subject by one person.

    `id` is a digest of the subject and the person. So a person's second review of a subject replaces the first, and the
    same review on two branches is one item.
    """

    id: str = Field(default="", max_length=200)
    by: str = ""
    created_at: AwareDatetime | None = None

    def about(self) -> object:
        """The subject as JSON."""
        raise NotImplementedError

    @model_validator(mode="after")
    def _set_id(self) -> ReviewRecord:
        if not self.id:
            text = json.dumps([self.about(), self.by], sort_keys=True)
            object.__setattr__(self, "id", hashlib.sha256(text.encode()).hexdigest()[:16])
        return self


S = TypeVar("S", bound=ReviewRecord)


def item_id(item: ReviewRecord) -> str:
    """The id of a review."""
    return item.id


def is_same_review(one: ReviewRecord, other: ReviewRecord) -> bool:
    """Whether two reviews differ at most in their times."""
    return one.model_dump(exclude={"created_at"}) == other.model_dump(exclude={"created_at"})


def age_key(item: ReviewRecord) -> tuple[float, str]:
    """A sort key, the oldest first; reviews without a time come before all others."""
    return (item.created_at.timestamp() if item.created_at else float("-inf"), item.id)


@dataclass(slots=True)
class ChangeCounts:
    """How many items were new, replaced another one, or were there already."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0


def upsert(
    store: Store,
    kind: Kind[S],
    key: Key,
    items: Iterable[S],
    *,
    subject: Callable[[S], Hashable] | None = None,
) -> ChangeCounts:
    """Add items to a collection in one step. An item that is there already keeps its time.

    Args:
        store: the store.
        kind: the kind of review.
        key: the key of the collection.
        items: the new items.
        subject: gives the subject and the person of an item. Items with the same ones but another id are removed. None:
            no other items are removed.

    Raises:
        StoreError: the collection cannot be read or written; then nothing is added.
    """
    counts = ChangeCounts()
    items = list(items)
    new = {} if subject is None else {subject(item): item.id for item in items}

    def change(present: Iterable[S]) -> Iterable[S]:
        by_id = {item.id: item for item in present if subject is None or new.get(subject(item), item.id) == item.id}
        for item in items:
            old = by_id.get(item.id)
            if old is not None and is_same_review(old, item):
                counts.unchanged += 1
                continue
            counts.added += old is None
            counts.changed += old is not None
            by_id[item.id] = item
        return by_id.values()

    store.update(kind, key, change)
    return counts


def remove_items(store: Store, kind: Kind[S], key: Key, names: Iterable[str]) -> list[S]:
    """Remove items from a collection in one step, and return them.

    Args:
        store: the store.
        kind: the kind of review.
        key: the key of the collection.
        names: ids, or unique prefixes of ids.

    Raises:
        StoreError: a name matches no item or several; then nothing is removed.
    """
    removed: dict[str, S] = {}

    def change(present: Iterable[S]) -> Iterable[S]:
        items = list(present)
        for name in names:
            matches = [item for item in items if item.id == name]
            # After the whole ids, since one id may be the beginning of another.
            matches = matches or [item for item in items if name and item.id.startswith(name)]
            if len(matches) != 1:
                problem = f"{len(matches)} ids begin with it" if matches else "no id begins with it"
                raise StoreError(
                    f"{store.location(kind, key)}: {name!r:.200} identifies no review: {problem}",
                    advice="The command `list` shows every id.",
                )
            removed[matches[0].id] = matches[0]
        return [item for item in items if item.id not in removed]

    store.update(kind, key, change)
    return list(removed.values())
