"""A call of a suite: answered from a cassette, from the cache, or by the provider within its rate limit."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import Any, TypeAlias

from scoregate.features.gateway.proxy.answers import JSON, send_answer
from scoregate.features.gateway.proxy.attempts import Attempt
from scoregate.features.gateway.proxy.cassettes import CassetteReader
from scoregate.features.gateway.proxy.exchange import Exchange, find_named_part, name_answer
from scoregate.features.gateway.proxy.questions import ClientGone, Refusal
from scoregate.features.gateway.proxy.sessions import CallCounts
from scoregate.models.ask import RetryPolicy
from scoregate.models.cache import StoredAnswer, build_key
from scoregate.models.errors import is_filtered
from scoregate.models.rate_limit import Limiter, Permit
from scoregate.models.settings import CacheMode

Receive: TypeAlias = Callable[[], Awaitable[Any]]


async def answer_call(exchange: Exchange, receive: Receive) -> None:
    """Answer a call.

    Args:
        exchange: the question, and where its answer goes.
        receive: the next message of the client, as in ASGI.

    Raises:
        Refusal: the call is not valid, the budget does not allow it, or there is no answer.
        ClientGone: the client closed the connection.
        RecordError: a cassette is damaged.
    """
    question, state, session = exchange.question, exchange.state, exchange.session
    model = question.model  # reads the body: an invalid one is refused before the call is counted
    evaluator = state.redact(question.origin.evaluator)
    counts = session.find_counts(evaluator, question.provider.name, state.redact(model))
    counts.calls += 1
    asked = question.origin.trial, question.digest
    exchange.number = session.number_question(*asked)
    try:
        await _answer(exchange, receive, counts)
    except ClientGone:
        if not exchange.has_answer:  # it waited as long as it wanted
            exchange.count_failure(counts)
        raise
    finally:
        if exchange.has_failed or exchange.has_answer:
            session.settle_question(*asked, counts, has_failed=exchange.has_failed)


async def _answer(exchange: Exchange, receive: Receive, counts: CallCounts) -> None:
    state = exchange.state
    if exchange.cassettes.reader is not None:
        await _replay(exchange, exchange.cassettes.reader, counts)
        return
    key = _cache_key(exchange)
    if state.cache is not None and key is not None and state.cache_mode is not CacheMode.REFRESH:
        # A thread takes longer than most reads; it is for those that wait for an answer that is being stored.
        stored = await asyncio.to_thread(state.cache.get, key) if state.cache.is_busy else state.cache.get(key)
        if stored is not None:
            counts.cached += 1
            await _send_cached(exchange, stored)
            return
    await _ask_while_connected(exchange, receive, counts, key)


async def _replay(exchange: Exchange, reader: CassetteReader, counts: CallCounts) -> None:
    question, suite = exchange.question, exchange.session.suite
    wanted = (question.digest, suite, question.origin.trial, exchange.number)
    call = reader.take(*wanted) if reader.is_ready else await asyncio.to_thread(reader.take, *wanted)
    if call is None:
        exchange.count_failure(counts)
        difference = await asyncio.to_thread(
            reader.describe_missing, question.digest, question.provider.name, question.path, exchange.request_text()
        )
        case = f" in case {question.origin.case!r:.80}" if question.origin.case else ""
        name = f"{question.provider.name}/{question.model or question.path}"
        raise Refusal(424, "not_recorded", f"no recorded answer to a call of {name}{case}: {difference}")
    counts.replayed += 1
    body = call.body
    part = find_named_part(body, is_stream=bool(call.chunks))
    name = name_answer(call.digest, call.case, call.number, part)
    if call.status >= 400 and not is_filtered(body):
        exchange.count_failure(counts)
    else:
        exchange.has_answer = True
        if call.status < 400:
            exchange.count_stored(name)
    headers = {**call.headers, "x-scoregate-answer": name, "x-scoregate-replayed": "1"}
    await send_answer(exchange.send, call.status, headers, body, chunks=call.chunks)


def _cache_key(exchange: Exchange) -> bytes | None:
    """The key of the answer in the cache; None for calls that aren't cached.

    A client that counts its calls has the cache itself, unless the gateway records them.
    """
    question = exchange.question
    is_clients = question.is_counted and exchange.cassettes.writer is None
    if exchange.state.cache is None or is_clients or question.is_stream or question.data is None:
        return None
    return build_key(question.digest, repeat=question.origin.repeat, occurrence=exchange.number)


async def _send_cached(exchange: Exchange, stored: StoredAnswer) -> None:
    exchange.has_answer = True
    name = exchange.name_answer(stored.body) or stored.name
    exchange.count_stored(name)
    headers = {"content-type": JSON, "x-scoregate-answer": name, "x-scoregate-cache": "hit"}
    exchange.record(200, {"content-type": JSON}, stored.body)  # a replay has no cache
    await send_answer(exchange.send, 200, headers, stored.body)


async def _ask_while_connected(exchange: Exchange, receive: Receive, counts: CallCounts, key: bytes | None) -> None:
    """Ask the provider; a client that closes the connection ends the call, unless the answer is recorded."""
    if exchange.cassettes.writer is not None:  # a suite that leaves a stream early replays it from a complete recording
        await _ask(exchange, counts, key)
        return
    asking = asyncio.current_task()
    leaving = asyncio.ensure_future(_cancel_at_disconnect(receive, asking))
    try:
        await _ask(exchange, counts, key)
    # Any other cancellation, as at the end of the gateway, goes on.
    except asyncio.CancelledError:
        if asking is not None and leaving.done() and not leaving.cancelled() and asking.uncancel() == 0:
            raise ClientGone from None
        raise
    finally:
        leaving.cancel()


async def _cancel_at_disconnect(receive: Receive, task: asyncio.Task[None] | None) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    if task is not None:
        task.cancel()


async def _ask(exchange: Exchange, counts: CallCounts, key: bytes | None) -> None:
    """Ask the provider until it answers anything but a rate limit, or retries don't help any more."""
    limiter, policy = exchange.state.limiter(exchange.question), RetryPolicy()
    while True:
        permit = await _wait_for_permit(limiter, counts, is_retry=policy.refusals > 0)
        attempt = Attempt(exchange, counts, key, limiter, permit)
        try:
            refused = await attempt.run()
        finally:
            attempt.release()
        if refused is None:
            return
        counts.refused += 1
        if policy.delay_s(refused.failure) is None:
            exchange.count_failure(counts)
            await send_answer(exchange.send, refused.status, refused.headers, refused.body)
            return
        counts.retried += 1


async def _wait_for_permit(limiter: Limiter, counts: CallCounts, *, is_retry: bool) -> Permit:
    permit = limiter.acquire(is_retry=is_retry)
    if not isinstance(permit, Future):
        return permit
    started = time.monotonic()
    try:
        return await asyncio.wrap_future(permit)
    except BaseException:
        limiter.cancel(permit)  # a permit that is issued later would never be returned
        raise
    finally:
        counts.waited_s += time.monotonic() - started
