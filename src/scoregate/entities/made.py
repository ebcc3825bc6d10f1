"""From the fields of an entity to the document that the store keeps."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from pydantic import ValidationError

from scoregate.errors import EntityError
from scoregate.store import Kind
from scoregate.store.documents import Document
from scoregate.store.problems import said


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
