"""What people have said, read again only where the store has changed."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from scoregate.store import Store
from scoregate.store.kinds import Kind
from scoregate.store.words import Said, age

S = TypeVar("S", bound=Said)
W = TypeVar("W")
# By the key of what was said something of and by who said it: all words, the oldest first; the last one counts.
Words = Mapping[str, Mapping[str, Sequence[W]]]


class Heard(Generic[S, W]):
    """Words by evaluator. Threads may share it.

    Args:
        kind: of words. key: of what one is about, which evaluator it was told by. word: what is kept of one in memory.
    """

    def __init__(self, store: Store, kind: Kind[S], *, key: Callable[[str, S], str], word: Callable[[S], W]) -> None:
        self._store, self._kind, self._key, self._word = store, kind, key, word
        self._known: dict[str, tuple[Hashable, Words[W]]] = {}
        self._turn = threading.Lock()

    def of(self, evaluator: str) -> Words[W]:
        """All words on what an evaluator judges.

        Raises:
            StoreError: they cannot be read.
        """
        with self._turn:
            mark = self._store.mark(self._kind, (evaluator,))
            known = self._known.get(evaluator)
            if known is None or known[0] != mark:
                known = self._known[evaluator] = mark, self._read(evaluator)
            return known[1]

    def marks(self, evaluators: Iterable[str]) -> tuple[Any, ...]:
        """What differs once anything was said of what these judge."""
        return tuple((name, self._store.mark(self._kind, (name,))) for name in evaluators)

    def _read(self, evaluator: str) -> Words[W]:
        found: defaultdict[str, defaultdict[str, list[W]]] = defaultdict(lambda: defaultdict(list))
        for each in sorted(self._store.read(self._kind, (evaluator,)), key=age):
            found[self._key(evaluator, each)][each.by].append(self._word(each))
        return found
