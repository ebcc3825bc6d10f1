"""Spans that suites send over OTLP: their requests, and the trajectories of cases that they make."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, MutableMapping

import anyio
import anyio.to_thread
from pydantic_core import from_json
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from scoregate.errors import OtlpError
from scoregate.features.traces.span_store import SpanStore
from scoregate.kernel.host.request_bodies import ClientDisconnected, Refused, read_body
from scoregate.kernel.types.json_io import dump
from scoregate.kernel.types.trajectories.assignment import CaseTrace
from scoregate.kernel.types.trajectories.otlp import JSON, PROTOBUF, OtlpSpan
from scoregate.kernel.types.trajectories.span_buffer import MOST_SPANS, OTHER_SIGNALS, TRACES, SpanBuffer
from scoregate.kernel.types.trajectories.spans import explain_unseen_calls, read_spans
from scoregate.kernel.types.trajectories.trajectory import Trajectory

_MOST_SPANS = 200_000
_MOST_BYTES = 256 * 1024 * 1024


class TraceSession:
    """The spans of one launched command.

    Args:
        redact: removes secrets from bytes.
    """

    def __init__(self, redact: Callable[[bytes], bytes]) -> None:
        self._redact = redact
        self._store = SpanStore()
        self._buffer = SpanBuffer(_MOST_SPANS, _MOST_BYTES, self._keep)
        self._active = 0
        self._one_at_a_time = anyio.CapacityLimiter(1)

    async def receive(self, request: Request, turn: anyio.Lock) -> Response:
        """Answer one request.

        Args:
            request: the request.
            turn: a lock that is held while a large body is read.
        """
        has_spans = request.scope["path"].endswith(TRACES)
        self._active += has_spans
        try:
            body = await read_body(request.receive, turn)
            if has_spans:
                # The loop goes on while a body is parsed.
                add = self._buffer.add_request
                await anyio.to_thread.run_sync(add, body, request.headers, limiter=self._one_at_a_time)
        except (ClientDisconnected, Refused) as problem:
            refused = problem if isinstance(problem, Refused) else Refused("its body is incomplete")
            if has_spans:
                self._buffer.refuse(OtlpError(refused.reason))
            return Response(refused.reason, refused.status)
        except OtlpError as error:
            return Response(error.message, error.status)
        finally:
            self._active -= has_spans
        is_json = request.headers.get("content-type", "").startswith(JSON)
        return Response(b"{}" if is_json else b"", media_type=JSON if is_json else PROTOBUF)

    def _keep(self, spans: list[OtlpSpan]) -> None:
        try:
            self._store.add(spans)
        except sqlite3.Error as error:
            self._buffer.losses[f"spans that can't be written to a temporary file ({error!s:.100})"] += len(spans)

    def list_traces(self) -> Iterator[CaseTrace]:
        """The trajectories of the cases that spans name. What is lost is known afterwards."""
        try:
            yield from self._read_traces()
        except sqlite3.Error as error:
            self._buffer.losses[f"spans that can't be read from a temporary file ({error!s:.100})"] += 1

    def _read_traces(self) -> Iterator[CaseTrace]:
        if unassigned := self._store.assign():
            self._buffer.losses["spans that name no case (attribute scoregate.case)"] += unassigned
        if self._active:
            self._buffer.losses["requests that did not end in time"] += self._active
        if more := self._store.count_extra(MOST_SPANS):
            self._buffer.losses[f"spans over the limit of {MOST_SPANS:,} for a case"] += more
        losses = self._buffer.describe_losses()
        for name, spans in self._store.read_cases(MOST_SPANS):
            if steps := read_spans(spans):
                reason = f"spans are missing: {losses}" if losses else explain_unseen_calls(spans)
                trace = Trajectory(tuple(steps), incomplete=reason).plain()
                try:
                    redacted = from_json(self._redact(dump(trace)))
                except ValueError:  # without secrets it is not JSON any more
                    self._buffer.losses["trajectories that can't be recorded"] += 1
                    continue
                yield CaseTrace(name.suite, name.case, name.repeat, redacted)

    def close(self) -> None:
        """Remove the spans."""
        self._store.close()

    def describe_losses(self) -> str:
        """What is lost in words; empty if nothing is."""
        return self._buffer.describe_losses()


def make_trace_routes(sessions: MutableMapping[str, TraceSession], turn: anyio.Lock) -> list[Route]:
    """The routes of OTLP over HTTP below a token. Metrics and logs are accepted and ignored.

    Args:
        sessions: the sessions by token.
        turn: a lock that is held while a large body is read.
    """

    async def respond(request: Request) -> Response:
        session = sessions.get(request.path_params["token"])
        return Response(status_code=404) if session is None else await session.receive(request, turn)

    return [Route(f"/{{token}}{path}", respond, methods=["POST"]) for path in (TRACES, *OTHER_SIGNALS)]
