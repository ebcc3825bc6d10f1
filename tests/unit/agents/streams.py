"""Output of agents' command lines for one run: a failing search, a successful one, and an answer."""

from __future__ import annotations

from typing import Any

Events = list[dict[str, Any]]

CLAUDE: Events = [
    {"type": "system", "subtype": "init", "session_id": "s", "model": "claude-x", "tools": ["Bash"], "skills": []},
    {
        "type": "assistant",
        "message": {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Search."},
                {"type": "tool_use", "id": "1", "name": "Bash", "input": {"command": "sl"}},
            ],
        },
    },
    {
        "type": "user",
        "message": {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "1", "content": "no sl", "is_error": True}],
        },
    },
    {"type": "something_new", "data": 1},
    {
        "type": "assistant",
        "message": {
            "content": [{"type": "tool_use", "id": "2", "name": "Bash", "input": {"command": "ls"}}],
        },
    },
    {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "2", "content": "a.txt"}]}},
    {"type": "assistant", "message": {"content": [{"type": "text", "text": "One file."}]}},
    {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "result": "One file.",
        "duration_ms": 10,
        "num_turns": 3,
        "total_cost_usd": 0.25,
        "usage": {"input_tokens": 100, "cache_read_input_tokens": 20, "output_tokens": 10},
    },
]
CODEX: Events = [
    {"type": "thread.started", "thread_id": "t"},
    {"type": "turn.started"},
    {"type": "item.completed", "item": {"id": "0", "type": "reasoning", "text": "Search."}},
    {"type": "item.started", "item": {"id": "1", "type": "command_execution", "command": "sl"}},
    {
        "type": "item.completed",
        "item": {
            "id": "1", "type": "command_execution", "command": "sl", "aggregated_output": "no sl", "exit_code": 127,
            "status": "failed",
        },
    },
    {"type": "error", "message": "Reconnecting... 1/5"},
    {
        "type": "item.completed",
        "item": {
            "id": "2", "type": "command_execution", "command": "ls", "aggregated_output": "a.txt", "exit_code": 0,
            "status": "completed",
        },
    },
    {"type": "item.completed", "item": {"id": "3", "type": "agent_message", "text": "One file."}},
    {"type": "turn.completed", "usage": {"input_tokens": 120, "cached_input_tokens": 20, "output_tokens": 10}},
]  # fmt: skip
GEMINI: Events = [
    {"type": "init", "session_id": "s", "model": "gemini-x"},
    {"type": "message", "role": "user", "content": "Which files?"},
    {"type": "tool_use", "tool_name": "run_shell_command", "tool_id": "1", "parameters": {"command": "sl"}},
    {"type": "tool_result", "tool_id": "1", "status": "error", "error": {"type": "E", "message": "no sl"}},
    {"type": "tool_use", "tool_name": "run_shell_command", "tool_id": "2", "parameters": {"command": "ls"}},
    {"type": "tool_result", "tool_id": "2", "status": "success", "output": "a.txt"},
    {"type": "error", "severity": "warning", "message": "Slow."},
    {"type": "message", "role": "assistant", "content": "One ", "delta": True},
    {"type": "message", "role": "assistant", "content": "file.", "delta": True},
    {
        "type": "result",
        "status": "success",
        "stats": {"total_tokens": 130, "input_tokens": 120, "output_tokens": 10, "cached": 20, "tool_calls": 2},
    },
]


def _opencode(kind: str, **part: Any) -> dict[str, Any]:
    return {"type": kind, "timestamp": 1, "sessionID": "ses_1", "part": {"id": "prt_1", "type": kind, **part}}


OPENCODE: Events = [
    _opencode("step_start", snapshot="abc"),
    _opencode(
        "tool_use", tool="bash", callID="1", state={"status": "error", "input": {"command": "sl"}, "error": "no sl"}
    ),
    _opencode(
        "tool_use",
        tool="bash",
        callID="2",
        state={
            "status": "completed",
            "input": {"command": "ls"},
            "output": "a.txt",
            "time": {"start": 1000, "end": 1500},
        },
    ),
    _opencode("step_finish", reason="tool-calls", cost=0.2, tokens={"input": 60, "output": 4, "cache": {"read": 20}}),
    _opencode("text", text="One file."),
    _opencode("step_finish", reason="stop", cost=0.05, tokens={"input": 40, "output": 4, "reasoning": 2}),
]
COPILOT: Events = [
    {"type": "session.start", "data": {"sessionId": "s", "copilotVersion": "1.0.80"}},
    {"type": "user.message", "data": {"content": "Which files?"}},
    {"type": "assistant.reasoning", "data": {"content": "Search."}},
    {"type": "tool.execution_start", "data": {"toolCallId": "1", "toolName": "bash", "arguments": {"command": "sl"}}},
    {"type": "tool.execution_complete", "data": {"toolCallId": "1", "success": False, "error": {"message": "no sl"}}},
    {"type": "tool.execution_start", "data": {"toolCallId": "2", "toolName": "bash", "arguments": {"command": "ls"}}},
    {
        "type": "tool.execution_complete",
        "data": {"toolCallId": "2", "success": True, "result": {"content": "a.txt"}},
    },
    {"type": "assistant.message_delta", "data": {"deltaContent": "One"}},
    {
        "type": "assistant.message",
        "data": {"messageId": "m", "model": "model-x", "content": "One file.", "toolRequests": [], "outputTokens": 10},
    },
    {"type": "result", "sessionId": "s", "exitCode": 0, "usage": {"premiumRequests": 1}},
]
STREAMS = {"claude": CLAUDE, "codex": CODEX, "gemini": GEMINI, "opencode": OPENCODE, "copilot": COPILOT}
