"""The champions of one ring and evaluator while a suite runs: read once, and many new ones written together."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from scoregate.store.champions import champions, crown
from scoregate.store.protocol import Store


@dataclass
class Throne:
    """What the store has for battles of a suite. Its methods block; threads may share it."""

    store: Store
    ring: str
    evaluator: str
    _new: dict[str, str] = field(default_factory=dict)
    _turn: threading.Lock = field(default_factory=threading.Lock)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @cached_property
    def champions(self) -> Mapping[str, str]:
        """Their texts by the hashes of their cases, as they were when first asked for.

        Raises:
            StoreError: they cannot be read.
        """
        return champions(self.store, self.ring, self.evaluator)

    def crown(self, case: str, output: str) -> None:
        """Make an output the champion of later runs. Those that wait for the file are written together.

        Raises:
            StoreError: it could not be written.
        """
        with self._lock:
            self._new[case] = output
        with self._turn:
            with self._lock:
                new, self._new = self._new, {}
            if new:
                crown(self.store, self.ring, self.evaluator, outputs=new)
