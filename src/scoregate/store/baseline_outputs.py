"""Stored baseline outputs of battles, by suite and evaluator."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter

from scoregate.store.json_lines import JSON_LINES
from scoregate.store.kinds import Kind
from scoregate.store.protocol import Store
from scoregate.store.review_records import Item


class BaselineOutput(Item):
    """The best output of a test case so far. `case` is the hash of the case."""

    case: str
    output: str


BASELINE_OUTPUTS = Kind("champions", BaselineOutput, JSON_LINES, ("suite", "evaluator"), attrgetter("case"))


def load_baseline_outputs(store: Store, suite: str, evaluator: str) -> dict[str, str]:
    """The baseline outputs of an evaluator, by the hash of the case.

    Raises:
        StoreError: they cannot be read.
    """
    return {each.case: each.output for each in store.read(BASELINE_OUTPUTS, (suite, evaluator))}


def set_baseline_outputs(store: Store, suite: str, evaluator: str, *, outputs: Mapping[str, str]) -> None:
    """Store outputs as the baseline of their cases. Other cases keep their outputs.

    Args:
        store: the store.
        suite: the key of the suite's battles, see `kernel.types.runs.baseline_outputs.battle_key`.
        evaluator: the evaluator's id.
        outputs: the outputs, by the hash of the case.

    Raises:
        StoreError: they could not be written.
    """
    new = [BaselineOutput(case=case, output=output) for case, output in outputs.items()]

    def change(present: Iterable[BaselineOutput]) -> Iterable[BaselineOutput]:
        return [*present, *new]  # of two items with one key, `update` keeps the last

    store.update(BASELINE_OUTPUTS, (suite, evaluator), change)


@dataclass
class BaselineOutputs:
    """The baseline outputs of an evaluator, with a write-behind cache. Methods block; threads may share it."""

    store: Store
    battle_key: str
    evaluator: str
    _new: dict[str, str] = field(default_factory=dict)
    _write_lock: threading.Lock = field(default_factory=threading.Lock)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @cached_property
    def outputs(self) -> Mapping[str, str]:
        """The outputs by the hash of the case, read at the first use.

        Raises:
            StoreError: they cannot be read.
        """
        return load_baseline_outputs(self.store, self.battle_key, self.evaluator)

    def save(self, case: str, output: str) -> None:
        """Store an output as the baseline of later runs. Outputs that wait for the file are written together.

        Raises:
            StoreError: it could not be written.
        """
        with self._lock:
            self._new[case] = output
        # Those that wait here find their outputs written by the one before them.
        with self._write_lock:
            with self._lock:
                new, self._new = self._new, {}
            if new:
                set_baseline_outputs(self.store, self.battle_key, self.evaluator, outputs=new)
