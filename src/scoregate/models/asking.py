"""How a question is asked: from the cache if it is there, else in turn, within the budget, and counted."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace
from functools import partial

from scoregate.core.evaluation import Usage
from scoregate.models.account import Account
from scoregate.models.cache import Stored
from scoregate.models.calls import Answer, Call, Sent, table_of
from scoregate.models.failures import Failure, Kind, diagnose
from scoregate.models.flights import landed, take_off
from scoregate.models.keeping import Kept, place_of
from scoregate.models.limiter import Limiter, Turn, limiter_of
from scoregate.models.patience import Patience
from scoregate.models.steps import Mode, Steps
from scoregate.models.usages import usage_of


def ask(call: Call, mode: Mode) -> Steps[Answer]:
    """The answer to a call.

    Raises:
        BudgetSpent: the run may not spend more. Whatever `send` raised, once asking again has no point.
    """
    account = Account.here()
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
    account = Account.here()
    kept = place_of(call, account)
    stored = None if kept is None else kept.read()
    if kept is None or stored is None:
        return None
    kept.count()
    return _read(call, stored, account)


def _read(call: Call, stored: Stored, account: Account) -> Answer:
    usage = Usage(cost=0.0, model=call.model, answer=stored.name, cached=True)
    account.meter.add(usage)
    return Answer(stored.body, usage)


def _asked(call: Call, mode: Mode, account: Account, kept: Kept | None) -> Steps[Answer]:
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


def _sent(call: Call, mode: Mode, account: Account) -> Steps[Sent]:
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


def _turn(limiter: Limiter, mode: Mode, account: Account, *, again: bool) -> Steps[Turn]:
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
