"""Documents of the store by their ids: found, listed, made; an id is a slug of the name, or the caller's own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import BytesIO
from itertools import count
from typing import Any
from unicodedata import normalize

from pydantic import ValidationError

from scoregate.errors import EntityError, StoreError
from scoregate.store import Kind, Store
from scoregate.store.documents import Document
from scoregate.store.problems import said

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


def made(kind: Kind[Any], fields: dict[str, Any], there: Any | None) -> Any:
    """A document of these fields, with the comments of the one that was there.

    Raises:
        EntityError: they make none, or something in them has no form in a file.
    """
    present = {} if there is None else there.model_dump()
    try:
        document = kind.model.model_validate({**present, **fields})
        if isinstance(there, Document) and isinstance(document, Document):
            document._text = there._text
        _check_writable(kind, document)
    except ValidationError as error:
        raise EntityError(f"{_title(kind)} {fields.get('name')!r:.60}: {said(error)}") from None
    return document


def free_id(store: Store, kind: Kind[Any], name: str | None) -> str:
    """An id for something of this name that nothing has. Needs the lock."""
    slug = slug_of(name or "") or _title(kind).replace(" ", "-")
    candidates = (slug if number == 1 else f"{slug}-{number}" for number in count(1))
    return next(own for own in candidates if next(store.read(kind, (own,)), None) is None)


def slug_of(name: str) -> str:
    """The letters and digits of a name, in small, with hyphens between words; at most 60 characters."""
    plain = normalize("NFKC", name).casefold()
    words = "-".join(re.findall(r"[^\W_]+", plain))
    return words[:_LONGEST].strip("-")


def _check_writable(kind: Kind[Any], document: Any) -> None:
    """What a file says must be what was to be kept: TOML has no null, for one."""
    try:
        text = b"".join(kind.layout.write([document]))
    except (TypeError, ValueError) as error:
        raise EntityError(f"{_title(kind)} {document.name!r:.60} cannot be kept: {error}") from None
    found = next(kind.layout.read(BytesIO(text), kind, origin=_title(kind)))
    if found.model_dump() != document.model_dump():
        lost = [name for name, value in document.model_dump().items() if getattr(found, name) != value]
        raise EntityError(
            f"{_title(kind)} {document.name!r:.60}: {', '.join(lost)} cannot be kept as it is",
            advice="Use text, numbers, true and false, lists and tables; None has no form in TOML.",
        )


def _title(kind: Kind[Any]) -> str:
    return kind.shelf[0]
