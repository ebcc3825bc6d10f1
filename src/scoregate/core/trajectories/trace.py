"""The trace of a task as a trajectory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scoregate.core.task_trace import ModelCall, TaskTrace
from scoregate.core.trajectories.messages import StepReader
from scoregate.core.trajectories.spans import has_chats, read_spans
from scoregate.core.trajectories.trajectory import Trajectory
from scoregate.core.trajectory_steps import Step, ToolCall


def read_trace(trace: TaskTrace, *, records_tools: bool = False) -> Trajectory | None:
    """The trajectory of a task; None if nothing was recorded.

    Spans that name tools are preferred, since they have durations and errors. The calls of models are read otherwise.

    Args:
        trace: the calls of models and the spans of the task.
        records_tools: whether calls of tools are recorded, so that a trace without one shows that none was called. A
            task without any instrumentation has a span as well, which shows nothing.
    """
    from_spans = read_spans(trace.spans)
    if any(isinstance(step, ToolCall) for step in from_spans):
        return Trajectory(tuple(from_spans))
    if from_calls := _read_calls(trace.calls):
        return Trajectory(tuple(from_calls))
    return Trajectory(tuple(from_spans)) if records_tools or has_chats(trace.spans) else None


def _read_calls(calls: Iterable[ModelCall]) -> list[Step]:
    """The messages of each request that earlier ones lack, and its answer; other calls than chats are skipped."""
    reader = StepReader()
    for call in calls:
        given = call.messages or call.request.get("input") or ()
        request = [{"role": "user", "content": given}] if isinstance(given, str) else given
        if isinstance(request, list | tuple):
            reader.add_exchange([each for each in request if _is_message(each)], _read_answer(call.response))
    return reader.steps


def _is_message(value: Any) -> bool:
    return isinstance(value, Mapping) and ("role" in value or "type" in value)


def _read_answer(response: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    choices, output = response.get("choices"), response.get("output")
    if isinstance(choices, list) and choices and isinstance(choices[0], Mapping):
        message = choices[0].get("message")
        return [{"role": "assistant", **message}] if isinstance(message, Mapping) else []
    if isinstance(output, list):
        return [each for each in output if _is_message(each)]
    return [{"role": "assistant", **response}] if "content" in response else []
