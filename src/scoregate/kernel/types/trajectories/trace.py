"""The trace of a task as a trajectory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scoregate.kernel.types.task_trace import ModelCall, TaskTrace
from scoregate.kernel.types.trajectories.messages import StepReader, find_provider_tool
from scoregate.kernel.types.trajectories.spans import explain_unseen_calls, has_tools_or_chats, read_spans
from scoregate.kernel.types.trajectories.trajectory import Trajectory
from scoregate.kernel.types.trajectory_steps import Step, ToolCall


def read_trace(trace: TaskTrace, *, records_tools: bool = False) -> Trajectory | None:
    """The trajectory of a task; None if nothing was recorded.

    Spans that name tools are preferred, since they have durations and errors. The calls of models are read otherwise.

    Args:
        trace: the calls of models and the spans of the task.
        records_tools: whether calls of tools are recorded, so that a trace without one shows that none was called. A
            task without any instrumentation has a span as well, which shows nothing.
    """
    from_spans = read_spans(trace.spans)
    unseen = "" if records_tools else explain_unseen_calls(trace.spans)
    if any(isinstance(step, ToolCall) for step in from_spans):
        return Trajectory(tuple(from_spans), incomplete=unseen or _explain_provider_tools(trace.calls))
    if from_calls := _read_calls(trace.calls):
        return Trajectory(tuple(from_calls), incomplete="" if records_tools else _explain_streams(trace.calls))
    if not records_tools and not has_tools_or_chats(trace.spans):
        return None
    return Trajectory(tuple(from_spans), incomplete=unseen)


def _read_calls(calls: Iterable[ModelCall]) -> list[Step]:
    """The messages of each request that earlier ones lack, and its answer; other calls than chats are skipped."""
    reader = StepReader()
    for call in calls:
        reader.add_exchange(_list_request(call), _read_answer(call.response))
    return reader.steps


def _list_request(call: ModelCall) -> list[Mapping[str, Any]]:
    given = call.messages or call.request.get("input") or ()
    request = [{"role": "user", "content": given}] if isinstance(given, str) else given
    return [each for each in request if _is_message(each)] if isinstance(request, list | tuple) else []


def _explain_provider_tools(calls: Iterable[ModelCall]) -> str:
    """Why calls of tools may be missing among spans: a provider ran some, of which the task has no span."""
    tools = {tool: None for call in calls for tool in map(find_provider_tool, _list_parts(call.response)) if tool}
    return f"the provider of the model ran tools, which have no spans: {', '.join(tools)}" if tools else ""


def _list_parts(response: Mapping[str, Any]) -> list[Any]:
    """The items of an answer of the Responses API, or the blocks of one of Anthropic's."""
    parts = response.get("output", response.get("content"))
    return parts if isinstance(parts, list) else []


def _explain_streams(calls: Sequence[ModelCall]) -> str:
    """Why calls of tools may be missing: the answer of a stream isn't recorded unless a later request repeats it."""
    unseen = [
        call
        for index, call in enumerate(calls)
        if not call.response
        and call.error is None
        and (call.request.get("tools") or call.request.get("functions"))
        and not any(_continues(later, call) for later in calls[index + 1 :])
    ]
    return "the answer of a stream isn't recorded; record the calls of tools as spans" if unseen else ""


def _continues(later: ModelCall, call: ModelCall) -> bool:
    """Whether a request repeats the messages of an earlier one, with its answer."""
    given = _list_request(call)
    return len(_list_request(later)) > len(given) > 0 and _list_request(later)[: len(given)] == given


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
