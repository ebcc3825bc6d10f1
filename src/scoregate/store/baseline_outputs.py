"""The outputs that challengers have to beat, by suite and evaluator."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from scoregate.store.json_lines import JSON_LINES
from scoregate.store.kinds import Kind
from scoregate.store.protocol import Store
from scoregate.store.review_records import Item


class Champion(Item):
    """The best output for one test case so far; `case` is its hash."""

    case: str
    output: str


def _case(champion: Champion) -> str:
    return champion.case


CHAMPIONS = Kind("champions", Champion, JSON_LINES, ("suite", "evaluator"), _case)


def champions(store: Store, suite: str, evaluator: str) -> dict[str, str]:
    """The champion of every case that has one, by the case's hash.

    Raises:
        StoreError: they cannot be read.
    """
    return {each.case: each.output for each in store.read(CHAMPIONS, (suite, evaluator))}


def set_baseline_outputs(store: Store, suite: str, evaluator: str, *, outputs: Mapping[str, str]) -> None:
    """Make these outputs, by their cases' hashes, the champions; other cases keep theirs.

    Raises:
        StoreError: they could not be written.
    """
    new = [Champion(case=case, output=output) for case, output in outputs.items()]

    def change(present: Iterable[Champion]) -> Iterable[Champion]:
        return [*present, *new]

    store.update(CHAMPIONS, (suite, evaluator), change)


@dataclass
class BaselineOutputs:
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
                set_baseline_outputs(self.store, self.ring, self.evaluator, outputs=new)
