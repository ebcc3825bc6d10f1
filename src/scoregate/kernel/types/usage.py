"""Meters for the usage and the waiting times of model calls, one per call of the user's code."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from hashlib import blake2b
from time import perf_counter
from typing import TYPE_CHECKING

from scoregate.kernel.types.amounts import NOT_REPORTED, Amount, AtLeast, add, find_known, lack_prices
from scoregate.kernel.types.evaluation import Usage

if TYPE_CHECKING:
    from scoregate.kernel.types.task_trace import ModelCall

REQUEST_LOG = "SCOREGATE_REQUEST_LOG"
"""The variable with the file for the texts of requests of functions under test; unset if they are not needed."""
_lock = threading.Lock()
ANSWER_SEPARATOR = "+"
_MOST_ANSWERS = 8


class UsageMeter:
    """The usage of one call of the function under test or of an evaluator, across its threads and tasks.

    A meter costs next to nothing until a model is called.

    Attributes:
        repeat: the number of the trial, from 0.
        case: the hash of the case; empty if unknown.
        evaluator: the evaluator that is called; empty for the function under test.
        suite: the event log of the suite, or its id; empty if unknown.
        used: whether a model was called.
        memo: in the meter of a suite, a value that is computed once for all calls.
        calls: the calls of models, if a scorer asks for the trace; otherwise None, and nothing is kept.
    """

    __slots__ = ("_counts", "calls", "case", "evaluator", "memo", "repeat", "suite", "used")

    def __init__(self, repeat: int = 0, case: str = "", evaluator: str = "", *, suite: str = "") -> None:
        self.repeat, self.case, self.evaluator, self.suite = repeat, case, evaluator, suite
        self.used = False
        self.memo: object = None
        self.calls: list[ModelCall] | None = None
        self._counts: _Counts | None = None

    def add(self, usage: Usage) -> None:
        """Count the usage of an answer, also of one that was read from a store."""
        counts = self._create_counts()
        with counts.lock:
            counts.usages.append(usage)

    def count_question(self, question: str) -> int:
        """How often this question was asked before."""
        return 0 if self._counts is None else self._counts.questions.get(question, 0)

    def add_question(self, question: str) -> None:
        """Count a question."""
        counts = self._create_counts()
        with counts.lock:
            counts.questions[question] = counts.questions.get(question, 0) + 1

    @contextmanager
    def measure_call(self) -> Iterator[None]:
        """Measure a call of a model: the block is the call."""
        with self._create_counts().span(running=1):
            yield

    @contextmanager
    def measure_wait(self) -> Iterator[None]:
        """Measure the time in which a call waits for the rate limit: the block is the wait."""
        with self._create_counts().span(waiting=1):
            yield

    def stop(self) -> None:
        """Record that a model was not called because the budget is used up."""
        self._create_counts().stopped = True

    @property
    def stopped(self) -> bool:
        """Whether a model was not called because the budget is used up, even if the user's code caught the error."""
        return self._counts is not None and self._counts.stopped

    @property
    def usages(self) -> tuple[Usage, ...]:
        """The usage of each answer, in order."""
        return () if self._counts is None else tuple(self._counts.usages)

    @property
    def usage(self) -> Usage | None:
        """The sum; None if no model was called."""
        return None if self._counts is None else sum_usage(self._counts.usages)

    def take(self) -> Usage | None:
        """Return the sum and reset the meter."""
        usage, self._counts = self.usage, None
        return usage

    def remove(self, usage: Usage) -> None:
        """Remove the usage of one answer, which is counted elsewhere."""
        if self._counts is not None:
            with self._counts.lock, suppress(ValueError):
                self._counts.usages.remove(usage)

    @property
    def waited_s(self) -> float:
        """The seconds in which all running calls waited for the rate limit."""
        return 0.0 if self._counts is None else self._counts.waited_s

    def _create_counts(self) -> _Counts:
        if self._counts is None:
            with _lock:  # two threads may come here at once
                self._counts = self._counts or _Counts()
                self.used = True
        return self._counts


class _Counts:
    """The state of a meter that is used."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.usages: list[Usage] = []
        self.questions: dict[str, int] = {}
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
_suite_meters: list[UsageMeter] = []


@contextmanager
def collect_usage(meter: UsageMeter) -> Iterator[None]:
    """During the block, count in this meter the model calls of threads that don't know their case."""
    _suite_meters.append(meter)
    try:
        yield
    finally:
        _suite_meters.remove(meter)


def suite_meter() -> UsageMeter | None:
    """The meter of the suite that runs in this process; of several suites the one that started last."""
    meters = tuple(_suite_meters)
    return meters[-1] if meters else None


def find_origin() -> UsageMeter | None:
    """The meter of what makes a call of a model; None if that is not certain.

    In a thread that the user's code started it is the meter of the suite, if only one runs in this process.
    """
    if (meter := METER.get()) is not None:
        return meter
    meters = tuple(_suite_meters)
    return meters[0] if len(meters) == 1 else None


def current_meter() -> UsageMeter:
    """The meter of the current call of the user's code.

    It is unknown in a thread that the user's code started. Then the meter is a new one for a single call of a model;
    the usage counts for the suite of `suite_meter`.
    """
    if (meter := METER.get()) is not None:
        return meter
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
    """The sum of usages; None without any.

    Unknown costs are left out, and their models are named as `unpriced`; the cost is None if all are unknown. The sum
    is `cached` if every part is. It has the id of an answer if every part has one.
    """
    parts = tuple(usages)
    if len(parts) < 2:
        return parts[0] if parts else None
    cost = add(map(measure_cost, parts))
    answers = [usage.answer for usage in parts if usage.answer is not None]
    return Usage(
        input_tokens=sum(usage.input_tokens for usage in parts),
        output_tokens=sum(usage.output_tokens for usage in parts),
        cached_tokens=sum(usage.cached_tokens for usage in parts),
        cost=find_known(cost),
        model=", ".join(sorted({name for usage in parts if usage.model for name in usage.model.split(", ")})) or None,
        answer=_join_answers(answers) if len(answers) == len(parts) else None,
        cached=all(usage.cached for usage in parts),
        calls=sum(usage.calls for usage in parts),
        stored=sum(usage.stored or (usage.calls if usage.cached else 0) for usage in parts),
        unpriced=cost.missing.text if isinstance(cost, AtLeast) else None,
    )


def _join_answers(answers: Iterable[str]) -> str:
    """The id of several answers: their ids, so that a cache can be asked for each; of many, a digest."""
    ids = sorted(each for answer in answers for each in answer.split(ANSWER_SEPARATOR))
    if len(ids) <= _MOST_ANSWERS:
        return ANSWER_SEPARATOR.join(ids)
    return blake2b(" ".join(ids).encode(), digest_size=8).hexdigest()


def measure_cost(usage: Usage | None) -> Amount:
    """What model calls cost, in US dollars."""
    if usage is None:
        return NOT_REPORTED
    missing = lack_prices(usage.unpriced_models)
    return missing if usage.cost is None else add((usage.cost, missing))


def count_tokens(usage: Usage | None) -> Amount:
    """The input and output tokens of model calls."""
    return NOT_REPORTED if usage is None else usage.input_tokens + usage.output_tokens


def charged_usage(own: Usage | None, meter: UsageMeter) -> Usage | None:
    """The usage that an evaluation reports itself plus the usage that was counted during it, without duplicates."""
    counted = meter.usage
    if own is None or counted is None:
        return own or counted
    return counted if own == counted or own in meter.usages else sum_usage((own, counted))
