"""What others are called, however they are given: by name, by id, as objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID


def name_of(thing: Any) -> str:
    """The name of something: text itself, the `name` of an object or of fields.

    Raises:
        TypeError: it has none.
    """
    found = thing.get("name") if isinstance(thing, Mapping) else getattr(thing, "name", thing)
    if not isinstance(found, str) or not found:
        raise TypeError(f"a name, or something that has one, is needed, not {thing!r:.60}")
    return found


def id_of(thing: Any) -> str:
    """The id of something: text itself, a UUID, the `id` of an object or of fields.

    Raises:
        TypeError: it has none.
    """
    found = thing.get("id") if isinstance(thing, Mapping) else getattr(thing, "id", thing)
    found = str(found) if isinstance(found, UUID) else found
    if not isinstance(found, str) or not found:
        raise TypeError(f"an id, or something that has one, is needed, not {thing!r:.60}")
    return found
