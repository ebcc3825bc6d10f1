"""The receiver of spans that suites send over OTLP, and the environment that leads them to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import TYPE_CHECKING

from scoregate.ci.launch import EmitEvent, Finished, LaunchEvent, MakeEnvironment, Notice, TracesReceived
from scoregate.ci.launch.process import OpenGatewaySession
from scoregate.ci.plan import Launch
from scoregate.ci.secrets import Redactor
from scoregate.core.loopback import exclude_from_proxies
from scoregate.core.trajectories.otlp import has_protobuf

if TYPE_CHECKING:  # the listener needs a web server, which most runs never start
    from scoregate.features.traces.sessions import TraceSession

_ENDPOINT, _TRACES_ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
_PROTOCOL, _TRACES_PROTOCOL = "OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
_ADDRESS = "SCOREGATE_OTLP_ADDRESS"


@asynccontextmanager
async def receive_traces(
    inner: OpenGatewaySession | None, redact: Redactor, *, enabled: bool
) -> AsyncIterator[OpenGatewaySession | None]:
    """What opens a session of the receiver for a launch, within the session of the gateway, until the block ends.

    Args:
        inner: opens a session of the gateway; None without one.
        redact: removes secrets from what is received.
        enabled: whether spans are received; without it, there is no server.
    """
    if not enabled:
        yield inner
        return
    from scoregate.ci.listen import open_listener

    async with open_listener(redact) as listener:

        @contextmanager
        def open_session(launch: Launch, emit: EmitEvent) -> Iterator[tuple[MakeEnvironment, EmitEvent]]:
            with listener.receive_traces() as (address, session):
                make_environment, forward = partial(_make_environment, address), partial(_emit, session, emit)
                if inner is None:
                    yield make_environment, forward
                    return
                with inner(launch, forward) as (make_inner, emit_inner):
                    yield lambda environ: make_environment(make_inner(environ)), emit_inner

        yield open_session


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
