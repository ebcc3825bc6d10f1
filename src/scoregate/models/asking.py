"""How a question is asked: from the cache if it is there, else in turn, within the budget, and counted."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from random import uniform
from typing import Any

from pydantic_core import from_json

from scoregate.core.evaluation import Usage
from scoregate.core.metering import METER, Meter
from scoregate.errors import BudgetSpent
from scoregate.models.budget import Purse, purse
from scoregate.models.cache import Stored, cache_in
from scoregate.models.failures import Failure, Kind, diagnose
from scoregate.models.flights import landed, take_off
from scoregate.models.keys import key_of, question_of
from scoregate.models.limiter import Limiter, Turn, limiter_of
from scoregate.models.prices import priced
from scoregate.models.steps import Mode, Steps
from scoregate.models.surroundings import CacheMode, surroundings
from scoregate.models.usages import usage_of

MOST_ATTEMPTS, MOST_REFUSALS, MOST_WAIT_S = 5, 20, 600.0


@dataclass(frozen=True, slots=True)
class Sent:
    """What came back: the headers, the body where it is complete, and what the caller makes of it."""

    headers: Mapping[str, str]
    body: bytes | None
    value: Any = None


@dataclass(frozen=True, slots=True)
class Call:
    """A question and the way to ask it.

    Args:
        question: what is asked, by which its answer is kept; it names the `model`.
        send: asks once, and gives a `Sent` or something awaitable that gives one.
        adapt: told of a final failure, says whether to ask at once in the other way that it has found.
        keeps: whether an answer may be kept; one that is an error may not. None keeps nothing.
    """

    provider: str
    address: str
    path: str
    question: Mapping[str, Any]
    send: Callable[[], Any]
    adapt: Callable[[BaseException], bool] = lambda _error: False
    keeps: Callable[[Mapping[str, Any]], bool] | None = lambda _body: True

    @property
    def model(self) -> str:
        """The name that the request asks for."""
        return str(self.question.get("model", ""))


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer. `sent` is None where it was read from the cache, and `usage` where it does not tell."""

    body: bytes | None
    usage: Usage | None
    sent: Sent | None = None

    @property
    def table(self) -> Mapping[str, Any]:
        """The body read as JSON; empty where it is no object."""
        return {} if self.body is None else table_of(self.body)


def ask(call: Call, mode: Mode) -> Steps[Answer]:
    """The answer to a call.

    Raises:
        BudgetSpent: the run may not spend more. Whatever `send` raised, once asking again has no point.
    """
    meter = METER.get() or Meter()
    around = surroundings()
    if around.cache is CacheMode.OFF or call.keeps is None:
        return (yield from _asked(call, mode, meter, None))
    cache = cache_in(around.cache_folder, writes=around.cache is not CacheMode.READONLY)
    question = question_of(call.provider, call.path, call.question)
    key = key_of(question, repeat=meter.repeat, occurrence=meter.occurrence(question))
    fresh = around.cache is CacheMode.REFRESH
    while True:
        if not fresh and (stored := cache.get(key)) is not None:
            return _read(call, stored, meter)
        if (other := take_off(cache, key)) is None:
            break
        yield partial(mode.wait, other)
    try:
        keep = partial(cache.put, key, model=call.model)
        return (yield from _asked(call, mode, meter, keep))
    finally:
        landed(cache, key)


def _read(call: Call, stored: Stored, meter: Meter) -> Answer:
    usage = Usage(cost=0.0, model=call.model, answer=stored.name, cached=True)
    meter.add(usage)
    return Answer(stored.body, usage)


def _asked(call: Call, mode: Mode, meter: Meter, keep: Callable[[bytes], Stored] | None) -> Steps[Answer]:
    with meter.calling():
        sent = yield from _sent(call, mode, meter)
    if sent.body is None:
        return Answer(None, None, sent)
    told = table_of(sent.body)
    used = usage_of(told, call.model)
    usage = Usage(model=call.model) if used is None else priced(used, provider=call.provider, model=call.model)
    if keep is not None and told and call.keeps is not None and call.keeps(told):
        usage = replace(usage, answer=keep(sent.body).name)
    count(usage, meter)
    return Answer(sent.body, usage, sent)


def count(usage: Usage, meter: Meter) -> None:
    """Put an answer's usage where it belongs: on the case's meter and in the run's purse."""
    meter.add(usage)
    if (spending := purse()) is not None:
        spending.spend(usage)


def table_of(body: bytes) -> Mapping[str, Any]:
    """A body read as JSON; empty where it is no object."""
    try:
        told = from_json(body)
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def _sent(call: Call, mode: Mode, meter: Meter) -> Steps[Sent]:
    limiter, patience = limiter_of(call.address, call.model), _Patience()
    while True:
        turn = yield from _turn(limiter, mode, meter, again=patience.refusals > 0)
        try:
            with _within_budget(meter):
                sent: Sent = yield call.send
        except Exception as error:
            failure = diagnose(error)
            _leave(limiter, turn, failure)
            if failure.kind is Kind.FINAL and call.adapt(error):
                continue
            if (wait_s := patience.after(failure)) is None:
                raise
            with meter.waiting():
                yield partial(mode.sleep, wait_s)
        except BaseException:
            limiter.leave(turn, answered=False)
            raise
        else:
            limiter.leave(turn, headers=sent.headers)
            return sent


def _within_budget(meter: Meter) -> AbstractContextManager[None]:
    spending = purse()
    return nullcontext() if spending is None else _reserved(spending, meter)


@contextmanager
def _reserved(spending: Purse, meter: Meter) -> Generator[None]:
    try:
        spending.check(surroundings())
    except BudgetSpent:
        meter.stop()
        raise
    try:
        yield
    finally:
        spending.over()


def _turn(limiter: Limiter, mode: Mode, meter: Meter, *, again: bool) -> Steps[Turn]:
    turn = limiter.enter(again=again)
    if isinstance(turn, Future):
        future = turn
        try:
            with meter.waiting():
                turn = yield partial(mode.wait, future)
        except BaseException:
            limiter.give_up(future)
            raise
    return turn


def _leave(limiter: Limiter, turn: Turn, failure: Failure) -> None:
    if failure.kind is Kind.LIMIT:
        limiter.refuse(turn, failure.headers, failure.after_s)
    else:
        limiter.leave(turn, headers=failure.headers, answered=False)


class _Patience:
    """How often and how long one question is asked again."""

    def __init__(self) -> None:
        self.refusals = self.failures = 0
        self._since = time.monotonic()

    def after(self, failure: Failure) -> float | None:
        """Seconds to wait, besides the limiter's own waits; None where it is enough."""
        if failure.kind is Kind.FINAL or (failure.after_s or 0.0) > MOST_WAIT_S:
            return None
        if failure.kind is Kind.LIMIT:
            if self.refusals == 0:
                self._since = time.monotonic()
            self.refusals += 1
            is_over = self.refusals >= MOST_REFUSALS or time.monotonic() - self._since > MOST_WAIT_S
            return None if is_over else 0.0
        self.failures += 1
        if self.failures >= MOST_ATTEMPTS:
            return None
        return failure.after_s or uniform(0.5, 1.0) * 0.5 * 2 ** (self.failures - 1)
