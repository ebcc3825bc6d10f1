"""What there is to judge in a run: texts in a temporary file, so that memory follows its number, not its size."""

from __future__ import annotations

import pickle
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

from scoregate.core.case import CaseResult
from scoregate.core.naming import natural
from scoregate.core.record import Run
from scoregate.review.battles import Battle, battles_of
from scoregate.review.judged import Judged, judged_of

T = TypeVar("T", Battle, Judged)


class Row(NamedTuple):
    """What lists tell of one thing, without its texts; what follows its name is of judges' scores alone.

    `chooses`: it is known what the judge chooses among. `sampled`: the score was drawn at random.
    """

    key: str
    suite: str
    evaluator: str
    name: str
    score: float = 0.0
    battles: tuple[str, ...] = ()
    chooses: bool = False
    sampled: bool = False


class Spool(Generic[T]):
    """Things to judge by suite, evaluator and name, each once. Filled, it may be shared by threads."""

    def __init__(self, row: Callable[[T], Row]) -> None:
        self._file = tempfile.TemporaryFile(prefix="scoregate-review-")  # noqa: SIM115 (as long as we live)
        weakref.finalize(self, self._file.close)
        self._places: dict[str, tuple[int, int]] = {}
        self._rows: dict[str, Row] = {}
        self._row: Callable[[T], Row] = row
        self._turn = threading.Lock()

    def add(self, item: T) -> None:
        """Take one in, unless there is one of its key; before anything is asked."""
        row = self._row(item)
        if row.key not in self._places:
            data = pickle.dumps(item)
            self._places[row.key] = self._file.tell(), len(data)
            self._file.write(data)
            self._rows[row.key] = row

    def keep(self, keys: Iterable[str]) -> None:
        """Leave these alone in it; before anything is asked."""
        kept = set(keys)
        self._places = {key: place for key, place in self._places.items() if key in kept}
        self._rows = {key: row for key, row in self._rows.items() if key in kept}

    @cached_property
    def rows(self) -> Mapping[str, Row]:
        """All of them by key, in order."""
        order = sorted(self._rows.values(), key=_place)
        return {row.key: row for row in order}

    @cached_property
    def evaluators(self) -> tuple[str, ...]:
        """Whose they are."""
        return tuple(sorted({row.evaluator for row in self._rows.values()}))

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, key: str) -> bool:
        return key in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self.rows)

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


def _unchanged(judged: Judged) -> Judged:
    return judged


def _ignore(key: str, evaluator: str, case: CaseResult) -> None:
    """Nobody wants to know."""


def queue_of(
    run: Run,
    *,
    judged_as: Callable[[Judged], Judged | None] = _unchanged,
    seen: Callable[[str, str, CaseResult], None] = _ignore,
) -> Queue:
    """Read the cases of a run once.

    Args:
        judged_as: what becomes of a judge's score; None leaves it out.
        seen: is told the key and the evaluator of each score that is not left out, and its case.
    """
    queue = Queue(Spool(_battle_row), Spool(_judged_row))
    for case in run.cases:
        suite = run.suites[case.suite]
        battles = list(battles_of(case, suite.label))
        for battle in battles:
            queue.battles.add(battle)
        for found in judged_of(case, suite, [battle.key for battle in battles]):
            if (judged := judged_as(found)) is not None:
                queue.judged.add(judged)
                seen(judged.key, judged.evaluator, case)
    return queue


def _battle_row(battle: Battle) -> Row:
    return Row(battle.key, battle.suite, battle.evaluator, battle.name)


def _judged_row(judged: Judged) -> Row:
    return Row(
        judged.key,
        judged.suite,
        judged.evaluator,
        judged.name,
        judged.score,
        judged.battles,
        chooses=bool(judged.choices),
        sampled=judged.sampled,
    )


def _place(row: Row) -> tuple[object, ...]:
    return natural(row.suite), row.suite, row.evaluator, natural(row.name), row.name
