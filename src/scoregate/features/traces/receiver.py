"""The receiver of spans that suites send over OTLP, and the environment that leads them to it."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Iterator, Mapping, MutableMapping
from contextlib import asynccontextmanager, contextmanager
from functools import partial

import anyio
from starlette.applications import Starlette

from scoregate.features.traces.sessions import TraceSession, make_trace_routes
from scoregate.kernel.host.secrets import Redactor
from scoregate.kernel.run.embedded_server import serve_on_loopback
from scoregate.kernel.run.launch import (
    EmitEvent,
    Finished,
    LaunchEvent,
    Launching,
    LaunchLayer,
    MakeEnvironment,
    Notice,
    TracesReceived,
)
from scoregate.kernel.run.plan import Launch
from scoregate.kernel.types.loopback import exclude_from_proxies
from scoregate.kernel.types.records import record
from scoregate.kernel.types.trajectories.otlp import has_protobuf

_ENDPOINT, _TRACES_ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
_PROTOCOL, _TRACES_PROTOCOL = "OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
_ADDRESS = "SCOREGATE_OTLP_ADDRESS"


@asynccontextmanager
async def receive_traces(launching: Launching) -> AsyncIterator[LaunchLayer]:
    """The receiver of a recording, which serves until the block ends."""
    sessions = dict[str, TraceSession]()
    app = Starlette(routes=make_trace_routes(sessions, anyio.Lock()))
    async with serve_on_loopback(app) as port:
        yield _Receiver(sessions, port, launching.redact)


@record
class _Receiver(LaunchLayer):
    """The sessions by token, and the port."""

    sessions: MutableMapping[str, TraceSession]
    port: int
    redact: Redactor

    @contextmanager
    def open_session(
        self,
        launch: Launch,  # noqa: ARG002
        emit: EmitEvent,
    ) -> Iterator[tuple[MakeEnvironment, EmitEvent]]:
        token = secrets.token_urlsafe(16)
        session = self.sessions[token] = TraceSession(self.redact)
        address = f"http://127.0.0.1:{self.port}/{token}"
        try:
            yield partial(_make_environment, address), partial(_emit, session, emit)
        finally:
            del self.sessions[token]
            session.close()


def _make_environment(address: str, environ: Mapping[str, str]) -> dict[str, str]:
    """The environment with the address. Metrics and logs still go to an endpoint of the user."""
    protocol = "http/protobuf" if has_protobuf() else "http/json"
    more = {_ENDPOINT: address, _PROTOCOL: protocol}
    if environ.get(_ENDPOINT) or environ.get(_TRACES_ENDPOINT):
        more = {_TRACES_ENDPOINT: f"{address}/v1/traces", _TRACES_PROTOCOL: protocol}
    return {**environ, **exclude_from_proxies(environ), **more, _ADDRESS: address}


def _emit(session: TraceSession, emit: EmitEvent, event: LaunchEvent) -> None:
    """Emit the trajectories before the end of a script: spans may come after the end of their case."""
    if isinstance(event, Finished):
        script = event.script.name
        emit(TracesReceived(script, session.list_traces()))
        if losses := session.describe_losses():
            emit(Notice(script, f"spans are missing in trajectories: {losses}"))
    emit(event)
