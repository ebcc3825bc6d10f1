"""Words of now into the store, in the place of what the same people said before."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import TypeVar

from scoregate.store import Store
from scoregate.store.kinds import Kind
from scoregate.store.words import Kept, Said, keep

S = TypeVar("S", bound=Said)


def keep_words(store: Store, kind: Kind[S], evaluator: str, *, said: Iterable[S], key: Callable[[str, S], str]) -> Kept:
    """Keep words of now; of what one person says of one thing, by whatever id, the last stays.

    Args:
        key: of the thing that one is about, as `Heard` takes it.

    Raises:
        StoreError: they could not be written.
    """
    now = datetime.now(UTC)
    timed = [each.model_copy(update={"created_at": now}) for each in said]
    return keep(store, kind, (evaluator,), timed, thing=lambda each: (key("", each), each.by))
