"""The items of a run to review. Their texts are in a temporary file, so memory does not grow with them."""

from __future__ import annotations

import pickle
import tempfile
import threading
import weakref
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar

from scoregate.kernel.compare.judge_checks import is_failing
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.text import natural_sort_key
from scoregate.store import Store
from scoregate.store.kinds import Kind
from scoregate.store.review_records import ChangeCounts, ReviewRecord, age_key, upsert
from scoregate.web.review_items import Battle, JudgedScore, digest, find_battles, find_judged_scores

T = TypeVar("T", Battle, JudgedScore)


class QueueRow(NamedTuple):
    """An item in a list, without its texts. The fields after `name` are for scores of judges only.

    `chooses`: the choices of the judge are known. `sampled`: the score was drawn at random. `judge` is the fingerprint
    of the judge. `fails`: its score misses the threshold.
    """

    key: str
    suite: str
    evaluator: str
    name: str
    score: float = 0.0
    battles: tuple[str, ...] = ()
    chooses: bool = False
    sampled: bool = False
    judge: str = ""
    fails: bool = False


class Spool(Generic[T]):
    """Items to review by suite, evaluator and name, each once. Threads may share it when it is filled."""

    def __init__(self, row: Callable[[T], QueueRow]) -> None:
        self._file = tempfile.TemporaryFile(prefix="scoregate-review-")  # noqa: SIM115 (closed with the spool)
        weakref.finalize(self, self._file.close)
        self._places: dict[str, tuple[int, int]] = {}
        self._rows: dict[str, QueueRow] = {}
        self._places_in_sample: dict[str, int] = {}
        self._change: Callable[[T], T] = lambda item: item
        self._row: Callable[[T], QueueRow] = row
        self._lock = threading.Lock()

    def add(self, item: T) -> None:
        """Add an item, unless its key is there already; not after the first read."""
        row = self._row(item)
        if row.key not in self._places:
            data = pickle.dumps(item)
            self._places[row.key] = self._file.tell(), len(data)
            self._file.write(data)
            self._rows[row.key] = row

    def keep(self, keys: Iterable[str], change: Callable[[T], T]) -> None:
        """Keep only these items, in this order for each evaluator; not after the first read.

        Args:
            keys: the keys of the items.
            change: changes an item when it is read.
        """
        self._places_in_sample = {key: place for place, key in enumerate(keys)}
        self._rows = {key: self._rows[key] for key in self._places_in_sample}
        self._places = {key: self._places[key] for key in self._places_in_sample}
        self._change = change

    def row_of(self, key: str) -> QueueRow:
        """The row of an item, also while items are added."""
        return self._rows[key]

    @cached_property
    def rows(self) -> Mapping[str, QueueRow]:
        """All items by key, in order."""
        if places := self._places_in_sample:
            order = sorted(self._rows.values(), key=lambda row: (row.evaluator, places[row.key]))
        else:
            order = sorted(self._rows.values(), key=_row_order)
        return {row.key: row for row in order}

    @cached_property
    def evaluators(self) -> tuple[str, ...]:
        """The evaluators of the items."""
        return tuple(sorted({row.evaluator for row in self._rows.values()}))

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, key: str) -> bool:
        return key in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self.rows)

    def __getitem__(self, key: str) -> T:
        """The item with this key.

        Raises:
            KeyError: there is no such item.
        """
        start, length = self._places[key]
        with self._lock:
            self._file.seek(start)
            item: T = pickle.loads(self._file.read(length))  # an unnamed temporary file, written by this process only
        return self._change(item)


@dataclass(frozen=True, slots=True)
class Queue:
    """The battles and scores of judges in a run."""

    battles: Spool[Battle]
    judged: Spool[JudgedScore]


def _unchanged(judged: JudgedScore) -> JudgedScore:
    return judged


def _ignore(key: str, evaluator: str, case: CaseResult) -> None:
    """Ignore a score."""


def build_queue(
    run: Run,
    *,
    revise: Callable[[JudgedScore], JudgedScore | None] = _unchanged,
    on_score: Callable[[str, str, CaseResult], None] = _ignore,
) -> Queue:
    """Build the queue of a run. The cases are read once.

    Args:
        run: the run.
        revise: changes a score; None removes it.
        on_score: called with the key and evaluator of each score, and with its case.
    """
    battle_rows = Spool[Battle](lambda each: QueueRow(each.key, each.suite, each.evaluator, each.name))
    queue = Queue(battle_rows, Spool(_judged_row))
    for case in run.cases:
        suite = run.suites[case.suite]
        battles = list(find_battles(case, suite.label))
        for battle in battles:
            queue.battles.add(battle)
        for score in find_judged_scores(case, suite, [battle.key for battle in battles]):
            if (judged := revise(score)) is not None:
                queue.judged.add(judged)
                on_score(judged.key, judged.evaluator, case)
    return queue


def _judged_row(judged: JudgedScore) -> QueueRow:
    return QueueRow(
        judged.key,
        judged.suite,
        judged.evaluator,
        judged.name,
        judged.score,
        judged.battles,
        chooses=bool(judged.choices),
        sampled=judged.sampled,
        judge=judged.fingerprint,
        fails=is_failing(judged.score, judged.threshold),
    )


def _row_order(row: QueueRow) -> tuple[object, ...]:
    return natural_sort_key(row.suite), row.suite, row.evaluator, natural_sort_key(row.name), row.name


S = TypeVar("S", bound=ReviewRecord)
W = TypeVar("W")
# Reviews by key of the item and by reviewer, the oldest first; the last one counts.
Reviews = Mapping[str, Mapping[str, Sequence[W]]]


class CachedReviews(Generic[S, W]):
    """Reviews by evaluator, read again when the store changes. Threads may share it.

    Args:
        store: the store.
        kind: the kind of review.
        key: the key of the item of a review, from the evaluator and the review.
        value: the part of a review to keep in memory.
    """

    def __init__(self, store: Store, kind: Kind[S], *, key: Callable[[str, S], str], value: Callable[[S], W]) -> None:
        self._store, self._kind, self._key, self._value = store, kind, key, value
        self._known: dict[str, tuple[Hashable, Reviews[W]]] = {}
        self._lock = threading.Lock()

    def read_item_reviews(self, row: QueueRow) -> Mapping[str, Sequence[W]]:
        """The reviews of an item by reviewer.

        Raises:
            StoreError: the reviews can't be read.
        """
        return self.read_evaluator_reviews(row.evaluator).get(row.key, {})

    def read_evaluator_reviews(self, evaluator: str) -> Reviews[W]:
        """All reviews of items of an evaluator.

        Raises:
            StoreError: the reviews can't be read.
        """
        with self._lock:
            # Before the reviews: one that comes in between is read the next time.
            mark = self._store.stamp(self._kind, (evaluator,))
            known = self._known.get(evaluator)
            if known is None or known[0] != mark:
                known = self._known[evaluator] = mark, self._read(evaluator)
            return known[1]

    def marks(self, evaluators: Iterable[str]) -> tuple[Any, ...]:
        """A value that changes when there are new reviews for these evaluators."""
        return tuple((name, self._store.stamp(self._kind, (name,))) for name in evaluators)

    def _read(self, evaluator: str) -> Reviews[W]:
        reviews: defaultdict[str, defaultdict[str, list[W]]] = defaultdict(lambda: defaultdict(list))
        for each in sorted(self._store.read(self._kind, (evaluator,)), key=age_key):
            reviews[self._key(evaluator, each)][each.by].append(self._value(each))
        return reviews


def save_reviews(
    store: Store,
    kind: Kind[S],
    evaluator: str,
    *,
    reviews: Iterable[S],
    key: Callable[[str, S], str],
) -> ChangeCounts:
    """Save reviews with the current time. They replace earlier reviews of the same items by the same people.

    Args:
        store: the store.
        kind: the kind of review.
        evaluator: the evaluator.
        reviews: the reviews.
        key: the key of the item of a review, as in `CachedReviews`.

    Raises:
        StoreError: the reviews can't be written.
    """
    now = datetime.now(UTC)
    timed = [each.model_copy(update={"created_at": now}) for each in reviews]
    return upsert(store, kind, (evaluator,), timed, subject=lambda each: (key("", each), each.by))


# The rarer verdict of a judge has at least this share of a sample. More would cost reviews of the other verdict, where
# most errors of a judge are: with equal shares, a run with 10 % failures takes up to twice as many.
_LEAST_SHARE = 0.2


def draw_sample(run: Run, size: int | None = None) -> Queue:
    """The battles of a run and a random sample of its scores of judges, which has enough of each verdict.

    Of each judge, at least a fifth of the sample are scores of its rarer verdict, failing or passing, if there are
    enough. Within a verdict, all scores are equally likely. A run always gives the same sample, and a larger sample
    contains a smaller one. Equal scores of the same output, as from repeats, are drawn once.

    Args:
        run: the run.
        size: the maximum number of scores; None for all.
    """
    ranks: dict[str, str] = {}

    def rank(key: str, evaluator: str, case: CaseResult) -> None:
        suite = run.suites[case.suite].label
        number = digest("sample", run.id, suite, case.hash, str(case.repeat), evaluator)
        # The smallest of equal scores, whatever the order of the cases.
        ranks[key] = min(ranks.get(key, number), number)

    queue = build_queue(
        run, revise=lambda judged: replace(judged, sampled=True) if judged.asked else None, on_score=rank
    )
    strata = defaultdict[tuple[str, str], dict[bool, list[str]]](lambda: {True: [], False: []})
    for key in sorted(ranks, key=lambda key: ranks[key]):
        row = queue.judged.row_of(key)
        strata[row.evaluator, row.judge][row.fails].append(key)
    places = dict[str, float]()
    for verdicts in strata.values():
        places |= place_scores(list(verdicts.values()))
    # Of all scores of the run: the next statement drops most of them.
    shares = {judge: len(each[True]) / sum(map(len, each.values())) for judge, each in strata.items()}
    queue.judged.keep(
        sorted(places, key=lambda key: (places[key], ranks[key]))[:size],
        lambda judged: replace(judged, failing_share=shares[judged.evaluator, judged.fingerprint]),
    )
    return queue


def place_scores(verdicts: Sequence[Sequence[str]]) -> Mapping[str, float]:
    """When each score of a judge is drawn: those of a verdict at equal distances, from 0 on.

    A verdict with the share s of a sample has its k-th score at (k − ½) / s, relative to the scores of the judge. So
    every beginning of the sample has each verdict's share, and each judge's.

    Args:
        verdicts: the keys of the scores of each verdict, in random order.
    """
    total, most = sum(map(len, verdicts)), 1 - _LEAST_SHARE
    is_mixed = all(verdicts)
    places = dict[str, float]()
    for keys in verdicts:
        share = min(most, max(_LEAST_SHARE, len(keys) / total)) if is_mixed else 1.0
        places |= {key: (index + 0.5) / share / total for index, key in enumerate(keys)}
    return places


def count_scores(queue: Queue) -> Mapping[str, tuple[int, int]]:
    """Count the failing and the passing scores of each judge."""
    counts = Counter((row.evaluator, row.fails) for row in queue.judged.rows.values())
    return {name: (counts[name, True], counts[name, False]) for name in queue.judged.evaluators}
