"""The gateway's application: checks a call of a suite, and answers it from a cassette, the cache or the provider."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from pydantic_core import to_json

from scoregate.ci.gateway.answers import JSON, Send, send_answer, send_refusal, start_answer
from scoregate.ci.gateway.budget import Amount, BudgetRefusal, Ledger
from scoregate.ci.gateway.cassettes import RECORDED_HEADERS, CassetteReader, CassetteWriter, RecordedCall, encode_body
from scoregate.ci.gateway.providers import GatewayProvider
from scoregate.ci.gateway.questions import (
    ClientGone,
    Question,
    Refusal,
    find_token,
    read_body,
    read_origin,
    remove_key,
)
from scoregate.ci.gateway.sessions import CallCounts, CallGroup, Sessions, SuiteSession
from scoregate.ci.gateway.upstream import Upstream, filter_response_headers
from scoregate.ci.gateway.usage_reader import StreamUsageReader, read_usage
from scoregate.core.evaluation import Usage
from scoregate.errors import RecordError
from scoregate.models.ask import RetryPolicy
from scoregate.models.budget import price_usage
from scoregate.models.cache import Cache, StoredAnswer, build_key
from scoregate.models.calls import parse_object
from scoregate.models.errors import Failure, FailureKind, classify_answer
from scoregate.models.rate_limit import Limiter, Permit
from scoregate.models.settings import CacheMode, Price

Receive: TypeAlias = Callable[[], Awaitable[Any]]
Scope: TypeAlias = MutableMapping[str, Any]
_MAX_RECORDED_BYTES = 32 * 1024 * 1024
_STREAM = "text/event-stream"
# What the last events of streams of OpenAI's, Anthropic's and Gemini's APIs contain.
_STREAM_ENDS = (b"[DONE]", b"message_stop", b"response.completed", b'"finishReason"')


@dataclass(slots=True)
class GatewayState:
    """Everything that calls of all suites share. It belongs to the event loop of the gateway.

    Attributes:
        providers: the providers by name.
        hosts: the values of the Host header that are accepted.
        sessions: the sessions of the launched suites.
        ledger: the budget.
        upstream: the connections to providers.
        redact: removes secrets from a text.
        prices: the project's prices.
        cache: the cache; None if it is off.
        cache_mode: how the cache is used.
        writer: writes cassettes; None if it doesn't record.
        reader: reads cassettes; None if it doesn't replay.
    """

    providers: Mapping[str, GatewayProvider]
    hosts: frozenset[str]
    sessions: Sessions
    ledger: Ledger
    upstream: Upstream
    redact: Callable[[str], str]
    prices: Mapping[str, Price] = field(default_factory=dict)
    cache: Cache | None = None
    cache_mode: CacheMode = CacheMode.OFF
    writer: CassetteWriter | None = None
    reader: CassetteReader | None = None
    limiters: dict[tuple[str, str], Limiter] = field(default_factory=dict)

    def limiter(self, question: Question) -> Limiter:
        """The limiter of a model at a provider, shared by all suites."""
        key = (question.provider.base_url, question.model)
        if key not in self.limiters:
            self.limiters[key] = Limiter()
        return self.limiters[key]

    def price(self, usage: Usage, question: Question) -> Usage:
        """The usage with its cost; what uses no tokens has no price."""
        if not (usage.input_tokens or usage.output_tokens):
            return usage
        return price_usage(usage, provider=question.provider.name, model=question.model, prices=self.prices)


class GatewayApp:
    """The ASGI application.

    Args:
        state: what calls share.
    """

    def __init__(self, state: GatewayState) -> None:
        self._state = state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        session: SuiteSession | None = None
        try:
            headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
            session = self._authenticate(scope, headers)
            provider, path = self._find_provider(scope)
            _check_upgrade(headers)
            body = await read_body(receive, headers.get("content-length")) if scope["method"] != "GET" else b""
            question = Question(
                provider,
                scope["method"],
                path,
                remove_key(scope["query_string"].decode("latin-1")),
                headers.get("content-type", ""),
                body,
                read_origin(headers),
                headers.get("x-scoregate-counted") == "1",
            )
            await ModelCall(self._state, session, question, headers, receive, send).answer()
        except Refusal as refusal:
            if session is not None:
                session.report_problem(refusal.message, refusal.code)
            await send_refusal(send, refusal)
        except RecordError as error:
            damage = Refusal(424, "damaged_cassette", f"{error} {error.advice or ''}".strip())
            if session is not None:
                session.report_problem(damage.message, damage.code)
            await send_refusal(send, damage)
        except ClientGone:
            return

    def _authenticate(self, scope: Scope, headers: Mapping[str, str]) -> SuiteSession:
        # A page in a browser can reach this port by a name of its own, but can't choose this header.
        if headers.get("host", "").lower() not in self._state.hosts:
            raise Refusal(421, "wrong_host", "the Host header does not name this gateway")
        token = find_token(headers, scope["query_string"].decode("latin-1"))
        session = self._state.sessions.find(token)
        if session is None:
            raise Refusal(
                401,
                "invalid_token",
                "this key is no token of a running suite. A suite gets one in the variable of each provider's key, "
                "such as OPENAI_API_KEY.",
            )
        return session

    def _find_provider(self, scope: Scope) -> tuple[GatewayProvider, str]:
        """The provider that a path names, and the path below its address."""
        raw = (scope.get("raw_path") or scope["path"].encode()).decode("latin-1").partition("?")[0]
        name, _, path = raw.removeprefix("/").partition("/")
        provider = self._state.providers.get(name)
        if provider is None:
            known = ", ".join(sorted(self._state.providers)) or "none has a key"
            raise Refusal(404, "unknown_provider", f"no provider is at {raw[:100]!r}. Providers: {known}.")
        mount = provider.api.mount
        path = path.removeprefix(f"{mount[1:]}/") if mount else path
        if name == "anthropic" and not path.startswith("v1/"):
            path = f"v1/{path}"  # the address of its API that is compatible with OpenAI's has the version in it
        if not provider.api.allows(scope["method"], path):
            raise Refusal(
                404,
                "unknown_path",
                f"{scope['method']} {path[:100]!r} is no call of a model that the gateway forwards to {name}",
            )
        return provider, path


def _check_upgrade(headers: Mapping[str, str]) -> None:
    if "upgrade" in headers:
        raise Refusal(501, "no_websockets", "the gateway forwards no WebSocket connections, such as OpenAI's realtime")


@dataclass(slots=True)
class ModelCall:
    """One call of a suite, from its question to its answer."""

    state: GatewayState
    session: SuiteSession
    question: Question
    headers: Mapping[str, str]
    receive: Receive
    send: Send
    number: int = 0

    async def answer(self) -> None:
        """Answer the call.

        Raises:
            Refusal: it is not valid, the budget does not allow it, or there is no answer.
            ClientGone: the client closed the connection.
        """
        question, state = self.question, self.state
        model = question.model  # the first access to the body: an invalid one is refused before anything is counted
        group = CallGroup(self.session.suite, question.origin.evaluator, question.provider.name, model)
        counts = self.session.counts[group]
        counts.calls += 1
        self.number = self.session.number_question(question.origin.trial, question.digest)
        if state.reader is not None:
            await self._replay(state.reader, counts)
            return
        key = self._cache_key()
        if state.cache is not None and key is not None and state.cache_mode is not CacheMode.REFRESH:
            stored = await asyncio.to_thread(state.cache.get, key)
            if stored is not None:
                await self._send_cached(stored, counts)
                return
        await self._ask(counts, key)

    async def _replay(self, reader: CassetteReader, counts: CallCounts) -> None:
        question = self.question
        case, trial = question.origin.case, question.origin.trial
        call = await asyncio.to_thread(reader.take, question.digest, self.session.suite, trial, self.number)
        if call is None:
            counts.failed += 1
            text = self._request_text()
            difference = await asyncio.to_thread(
                reader.describe_missing, question.digest, question.provider.name, question.path, text
            )
            message = (
                f"no recorded answer to a call of {question.provider.name}/{question.model or question.path}"
                f"{f' in case {case!r:.80}' if case else ''}: {difference}"
            )
            raise Refusal(424, "not_recorded", message)
        counts.replayed += 1
        usage = read_usage(parse_object(call.body), question.model) if not call.chunks else None
        name = f"{call.digest[:16]}-{call.number}"
        self._count(replace(usage or Usage(model=question.model), cost=0.0, cached=True, answer=name))
        headers = {**call.headers, "x-scoregate-answer": name, "x-scoregate-replayed": "1"}
        await send_answer(self.send, call.status, headers, call.body, chunks=call.chunks)

    def _cache_key(self) -> bytes | None:
        """The key of the answer in the cache; None for calls that aren't cached."""
        question = self.question
        if self.state.cache is None or question.is_counted or question.is_stream or question.data is None:
            return None
        return build_key(question.digest, repeat=question.origin.repeat, occurrence=self.number)

    async def _send_cached(self, stored: StoredAnswer, counts: CallCounts) -> None:
        counts.cached += 1
        self._count(Usage(cost=0.0, model=self.question.model, answer=stored.name, cached=True))
        headers = {"content-type": JSON, "x-scoregate-answer": stored.name, "x-scoregate-cache": "hit"}
        await send_answer(self.send, 200, headers, stored.body)

    def _count(self, usage: Usage) -> None:
        if not self.question.is_counted:
            self.session.add_usage(self.question.origin, usage)

    async def _ask(self, counts: CallCounts, key: bytes | None) -> None:
        """Ask the provider, until it answers anything but a rate limit; a client that leaves ends the call."""
        asking = asyncio.ensure_future(self._ask_provider(counts, key))
        leaving = asyncio.ensure_future(_cancel_at_disconnect(self.receive, asking))
        try:
            await asking
        except asyncio.CancelledError:
            if leaving.done() and not leaving.cancelled():
                raise ClientGone from None
            asking.cancel()
            raise
        finally:
            leaving.cancel()

    async def _ask_provider(self, counts: CallCounts, key: bytes | None) -> None:
        question, state = self.question, self.state
        limiter, policy = state.limiter(question), RetryPolicy()
        while True:
            permit = await _wait_for_permit(limiter, counts, is_retry=policy.refusals > 0)
            attempt = Attempt(self, counts, key, limiter, permit)
            try:
                refused = await attempt.run()
            finally:
                attempt.release()
            if refused is None:
                return
            counts.refused += 1
            if policy.delay_s(refused.failure) is None:
                await send_answer(self.send, refused.status, refused.headers, refused.body)
                return
            counts.retried += 1

    def _request_text(self) -> str:
        """The body of the request for a cassette: sorted, without secrets, and bounded."""
        data = self.question.data
        if data is None:
            return ""
        return self.state.redact(to_json(dict(sorted(data.items()))).decode("utf-8", "replace"))[:_MAX_RECORDED_BYTES]

    def record(self, status: int, headers: Mapping[str, str], body: bytes, chunks: tuple[int, ...]) -> None:
        """Record an answer in the cassette of the suite."""
        writer, question = self.state.writer, self.question
        if writer is None:
            return
        if len(body) > _MAX_RECORDED_BYTES:
            self.session.report_problem(f"an answer of {question.model} is too large to record")
            return
        kept = {name: value for name, value in headers.items() if name in RECORDED_HEADERS}
        try:
            safe = self.state.redact(body.decode()).encode()
        except UnicodeDecodeError:
            safe = body
        if len(safe) != len(body):
            chunks = (len(safe),) if chunks else ()
        call = RecordedCall(
            question.digest,
            self.session.suite,
            question.origin.trial,
            self.number,
            question.provider.name,
            question.path,
            question.model,
            self._request_text(),
            status,
            kept,
            *encode_body(safe),
            chunks,
        )
        writer.add(call)


async def _cancel_at_disconnect(receive: Receive, task: asyncio.Task[None]) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    task.cancel()


async def _wait_for_permit(limiter: Limiter, counts: CallCounts, *, is_retry: bool) -> Permit:
    permit = limiter.acquire(is_retry=is_retry)
    if not isinstance(permit, Future):
        return permit
    started = time.monotonic()
    try:
        return await asyncio.wrap_future(permit)
    except BaseException:
        limiter.cancel(permit)
        raise
    finally:
        counts.waited_s += time.monotonic() - started


@dataclass(frozen=True, slots=True)
class RefusedAnswer:
    """An answer with a rate limit."""

    failure: Failure
    status: int
    headers: Mapping[str, str]
    body: bytes


class Attempt:
    """One attempt of a call at a provider. `release` returns its permit and its part of the budget."""

    def __init__(
        self, call: ModelCall, counts: CallCounts, key: bytes | None, limiter: Limiter, permit: Permit
    ) -> None:
        self._call, self._counts, self._key = call, counts, key
        self._limiter, self._permit = limiter, permit
        self._reservation: Amount | None = None
        self._headers: Mapping[str, str] | None = None
        self._failure: Failure | None = None
        self._usage: Usage | None = None
        self._is_sent = False

    async def run(self) -> RefusedAnswer | None:
        """Ask, and forward the answer; an answer with a rate limit is returned instead.

        Raises:
            Refusal: the budget does not allow the call, or the provider can't be asked.
        """
        call, state = self._call, self._call.state
        question = call.question
        body, hides_usage = question.body, False
        if question.is_stream and question.data is not None and _can_ask_for_usage(question):
            body, hides_usage = _add_usage_option(question.data), True
        if state.ledger.is_limited:
            try:
                self._reservation = await state.ledger.reserve(
                    question.provider.name, question.model, question.estimate()
                )
            except BudgetRefusal as refusal:
                raise Refusal(429, "budget_spent", f"{refusal.message}; this call was not made") from None
        started = time.perf_counter()
        self._is_sent = True
        try:
            async with state.upstream.send(question, call.headers, body) as response:
                self._headers = headers = filter_response_headers(response.headers)
                if response.status >= 400:
                    content = await response.content.read(_MAX_RECORDED_BYTES)
                    self._failure = failure = classify_answer(response.status, headers, content)
                    self._is_sent = False
                    if failure.kind is FailureKind.LIMIT:
                        return RefusedAnswer(failure, response.status, headers, content)
                    self._counts.failed += 1
                    await send_answer(call.send, response.status, headers, content)
                elif headers.get("content-type", "").startswith(_STREAM):
                    await self._forward_stream(response, headers, hides_usage)
                else:
                    await self._forward_body(response, headers)
        except Refusal:
            self._counts.failed += 1
            raise
        self._counts.add_duration(time.perf_counter() - started)
        return None

    def release(self) -> None:
        """Return the permit, and replace the reservation by what the attempt used."""
        failure, question = self._failure, self._call.question
        if failure is not None and failure.kind is FailureKind.LIMIT:
            self._limiter.release_refused(self._permit, failure.headers, failure.after_s)
        else:
            is_answered = self._headers is not None and failure is None
            self._limiter.release(self._permit, headers=self._headers or {}, is_answered=is_answered)
        if self._reservation is not None:
            usage = self._usage
            if usage is None and self._is_sent:  # asked, but the answer is unknown: it may have cost this much
                estimate = question.estimate()
                usage = self._call.state.price(Usage(estimate.input_tokens, estimate.output_tokens or 0), question)
            self._call.state.ledger.settle(self._reservation, question.provider.name, question.model, usage)

    async def _forward_body(self, response: Any, headers: Mapping[str, str]) -> None:
        call, question = self._call, self._call.question
        body = await response.read()
        data = parse_object(body) if "json" in headers.get("content-type", "") else {}
        self._charge(read_usage(data, question.model) or Usage(model=question.model))
        extra = {}
        cache = call.state.cache
        if self._key is not None and cache is not None and response.status == 200 and data and not data.get("error"):
            stored = await asyncio.to_thread(cache.put, self._key, body, model=question.model)
            extra["x-scoregate-answer"] = stored.name
            self._usage = replace(self._usage or Usage(), answer=stored.name)
        self._count()
        call.record(response.status, headers, body, ())
        await send_answer(call.send, response.status, {**headers, **extra}, body)

    async def _forward_stream(self, response: Any, headers: Mapping[str, str], hides_usage: bool) -> None:
        """Forward a stream chunk by chunk. If it breaks off, so does the answer, and nothing is recorded."""
        call, question = self._call, self._call.question
        reader = StreamUsageReader(question.model)
        usage_filter = UsageChunkFilter() if hides_usage else None
        kept: list[bytes] | None = [] if call.state.writer is not None else None
        size = 0
        await start_answer(call.send, response.status, headers)
        try:
            async for chunk in response.content.iter_any():
                reader.feed(chunk)
                if any(mark in chunk for mark in _STREAM_ENDS):  # the client may go on before the stream is closed
                    self._charge_stream(reader)
                forwarded = chunk if usage_filter is None else usage_filter.feed(chunk)
                if not forwarded:
                    continue
                size += len(forwarded)
                if kept is not None:
                    kept.append(forwarded)
                    if size > _MAX_RECORDED_BYTES:
                        call.session.report_problem(f"a stream of {question.model} is too large to record")
                        kept = None
                await call.send({"type": "http.response.body", "body": forwarded, "more_body": True})
            if usage_filter is not None and (rest := usage_filter.close()):
                if kept is not None:
                    kept.append(rest)
                await call.send({"type": "http.response.body", "body": rest, "more_body": True})
        except Exception as error:
            self._charge_stream(reader)
            self._counts.failed += 1
            message = f"a stream of {question.provider.host} broke off ({type(error).__name__})"
            call.session.report_problem(message)
            raise BrokenStream(message) from None
        self._charge_stream(reader)
        if kept is not None:
            call.record(response.status, headers, b"".join(kept), tuple(map(len, kept)))
        await call.send({"type": "http.response.body", "body": b""})

    def _charge_stream(self, reader: StreamUsageReader) -> None:
        """Count the usage of a stream, once."""
        if self._usage is None:
            self._charge(reader.usage(len(self._call.question.body)))
            self._count()

    def _charge(self, usage: Usage) -> None:
        usage = self._call.state.price(usage, self._call.question)
        self._usage = usage
        self._counts.input_tokens += usage.input_tokens
        self._counts.output_tokens += usage.output_tokens
        self._counts.cost += usage.cost or 0.0
        self._counts.unpriced += usage.cost is None and usage.input_tokens + usage.output_tokens > 0

    def _count(self) -> None:
        if self._usage is not None:
            self._call._count(self._usage)


class BrokenStream(Exception):
    """A stream broke off after a part of it was forwarded; the connection to the client is closed."""


def _can_ask_for_usage(question: Question) -> bool:
    """Whether the usage of a stream has to be requested, and the provider is known to support that."""
    options = (question.data or {}).get("stream_options")
    is_requested = isinstance(options, Mapping) and bool(options.get("include_usage"))
    return (
        question.provider.name in ("openai", "azure")
        and question.path.endswith("chat/completions")
        and not is_requested
    )


def _add_usage_option(data: Mapping[str, Any]) -> bytes:
    options = data.get("stream_options")
    return to_json(
        {**data, "stream_options": {**(options if isinstance(options, Mapping) else {}), "include_usage": True}}
    )


class UsageChunkFilter:
    """Removes the event with the usage from a stream whose client did not request it, and keeps all other bytes."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, chunk: bytes) -> bytes:
        """Return the complete events up to the end of a chunk, without the event of the usage."""
        data = self._rest + chunk
        end = data.rfind(b"\n\n")
        if end < 0:
            self._rest = data
            return b""
        complete, self._rest = data[: end + 2], data[end + 2 :]
        if b'"usage"' not in complete:
            return complete
        return b"".join(event for event in _split_events(complete) if not _is_usage_event(event))

    def close(self) -> bytes:
        """Return what is left at the end of the stream."""
        rest, self._rest = self._rest, b""
        return rest


def _split_events(data: bytes) -> list[bytes]:
    return [part + b"\n\n" for part in data.split(b"\n\n")[:-1]]


def _is_usage_event(event: bytes) -> bool:
    if not event.startswith(b"data:") or b'"usage"' not in event:
        return False
    data = parse_object(event[5:].strip())
    return data.get("choices") == [] and isinstance(data.get("usage"), Mapping)
