"""What there is to judge in a run: kept in a temporary file, so that memory follows its number, not its size."""

from __future__ import annotations

import pickle
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from scoregate.core.record import Run
from scoregate.review.battles import Battle, battles_of
from scoregate.review.judged import Judged, judged_of

T = TypeVar("T", Battle, Judged)


class Spool(Generic[T]):
    """Things to judge by suite, evaluator and name, each once. Threads may share it."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="scoregate-review-")  # noqa: SIM115 (as long as we live)
        self._places: dict[str, tuple[int, int]] = {}
        self._names: dict[str, tuple[str, str, str]] = {}
        self._turn = threading.Lock()

    def add(self, item: T) -> None:
        """Take one in, unless there is one of its key."""
        if (key := item.key) not in self._places:
            data = pickle.dumps(item)
            self._places[key] = self._file.tell(), len(data)
            self._file.write(data)
            self._names[key] = item.suite, item.evaluator, item.name

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, key: str) -> bool:
        return key in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._places, key=self._names.__getitem__))

    def __getitem__(self, key: str) -> T:
        """The one of this key.

        Raises:
            KeyError: there is none.
        """
        start, length = self._places[key]
        with self._turn:
            self._file.seek(start)
            item: T = pickle.loads(self._file.read(length))  # ours alone, without a name
        return item


@dataclass(frozen=True, slots=True)
class Queue:
    """The battles and the judges' scores of a run."""

    battles: Spool[Battle]
    judged: Spool[Judged]


def queue_of(run: Run) -> Queue:
    """Read the cases of a run once."""
    queue = Queue(Spool(), Spool())
    for case in run.cases:
        suite = run.suites[case.suite]
        battles = list(battles_of(case, suite.label))
        for battle in battles:
            queue.battles.add(battle)
        for judged in judged_of(case, suite, [battle.key for battle in battles]):
            queue.judged.add(judged)
    return queue
