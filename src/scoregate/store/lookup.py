"""Finds documents by id. An id is a slug of the name, or given by the caller."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any
from unicodedata import normalize

from scoregate.errors import StoreError
from scoregate.store.kinds import Kind
from scoregate.store.protocol import Store

_MAX_SLUG_LENGTH = 60


def find_document(store: Store, kind: Kind[Any], document_id: str) -> Any:
    """The document with this id; None if there is none.

    Raises:
        StoreError: it cannot be read, or contains another id.
    """
    if (document := next(store.read(kind, (document_id,)), None)) is None:
        return None
    if document.id not in ("", document_id):
        where = store.location(kind, (document_id,))
        raise StoreError(
            f"{where} has the id {document.id!r:.60}, but its file is named {document_id!r:.60}",
            advice="If it is a copy, delete the line with the id; else rename the file.",
        )
    return document.model_copy(update={"id": document_id})


def list_documents(store: Store, kind: Kind[Any]) -> Iterator[Any]:
    """All documents of a kind, sorted by id."""
    for (document_id,) in store.list_keys(kind):
        if (document := find_document(store, kind, document_id)) is not None:
            yield document


def ambiguous_name_message(name: str, ids: Iterable[object]) -> str:
    """The error message if several entities have the same name."""
    return (
        f"More than one entity found with name {name!r:.200}. Entity names must be unique. Please use the entity id"
        f" instead. Matching entity IDs: {', '.join(map(str, ids)):.500}"
    )


def unused_id(store: Store, kind: Kind[Any], name: str | None) -> str:
    """A new id from a name, or from the kind's name without one. Needs the lock."""
    slug = to_slug(name or "") or kind.key_parts[0].replace(" ", "-")
    candidates = (slug if number == 1 else f"{slug}-{number}" for number in count(1))
    return next(document_id for document_id in candidates if next(store.read(kind, (document_id,)), None) is None)


def to_slug(name: str) -> str:
    """The letters and digits of a name in lower case, with hyphens between words; at most 60 characters."""
    plain = normalize("NFKC", name).casefold()
    words = "-".join(re.findall(r"[^\W_]+", plain))
    return words[:_MAX_SLUG_LENGTH].strip("-")
