"""How a question is asked: from the cache if it is there, else in turn, within the budget, and counted."""

from __future__ import annotations

import threading
import time
from collections.abc import Hashable
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from random import uniform

from scoregate.core.backoff import backoff_s
from scoregate.core.evaluation import Usage
from scoregate.models.budget import CallAccounting, usage_of
from scoregate.models.cache import CacheEntry, Stored, place_of
from scoregate.models.calls import Answer, Call, Mode, Sent, Steps, table_of
from scoregate.models.errors import Failure, Kind, diagnose
from scoregate.models.rate_limit import Limiter, Turn, limiter_of

_flights: dict[Hashable, Future[None]] = {}
_lock = threading.Lock()


def take_off(key: Hashable) -> Future[None] | None:
    """Begin to ask: None where nobody else does, else what ends when they have."""
    with _lock:
        if (other := _flights.get(key)) is not None:
            waiting: Future[None] = Future()
            other.add_done_callback(lambda _: _tell(waiting))
            return waiting
        _flights[key] = Future()
        return None


def _tell(waiting: Future[None]) -> None:
    if waiting.set_running_or_notify_cancel():
        waiting.set_result(None)


def landed(key: Hashable) -> None:
    """The answer is kept, or there is none."""
    with _lock:
        flight = _flights.pop(key)
    flight.set_result(None)


MOST_ATTEMPTS, MOST_REFUSALS, MOST_WAIT_S = 5, 20, 600.0


class Patience:
    """Of one question: `MOST_ATTEMPTS` failures, or `MOST_REFUSALS` refusals over `MOST_WAIT_S` seconds, are enough."""

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
        return failure.after_s or uniform(0.5, 1.0) * backoff_s(self.failures, first_s=0.5)


def ask(call: Call, mode: Mode) -> Steps[Answer]:
    """The answer to a call.

    Raises:
        BudgetSpent: the run may not spend more. Whatever `send` raised, once asking again has no point.
    """
    account = CallAccounting.here()
    kept = place_of(call, account) if call.keeps is not None else None
    if kept is None:
        return (yield from _asked(call, mode, account, None))
    while True:
        if (stored := kept.read()) is not None:
            kept.count()
            return _read(call, stored, account)
        if (other := take_off(kept.key)) is None:
            break
        yield partial(mode.wait, other)
    kept.count()
    try:
        return (yield from _asked(call, mode, account, kept))
    finally:
        landed(kept.key)


def recall(call: Call) -> Answer | None:
    """The answer to a call where it is in the cache, without asking."""
    account = CallAccounting.here()
    kept = place_of(call, account)
    stored = None if kept is None else kept.read()
    if kept is None or stored is None:
        return None
    kept.count()
    return _read(call, stored, account)


def _read(call: Call, stored: Stored, account: CallAccounting) -> Answer:
    usage = Usage(cost=0.0, model=call.model, answer=stored.name, cached=True)
    account.meter.add(usage)
    return Answer(stored.body, usage)


def _asked(call: Call, mode: Mode, account: CallAccounting, kept: CacheEntry | None) -> Steps[Answer]:
    with account.meter.calling():
        sent = yield from _sent(call, mode, account)
    if sent.body is None:
        return Answer(None, None, sent)
    told = table_of(sent.body)
    usage = account.priced(usage_of(told, call.model), provider=call.provider, model=call.model)
    if kept is not None and told and call.keeps is not None and call.keeps(told):
        usage = replace(usage, answer=kept.keep(sent.body, model=call.model).name)
    account.charge(usage)
    return Answer(sent.body, usage, sent)


def _sent(call: Call, mode: Mode, account: CallAccounting) -> Steps[Sent]:
    limiter, patience = limiter_of(call.address, call.model), Patience()
    while True:
        turn = yield from _turn(limiter, mode, account, again=patience.refusals > 0)
        try:
            with account.within_budget():
                sent: Sent = yield call.send
        except Exception as error:
            failure = diagnose(error)
            _leave(limiter, turn, failure)
            if failure.kind is Kind.FINAL and call.adapt(error):
                continue
            if (wait_s := patience.after(failure)) is None:
                raise
            with account.meter.waiting():
                yield partial(mode.sleep, wait_s)
        except BaseException:
            limiter.leave(turn, answered=False)
            raise
        else:
            limiter.leave(turn, headers=sent.headers)
            return sent


def _turn(limiter: Limiter, mode: Mode, account: CallAccounting, *, again: bool) -> Steps[Turn]:
    turn = limiter.enter(again=again)
    if isinstance(turn, Future):
        future = turn
        try:
            with account.meter.waiting():
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
