"""What users give, as what the store keeps; told in the terms of those who gave it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from scoregate.errors import JudgmentValidationError, StoreError
from scoregate.store import StoredJudge
from scoregate.store.judges import Category
from scoregate.store.problems import said

_LONGEST = 200


def checked_name(name: object) -> str:
    """A name that a judge or a test config can have.

    Raises:
        JudgmentValidationError: it is none.
    """
    if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST:
        raise JudgmentValidationError(f"a name must be a string of 1 to {_LONGEST} characters, not {name!r:.60}")
    if not all(char.isprintable() for char in name):
        raise JudgmentValidationError(f"a name must be on one line, of characters that can be seen, not {name!r:.60}")
    return name


def checked_title(title: str, name: str, *, where: str) -> None:
    """Hold the name that a document gives itself against that of its file.

    Raises:
        StoreError: they differ. `where` is how the file is called.
    """
    if title not in ("", name):
        raise StoreError(
            f"{where} calls itself {title!r:.60}, and its file is that of {name!r:.60}",
            advice="Of a copy correct the name in it, and delete its id and version; else rename the file.",
        )


def checked_judge(base: StoredJudge | None = None, /, **fields: Any) -> StoredJudge:
    """A judge of these fields, and for the rest as the one it is based on, comments in its document included.

    Raises:
        JudgmentValidationError: they make no judge.
    """
    present = {} if base is None else base.model_dump()
    try:
        judge = StoredJudge.model_validate({**present, **fields})
    except ValidationError as error:
        raise JudgmentValidationError(
            f"the judge {fields.get('name', present.get('name'))!r:.60}: {said(error)}"
        ) from None
    return judge if base is None else base.model_copy(update={name: getattr(judge, name) for name in fields})


def read_categories(given: Iterable[Category | Mapping[str, Any] | str] | None) -> tuple[Any, ...]:
    """Categories as they are given: by name, as a dict or as they are."""
    return tuple({"value": each} if isinstance(each, str) else each for each in given or ())
