"""Ask a model: read the cache, or wait for the rate limit, stay within the budget, send, retry and count the usage."""

from __future__ import annotations

import threading
import time
from collections.abc import Hashable
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from random import uniform
from time import perf_counter

from scoregate.errors import BudgetSpent
from scoregate.kernel.types.backoff import backoff_s
from scoregate.kernel.types.evaluation import Usage
from scoregate.models.budget import CallAccounting, parse_usage
from scoregate.models.cache import CacheEntry, StoredAnswer, find_entry
from scoregate.models.calls import Answer, Call, Mode, ModelResponse, Steps, log_request, parse_object, record_call
from scoregate.models.errors import Failure, FailureKind, classify_failure
from scoregate.models.gateway import is_recorded, recorded_answer, stored_answer
from scoregate.models.rate_limit import Limiter, Permit
from scoregate.models.shared_limiter import SharedLimiter, find_limiter

_running_calls: dict[Hashable, Future[None]] = {}
_lock = threading.Lock()


def begin_call(key: Hashable) -> Future[None] | None:
    """Register a call, so that the same call is sent once at a time.

    Returns:
        None if the caller may send it; a future that is done when the same call of another task or thread ends.
    """
    with _lock:
        if (other := _running_calls.get(key)) is None:
            _running_calls[key] = Future()
            return None
        # A future for each that waits: if one is cancelled, the others go on waiting.
        end: Future[None] = Future()

        def notify(_: Future[None]) -> None:
            if end.set_running_or_notify_cancel():  # who waits may be cancelled by now
                end.set_result(None)

        other.add_done_callback(notify)
        return end


def end_call(key: Hashable) -> None:
    """Unregister a call: its answer is stored, or it failed."""
    with _lock:
        call = _running_calls.pop(key)
    call.set_result(None)


MAX_ATTEMPTS, MAX_REFUSALS, MAX_WAIT_S = 5, 20, 600.0


class RetryPolicy:
    """Limits the retries of a call: `MAX_ATTEMPTS` failures, or `MAX_REFUSALS` rate limits within `MAX_WAIT_S`."""

    def __init__(self) -> None:
        self.refusals = self.failures = 0
        self._refused_since = time.monotonic()

    def delay_s(self, failure: Failure) -> float | None:
        """Seconds to wait before the next attempt, besides the limiter's own delays; None for no more attempts."""
        if failure.kind is FailureKind.FINAL or (failure.after_s or 0.0) > MAX_WAIT_S:
            return None
        if failure.kind is FailureKind.LIMIT:
            if self.refusals == 0:
                # The wait counts from the first refusal, not from the first attempt.
                self._refused_since = time.monotonic()
            self.refusals += 1
            is_over = self.refusals >= MAX_REFUSALS or time.monotonic() - self._refused_since > MAX_WAIT_S
            return None if is_over else 0.0
        self.failures += 1
        if self.failures >= MAX_ATTEMPTS:
            return None
        return failure.after_s or uniform(0.5, 1.0) * backoff_s(self.failures, first_s=0.5)


def ask(call: Call, mode: Mode) -> Steps[Answer]:
    """Return the answer to a call.

    Args:
        call: what to ask, and how to send it.
        mode: how to wait: in this thread or in the event loop.

    Raises:
        BudgetSpent: the budget does not allow the call.
        Exception: any exception that `send` raised, if there is no further retry.
    """
    account = CallAccounting.current()
    log_request(account.meter, call.question)
    if account.meter.calls is None:
        return (yield from _find_or_ask(call, mode, account))
    started = perf_counter()
    try:
        answer = yield from _find_or_ask(call, mode, account)
    except Exception as error:
        record_call(account.meter, call, started, error=error)
        raise
    return replace(answer, recorded=record_call(account.meter, call, started, answer))


def _find_or_ask(call: Call, mode: Mode, account: CallAccounting) -> Steps[Answer]:
    uses_cache = call.is_cacheable is not None and not is_recorded(call.address)
    entry = find_entry(call, account) if uses_cache else None
    if entry is None:
        return (yield from _ask_model(call, mode, account, None))
    # Again after each wait, since the other call may have failed and stored nothing.
    while True:
        if (stored := entry.read()) is not None:
            entry.count_question()
            return _build_cached_answer(call, stored, account)
        if (end := begin_call(entry.key)) is None:
            break
        yield partial(mode.wait, end)
    entry.count_question()
    try:
        return (yield from _ask_model(call, mode, account, entry))
    finally:
        end_call(entry.key)


def find_cached_answer(call: Call) -> Answer | None:
    """Return the answer to a call if it is in the cache; nothing is sent."""
    account, started = CallAccounting.current(), perf_counter()
    entry = None if is_recorded(call.address) else find_entry(call, account)
    stored = None if entry is None else entry.read()
    if entry is None or stored is None:
        return None
    log_request(account.meter, call.question)
    entry.count_question()
    answer = _build_cached_answer(call, stored, account)
    record_call(account.meter, call, started, answer)
    return answer


def _build_cached_answer(call: Call, stored: StoredAnswer, account: CallAccounting) -> Answer:
    usage = Usage(cost=0.0, model=call.model, answer=stored.name, cached=True)
    account.meter.add(usage)
    return Answer(stored.body, usage)


def _ask_model(call: Call, mode: Mode, account: CallAccounting, entry: CacheEntry | None) -> Steps[Answer]:
    with account.meter.measure_call():
        response = yield from _send(call, mode, account)
    if response.body is None:
        return Answer(None, None, response)
    data = parse_object(response.body)
    if (name := stored_answer(response.headers)) is not None:
        return _build_cached_answer(call, StoredAnswer(name, response.body), account)
    usage = account.price_usage(parse_usage(data, call.model), provider=call.provider, model=call.model)
    if entry is not None and data and call.is_cacheable is not None and call.is_cacheable(data):
        usage = replace(usage, answer=entry.store(response.body, model=call.model).name)
    elif (name := recorded_answer(response.headers)) is not None:
        usage = replace(usage, answer=name)
    account.charge(usage)
    return Answer(response.body, usage, response)


def _send(call: Call, mode: Mode, account: CallAccounting) -> Steps[ModelResponse]:
    call.prepare()
    limiter, policy = find_limiter(call.address, call.model), RetryPolicy()
    while True:
        permit = yield from _wait_for_permit(limiter, mode, account, is_retry=policy.refusals > 0)
        try:
            with account.reserve_budget():
                response: ModelResponse = yield call.send
        except BudgetSpent:
            limiter.give_back(permit)
            raise
        except Exception as error:
            failure = classify_failure(error)
            if failure.kind is FailureKind.LIMIT:
                limiter.release_refused(permit, failure.headers, failure.after_s)
            elif "x-scoregate-error" in failure.headers:  # the gateway did not send it
                limiter.give_back(permit)
            else:
                limiter.release(permit, headers=failure.headers, is_answered=False)
            if failure.kind is FailureKind.FINAL and call.adapt(error):
                continue  # another form of the request, which is no retry
            if (delay_s := policy.delay_s(failure)) is None:
                raise
            with account.meter.measure_wait():
                yield partial(mode.sleep, delay_s)
        except BaseException:  # cancelled: the permit would count as a running call for ever
            limiter.release(permit, is_answered=False)
            raise
        else:
            limiter.release(permit, headers=response.headers)
            return response


def _wait_for_permit(
    limiter: Limiter | SharedLimiter, mode: Mode, account: CallAccounting, *, is_retry: bool
) -> Steps[Permit]:
    permit = limiter.acquire(is_retry=is_retry)
    if isinstance(permit, Future):
        future = permit
        try:
            with account.meter.measure_wait():
                permit = yield partial(mode.wait, future)
        except BaseException:
            limiter.cancel(future)
            raise
    return permit
