"""The spans of an agent: received over OTLP, or read from a file that it writes."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from scoregate.errors import AgentError, MissingExtra, OtlpError
from scoregate.kernel.types.loopback import exclude_from_proxies
from scoregate.kernel.types.trace import Span
from scoregate.kernel.types.trajectories.otlp import MOST_BYTES, drop_repeated, has_protobuf, read_otlp
from scoregate.kernel.types.trajectories.spans import explain_unseen_calls, has_tools_or_chats, read_spans
from scoregate.kernel.types.trajectory_steps import Step, ToolCall

if TYPE_CHECKING:  # only agents that may send spans start a server
    from scoregate.agents.receiver import TrialSpans

# Set by the host, whose address the agent's own one replaces.
HOST_ADDRESS = "SCOREGATE_OTLP_ADDRESS"
ENDPOINT, TRACES_ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
_ENDPOINTS = (ENDPOINT, TRACES_ENDPOINT)
_PROTOCOL, _TRACES_PROTOCOL = "OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
# The span around a process, as `VERSION-TRACE-SPAN-FLAGS`.
_PARENT = "TRACEPARENT"


def remove_host_endpoint(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment without the host's endpoint, which can't know the trial of a span."""
    address = environ.get(HOST_ADDRESS)
    return {
        name: value
        for name, value in environ.items()
        if not (address and name in _ENDPOINTS and value.startswith(address))
    }


@contextmanager
def receive_spans(environ: Mapping[str, str], otlp: bool | None) -> Iterator[AgentSpans]:
    """Receive the spans of one trial, until the block ends.

    Args:
        environ: the environment of the agent.
        otlp: whether its spans are received; None if the user has no endpoint of their own, or the host redirects it.
    """
    is_own = any(environ.get(name) for name in _ENDPOINTS)
    outer = ([*environ.get(_PARENT, "").lower().split("-"), "", ""])[2]
    address = os.environ.get(HOST_ADDRESS)
    is_redirected = address is not None and os.environ.get(TRACES_ENDPOINT, "").startswith(address)
    if otlp or (otlp is None and (is_redirected or not is_own)):
        from scoregate.agents.receiver import open_receiver

        with open_receiver().open_trial() as trial:
            yield AgentSpans(trial, _make_variables(trial, environ, is_own), outer_span=outer)
    else:
        name = next((name for name in _ENDPOINTS if environ.get(name)), "") if otlp is None else ""
        yield AgentSpans(None, {}, name, outer)


def _make_variables(trial: TrialSpans, environ: Mapping[str, str], is_own: bool) -> dict[str, str]:
    """The variables for the agent. The metrics and logs of users with an endpoint go on to it."""
    protocol = "http/protobuf" if has_protobuf() else "http/json"
    variables = exclude_from_proxies(environ)
    if is_own:
        return {**variables, TRACES_ENDPOINT: f"{trial.address}/v1/traces", _TRACES_PROTOCOL: protocol}
    return {**variables, ENDPOINT: trial.address, _PROTOCOL: protocol}


class AgentSpans:
    """The spans of one trial.

    Args:
        trial: receives the spans; None if they aren't received.
        variables: the variables that the agent gets.
        own_endpoint: the user's variable because of which they aren't received; empty for another reason.
        outer_span: the id of a span around the agent, which it doesn't send; empty without one.
    """

    def __init__(
        self,
        trial: TrialSpans | None,
        variables: Mapping[str, str],
        own_endpoint: str = "",
        outer_span: str = "",
    ) -> None:
        self._trial, self._own_endpoint, self._outer_span = trial, own_endpoint, outer_span
        self.variables = variables

    def collect(self, workspace: str, trace_file: str | None) -> tuple[list[Step], str]:
        """The steps after the agent's end, and why calls may be missing; empty if none are.

        Args:
            workspace: the folder of the agent.
            trace_file: a file of spans in it that the agent writes.

        Raises:
            AgentError: the file of spans is missing, or is not OTLP.
        """
        losses = ""
        if self._trial is not None:
            self._trial.wait_for_requests()
            losses = self._trial.buffer.describe_losses()
        received = [*(self._trial.buffer.spans if self._trial is not None else ())]
        if trace_file is not None:
            try:
                received += read_otlp(_read_file(Path(workspace), trace_file))
            except (OtlpError, MissingExtra) as error:
                raise AgentError(f"the trace file {trace_file} can't be read: {error.message}") from None
        spans = drop_repeated(received)
        steps = read_spans(spans)
        if losses := losses or _explain_orphans(spans, self._outer_span):
            return steps, f"spans of the agent are missing: {losses}"
        if has_tools_or_chats(spans):
            return steps, explain_unseen_calls(spans)
        if self._own_endpoint and trace_file is None:
            return steps, (
                f"it prints no events, and {self._own_endpoint} is set, so that its spans go there; to receive them, "
                "write command_agent(…, otlp=True)"
            )
        return steps, "it prints no events, and sends no spans of tools or models"


def _explain_orphans(spans: Sequence[Span], outer_span: str) -> str:
    """Why spans are missing: a parent did not arrive, as if the agent ends before it sends its last spans."""
    known = {"", outer_span, *(span.span_id for span in spans)}
    orphan = next((span for span in spans if span.parent_id not in known), None)
    if orphan is None:
        return ""
    return (
        f"the parent of the span {orphan.name!r:.100} did not arrive; let the agent send all its spans, and flush them "
        "before it ends"
    )


def _read_file(workspace: Path, name: str) -> bytes:
    """A file that an agent wrote: a regular file below its workspace, within the limit.

    Raises:
        OtlpError: it is none.
    """
    path = workspace / name
    try:
        if not path.resolve().is_relative_to(workspace.resolve()):
            raise OtlpError("it is outside of the workspace")
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)  # a pipe without a writer would block
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OtlpError("it is not a regular file")
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise OtlpError(error.strerror or str(error)) from None
    if len(data) > MOST_BYTES:
        raise OtlpError(f"it is over the limit of {MOST_BYTES:,} bytes")
    return data


def choose_steps(
    printed: Sequence[Step], span_steps: tuple[list[Step], str], *, has_events: bool
) -> tuple[Sequence[Step], str]:
    """The steps of a trajectory, and why calls may be missing.

    Args:
        printed: the steps that the agent printed as events.
        span_steps: the steps of its spans, and why some may be missing.
        has_events: whether it prints events, which have all calls.
    """
    steps, reason = span_steps
    if not has_events:
        return steps, reason
    is_better = any(isinstance(step, ToolCall) for step in steps) and not any(
        isinstance(step, ToolCall) for step in printed
    )
    return (steps, reason) if is_better else (printed, "")
