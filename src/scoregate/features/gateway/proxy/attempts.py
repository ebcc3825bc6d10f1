"""One attempt of a call at a provider, and how its answer is forwarded."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from scoregate.features.gateway.proxy.answers import send_answer, start_answer
from scoregate.features.gateway.proxy.budget import BudgetRefusal
from scoregate.features.gateway.proxy.event_streams import UsageChunkFilter
from scoregate.features.gateway.proxy.exchange import MAX_RECORDED_BYTES, Exchange
from scoregate.features.gateway.proxy.key_mask import StreamKeyMask, find_mask
from scoregate.features.gateway.proxy.questions import Refusal
from scoregate.features.gateway.proxy.sessions import CallCounts
from scoregate.features.gateway.proxy.upstream import filter_response_headers, read_answer
from scoregate.features.gateway.proxy.usage_reader import (
    EVENT_STREAM,
    StreamUsageReader,
    add_usage_option,
    can_ask_for_usage,
    read_body_usage,
)
from scoregate.kernel.types.amounts import BudgetUse
from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.records import record
from scoregate.models.budget import describe_unknown_price
from scoregate.models.calls import parse_object
from scoregate.models.errors import Failure, FailureKind, classify_answer, is_filtered
from scoregate.models.rate_limit import Limiter, Permit

# After these refusals the provider has answered nothing.
_UNASKED = ("provider_unreachable", "redirect_refused")
# Errors that depend on the question alone.
_RECORDED_ERRORS = (400, 404, 413, 415, 422)


@record
class RefusedAnswer:
    """An answer with a rate limit."""

    failure: Failure
    status: int
    headers: Mapping[str, str]
    body: bytes


class Attempt:
    """One attempt of a call at a provider. `release` returns its permit and its part of the budget."""

    def __init__(
        self, exchange: Exchange, counts: CallCounts, key: bytes | None, limiter: Limiter, permit: Permit
    ) -> None:
        self._exchange, self._counts, self._key = exchange, counts, key
        self._limiter, self._permit = limiter, permit
        self._reservation: BudgetUse | None = None
        self._headers: Mapping[str, str] | None = None
        self._failure: Failure | None = None
        self._usage: Usage | None = None
        self._is_begun = self._is_sent = False
        self._kept: list[bytes] | None = None
        self._kept_bytes = 0
        self._mask = find_mask(exchange.question.provider.key)

    async def run(self) -> RefusedAnswer | None:
        """Ask, and forward the answer; an answer with a rate limit is returned instead.

        Raises:
            Refusal: the budget does not allow the call, or the provider can't be asked.
        """
        exchange, question = self._exchange, self._exchange.question
        body, hides_usage = question.body, False
        if question.is_stream and question.data is not None and can_ask_for_usage(question):
            body, hides_usage = add_usage_option(question.data), True
        await self._reserve_budget()
        started = time.perf_counter()
        self._is_begun = self._is_sent = True
        try:
            async with exchange.state.upstream.send(question, exchange.headers, body) as response:
                self._headers = headers = self._hide_in_headers(filter_response_headers(response.headers))
                if response.status >= 400:
                    if (refused := await self._forward_error(response, headers)) is not None:
                        return refused
                elif headers.get("content-type", "").startswith(EVENT_STREAM):
                    exchange.has_answer = True
                    await self._forward_stream(response, headers, hides_usage)
                else:
                    await self._forward_body(response, headers)
        except Refusal as refusal:
            exchange.count_failure(self._counts)
            self._is_sent = refusal.code not in _UNASKED  # an answer that broke off may have been billed
            raise
        self._counts.add_duration(time.perf_counter() - started)
        return None

    async def _reserve_budget(self) -> None:
        ledger, question = self._exchange.state.ledger, self._exchange.question
        if not ledger.is_limited or question.is_free:
            return
        try:
            self._reservation = await ledger.reserve(question.provider.name, question.model, question.estimate())
        except BudgetRefusal as refusal:
            message = self._exchange.state.redact(f"{refusal.message}; this call was not made")
            raise Refusal(429, refusal.code, message) from None

    async def _forward_error(self, response: Any, headers: Mapping[str, str]) -> RefusedAnswer | None:
        """Forward an answer with an error; one with a rate limit is returned instead."""
        content = self._hide(await read_answer(response))
        self._failure = failure = classify_answer(response.status, headers, content)
        self._is_sent = False  # providers bill no errors
        if failure.kind is FailureKind.LIMIT:
            return RefusedAnswer(failure, response.status, headers, content)
        # The answer of a content filter is an answer of the model, and asking again doesn't help.
        if is_filtered(content):
            self._exchange.has_answer = True
        else:
            self._exchange.count_failure(self._counts)
        if response.status in _RECORDED_ERRORS:  # a replay fails as this run did
            self._exchange.record(response.status, headers, content)
        await send_answer(self._exchange.send, response.status, headers, content)
        return None

    def release(self) -> None:
        """Return the permit, and replace the reservation by what the attempt used."""
        failure, question = self._failure, self._exchange.question
        if not self._is_begun:
            self._limiter.give_back(self._permit)
        elif failure is not None and failure.kind is FailureKind.LIMIT:
            self._limiter.release_refused(self._permit, failure.headers, failure.after_s)
        else:
            is_answered = self._headers is not None and failure is None
            self._limiter.release(self._permit, headers=self._headers or {}, is_answered=is_answered)
        if self._reservation is None:
            return
        ledger, usage = self._exchange.state.ledger, self._usage
        # If the usage is unknown, the budget counts the most that the call may have used.
        if self._is_sent and (usage is None or not usage.input_tokens + usage.output_tokens):
            ledger.spend_reservation(self._reservation, in_tokens=question.uses_tokens)
        else:
            ledger.settle(self._reservation, question.provider.name, question.model, usage)

    async def _forward_body(self, response: Any, headers: Mapping[str, str]) -> None:
        exchange, question = self._exchange, self._exchange.question
        body = self._hide(await read_answer(response))
        exchange.has_answer = True
        self._charge(read_body_usage(body, question.model) or Usage(cost=self._find_fixed_cost(), model=question.model))
        cache, name = exchange.state.cache, None
        if self._key is not None and cache is not None and response.status == 200 and _is_answer(headers, body):
            name = (await asyncio.to_thread(cache.put, self._key, body, model=question.model)).name
        name = exchange.name_answer(body) or name
        extra = {} if name is None else {"x-scoregate-answer": name}
        self._usage = replace(self._usage or Usage(), answer=name)
        self._count()
        exchange.record(response.status, headers, body)
        await send_answer(exchange.send, response.status, {**headers, **extra}, body)

    async def _forward_stream(self, response: Any, headers: Mapping[str, str], hides_usage: bool) -> None:
        """Forward a stream chunk by chunk. If it breaks off, so does the answer, and nothing is recorded."""
        exchange, question = self._exchange, self._exchange.question
        reader = StreamUsageReader(question.model)
        self._kept = [] if exchange.cassettes.writer is not None else None
        await start_answer(exchange.send, response.status, headers)
        try:
            await self._forward_chunks(response, reader, UsageChunkFilter() if hides_usage else None)
        except asyncio.CancelledError:  # the client left; what it got so far was paid for
            self._charge_stream(reader)
            raise
        except Exception as error:
            self._charge_stream(reader)
            exchange.count_failure(self._counts)
            message = f"a stream of {question.provider.host} broke off ({type(error).__name__})"
            exchange.session.report_problem(message)
            raise BrokenStream(message) from None
        self._charge_stream(reader)
        if self._kept is not None:
            exchange.record(response.status, headers, b"".join(self._kept), is_stream=True)
        await exchange.send({"type": "http.response.body", "body": b""})

    async def _forward_chunks(
        self, response: Any, reader: StreamUsageReader, usage_filter: UsageChunkFilter | None
    ) -> None:
        mask = StreamKeyMask(self._mask)
        async for received in response.content.iter_any():
            chunk = mask.feed(received)
            reader.feed(chunk)
            shown = chunk if usage_filter is None else usage_filter.feed(chunk)
            self._keep(shown)
            if reader.is_ended:  # the client may go on before the stream is closed
                self._charge_stream(reader)
            await self._forward_chunk(shown)
        rest = mask.close()
        reader.feed(rest)
        shown = rest if usage_filter is None else usage_filter.feed(rest) + usage_filter.close()
        self._keep(shown)
        await self._forward_chunk(shown)
        if mask.is_changed:
            self._report_key()

    def _keep(self, chunk: bytes) -> None:
        """Keep a chunk for the recording."""
        if self._kept is not None and chunk:
            self._kept.append(chunk)
            self._kept_bytes += len(chunk)
            if self._kept_bytes > MAX_RECORDED_BYTES:
                self._exchange.session.report_problem(
                    f"a stream of {self._exchange.question.model} is too large to record"
                )
                self._kept = None

    async def _forward_chunk(self, chunk: bytes) -> None:
        if chunk:
            await self._exchange.send({"type": "http.response.body", "body": chunk, "more_body": True})

    def _hide(self, body: bytes) -> bytes:
        clean = self._mask.hide(body)
        if len(clean) != len(body):
            self._report_key()
        return clean

    def _hide_in_headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        clean = self._mask.hide_in_headers(headers)
        if clean != headers:
            self._report_key()
        return clean

    def _report_key(self) -> None:
        host = self._exchange.question.provider.host
        self._exchange.session.report_problem(f"an answer of {host} contained the key; it was replaced by ***")

    def _charge_stream(self, reader: StreamUsageReader) -> None:
        """Count the usage of a stream, once."""
        if self._usage is None:
            self._charge(reader.usage(len(self._exchange.question.body)))
            if self._kept is not None and self._usage is not None:
                name = self._exchange.name_answer(b"".join(self._kept), is_stream=True)
                self._usage = replace(self._usage, answer=name)
            self._count()

    def _find_fixed_cost(self) -> float | None:
        """The cost of an answer that reports no tokens; None if it is unknown."""
        if self._exchange.question.is_free:
            return 0.0
        if self._reservation is None or not self._exchange.state.ledger.is_cost_limited:
            return None
        return self._reservation.cost

    def _charge(self, usage: Usage) -> None:
        usage = self._exchange.state.price(usage, self._exchange.question)
        self._usage = usage
        self._counts.input_tokens += usage.input_tokens
        self._counts.output_tokens += usage.output_tokens
        self._counts.cost += usage.cost or 0.0
        if usage.cost is None and usage.input_tokens + usage.output_tokens > 0:
            self._counts.unpriced += 1
            question, state = self._exchange.question, self._exchange.state
            problem, advice = describe_unknown_price(question.provider.name, question.model)
            self._exchange.session.report_problem(state.redact(f"{problem}, so its cost is not counted; {advice}"))

    def _count(self) -> None:
        if self._usage is not None:
            self._exchange.count_usage(self._usage)


def _is_answer(headers: Mapping[str, str], body: bytes) -> bool:
    """Whether an answer may be stored: it has no error, and no content filter stopped it."""
    data = parse_object(body) if "json" in headers.get("content-type", "") else {}
    choices = data.get("choices")
    reasons = (
        [each.get("finish_reason") for each in choices if isinstance(each, dict)] if isinstance(choices, list) else []
    )
    return bool(data) and not data.get("error") and "content_filter" not in reasons


class BrokenStream(Exception):
    """A stream broke off after a part of it was forwarded; the connection to the client is closed."""
