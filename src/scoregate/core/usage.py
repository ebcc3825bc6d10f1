"""What the model calls behind one call of the user's code have used, and how long they had to wait for a turn."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from hashlib import blake2b
from time import perf_counter

from scoregate.core.evaluation import Usage

_lock = threading.Lock()


class UsageMeter:
    """Counts for one call of the function under test or of an evaluator; costs next to nothing until a model is asked.

    Worker threads and child tasks of the call see the same one. `repeat` is the trial's, from 0; `used` says whether a
    model was asked at all. In a suite's own meter, `memo` is for whoever has to find something out once for all calls.
    """

    __slots__ = ("_counts", "memo", "repeat", "used")

    def __init__(self, repeat: int = 0) -> None:
        self.repeat = repeat
        self.used = False
        self.memo: object = None
        self._counts: _Counts | None = None

    def add(self, usage: Usage) -> None:
        """Count an answer; `usage.cached` says that it was read from a store, and nothing was spent."""
        counts = self._counted()
        with counts.lock:
            counts.usages.append(usage)

    def asked(self, question: str) -> int:
        """How often this question was asked here before: 0, 1, 2 …"""
        return 0 if self._counts is None else self._counts.asked.get(question, 0)

    def ask(self, question: str) -> None:
        """Say that it is asked."""
        counts = self._counted()
        with counts.lock:
            counts.asked[question] = counts.asked.get(question, 0) + 1

    @contextmanager
    def calling(self) -> Iterator[None]:
        """While a call of a model is under way."""
        with self._counted().span(running=1):
            yield

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """While a call that is under way waits for its turn."""
        with self._counted().span(waiting=1):
            yield

    def stop(self) -> None:
        """Say that a model was not asked, because the run may spend no more."""
        self._counted().stopped = True

    @property
    def stopped(self) -> bool:
        """Whether anything is missing for want of budget, whatever the user's code made of that."""
        return self._counts is not None and self._counts.stopped

    @property
    def usages(self) -> tuple[Usage, ...]:
        """What was counted, in the order of the answers."""
        return () if self._counts is None else tuple(self._counts.usages)

    @property
    def usage(self) -> Usage | None:
        """The sum; None where no model was asked."""
        return None if self._counts is None else sum_usage(self._counts.usages)

    def take(self) -> Usage | None:
        """The sum, which is counted elsewhere from now on."""
        usage, self._counts = self.usage, None
        return usage

    def give_up(self, usage: Usage) -> None:
        """Count one such answer no longer, if it was: it is counted elsewhere."""
        if self._counts is not None:
            with self._counts.lock, suppress(ValueError):
                self._counts.usages.remove(usage)

    @property
    def waited_s(self) -> float:
        """Seconds in which every call under way was waiting for its turn."""
        return 0.0 if self._counts is None else self._counts.waited_s

    def _counted(self) -> _Counts:
        if self._counts is None:
            with _lock:
                self._counts = self._counts or _Counts()
                self.used = True
        return self._counts


class _Counts:
    """What a meter holds once it is used."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.usages: list[Usage] = []
        self.asked: dict[str, int] = {}
        self.waited_s = 0.0
        self.stopped = False
        self._running = self._waiting = 0
        self._since = 0.0

    @contextmanager
    def span(self, *, running: int = 0, waiting: int = 0) -> Iterator[None]:
        self._shift(running, waiting)
        try:
            yield
        finally:
            self._shift(-running, -waiting)

    def _shift(self, running: int, waiting: int) -> None:
        with self.lock:
            now = perf_counter()
            if self._waiting and self._waiting == self._running:
                self.waited_s += now - self._since
            self._running += running
            self._waiting += waiting
            self._since = now


METER: ContextVar[UsageMeter | None] = ContextVar("scoregate_meter", default=None)
_gathering: list[UsageMeter] = []


@contextmanager
def collect_usage(meter: UsageMeter) -> Iterator[None]:
    """While the block runs, count here what is asked in threads that do not know their case."""
    _gathering.append(meter)
    try:
        yield
    finally:
        _gathering.remove(meter)


def suite_meter() -> UsageMeter | None:
    """That of the suite that runs in this process, of several the one that began last."""
    suites = tuple(_gathering)
    return suites[-1] if suites else None


def current_meter() -> UsageMeter:
    """That of the call which runs here.

    In a thread that the user's code has started nobody knows it: there it is one for this call of a model alone, whose
    usage counts for the suite that runs in this process, of several for that which began last.
    """
    if (known := METER.get()) is not None:
        return known
    suite = suite_meter()
    return UsageMeter() if suite is None else _UnattributedMeter(suite)


class _UnattributedMeter(UsageMeter):
    __slots__ = ("_suite",)

    def __init__(self, suite: UsageMeter) -> None:
        super().__init__()
        self._suite = suite

    def add(self, usage: Usage) -> None:
        super().add(usage)
        self._suite.add(usage)

    def stop(self) -> None:
        super().stop()
        self._suite.stop()


def sum_usage(usages: Iterable[Usage]) -> Usage | None:
    """The sum of usages; None of none. A cost that is not known is left out; costs of which none is known make None.

    The sum is `cached` where every part is, and it names an answer where every part does.
    """
    parts = tuple(usages)
    if len(parts) < 2:
        return parts[0] if parts else None
    costs = [usage.cost for usage in parts if usage.cost is not None]
    return Usage(
        input_tokens=sum(usage.input_tokens for usage in parts),
        output_tokens=sum(usage.output_tokens for usage in parts),
        cached_tokens=sum(usage.cached_tokens for usage in parts),
        cost=sum(costs) if costs else None,
        model=", ".join(sorted({usage.model for usage in parts if usage.model})) or None,
        answer=_answer_names([usage.answer for usage in parts]),
        cached=all(usage.cached for usage in parts),
    )


def _answer_names(names: list[str | None]) -> str | None:
    known = sorted(name for name in names if name is not None)
    if len(known) < len(names):
        return None
    return blake2b(" ".join(known).encode(), digest_size=8).hexdigest()


def charged_usage(own: Usage | None, meter: UsageMeter) -> Usage | None:
    """What an evaluation carries itself, and what was counted while it was made; nothing of it twice."""
    counted = meter.usage
    if own is None or counted is None:
        return own or counted
    return counted if own == counted or own in meter.usages else sum_usage((own, counted))
