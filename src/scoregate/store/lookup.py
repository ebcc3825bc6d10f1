"""Documents by their ids: found, listed, named; an id is a slug of the name, or the caller's own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any
from unicodedata import normalize

from scoregate.errors import StoreError
from scoregate.store.kinds import Kind
from scoregate.store.protocol import Store

_LONGEST = 60


def head_of(store: Store, kind: Kind[Any], own: str) -> Any:
    """The document of this id; None where there is none.

    Raises:
        StoreError: it cannot be read, or says that it has another id.
    """
    if (found := next(store.read(kind, (own,)), None)) is None:
        return None
    if found.id not in ("", own):
        raise StoreError(
            f"{store.where(kind, (own,))} calls itself {found.id!r:.60}, and its name there is {own!r:.60}",
            advice="Of a copy delete the line with the id; else rename it.",
        )
    return found.model_copy(update={"id": own})


def heads(store: Store, kind: Kind[Any]) -> Iterator[Any]:
    """All documents of a kind, by id."""
    for (own,) in store.shelves(kind):
        if (found := head_of(store, kind, own)) is not None:
            yield found


def ambiguous(name: str, ids: Iterable[object]) -> str:
    """What to say where several things have the name that one was to be found by."""
    return (
        f"More than one entity found with name {name!r:.200}. Entity names must be unique. Please use the entity id"
        f" instead. Matching entity IDs: {', '.join(map(str, ids)):.500}"
    )


def free_id(store: Store, kind: Kind[Any], name: str | None) -> str:
    """An id for something of this name that nothing has. Needs the lock."""
    slug = slug_of(name or "") or kind.shelf[0].replace(" ", "-")
    candidates = (slug if number == 1 else f"{slug}-{number}" for number in count(1))
    return next(own for own in candidates if next(store.read(kind, (own,)), None) is None)


def slug_of(name: str) -> str:
    """The letters and digits of a name, in small, with hyphens between words; at most 60 characters."""
    plain = normalize("NFKC", name).casefold()
    words = "-".join(re.findall(r"[^\W_]+", plain))
    return words[:_LONGEST].strip("-")
