"""`mcp_server` as the task of a suite: calls of tools, questions to a model, and servers that misbehave."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests import fakes
from tests.fakes.openai import OpenAIServer, ToolCall
from tests.fakes.openai.question import Question, read_text
from tests.free_port import find_free_port

from scoregate import evaluate
from scoregate.evals import EvalResult, Trajectory
from scoregate.mcp_servers import mcp_server
from scoregate.scorers import called, equals, json_equals, length, tool_calls

SERVER = [sys.executable, str(Path(fakes.__file__).with_name("tool_server.py"))]
PACKAGE = [*SERVER, "package"]
pytestmark = pytest.mark.usefixtures("root")


def run(server: Any, *cases: dict[str, Any], scorers: Any = None, concurrency: int = 3) -> EvalResult:
    chosen = [json_equals()] if scorers is None else scorers
    return evaluate("tools", data=list(cases), task=server, scorers=chosen, concurrency=concurrency)


def errors_of(result: EvalResult) -> dict[str, str]:
    return {case.name: " ".join(each.error.message for each in case.errors) for case in result.cases}


def call_hanging(server: Any, case: dict[str, Any]) -> EvalResult:
    """The result of a tool that hangs. On a busy machine, its server may not start within the first time limit."""
    file = Path(case["input"].get("pid_file", "/"))
    for limit in (4, 60):
        result = run(mcp_server(server, timeout=limit), case)
        if f"didn't answer within {limit} s: the tool hang" in errors_of(result)["hang"] and file.exists():
            break
    return result


def test_cases_call_tools_and_scorers_compare_results() -> None:
    result = run(
        mcp_server(SERVER),
        {"id": "sum", "tool": "add", "input": {"a": 2, "b": 3}, "expected": 5},
        {"id": "wrong", "tool": "add", "input": {"a": 2, "b": 3}, "expected": 6},
        {
            "id": "search",
            "input": {"tool": "search", "arguments": {"query": "shop"}},
            "expected": {"hit": "shop: from 9 to 17", "sort": "newest"},
        },
        {"id": "failed", "tool": "fail", "input": {"reason": "no stock"}, "expected": "no stock"},
        {"id": "absent", "tool": "serch", "input": {}, "expected": ""},
        {"id": "nameless", "input": {"a": 1}, "expected": ""},
        {"id": "list", "tool": "add", "input": [1, 2], "expected": 3},
        scorers=[json_equals(), called("*")],
    )
    states = {case.name: str(case.status) for case in result.cases}
    assert (states["sum"], states["wrong"], states["search"]) == ("passed", "failed", "passed")
    errors = errors_of(result)
    assert "the tool fail failed" in errors["failed"]
    assert "has no tool 'serch'" in errors["absent"]
    assert "the case names no tool" in errors["nameless"]
    assert "must be an object, not [1, 2]" in errors["list"]
    steps = {case.name: Trajectory.read(case.trace) for case in result.cases}
    call = steps["sum"].tool_calls[0]  # type: ignore[union-attr]
    assert (call.name, call.arguments, call.result, call.error) == ("add", {"a": 2, "b": 3}, 5, None)
    assert call.duration_s is not None
    assert steps["failed"].tool_calls[0].error  # type: ignore[union-attr]
    assert not result.passed


def test_a_server_of_the_package_answers_and_errors_of_tools_may_be_outputs() -> None:
    cases = ({"id": "sum", "input": {"a": 2, "b": 3}}, {"id": "wrong", "input": {"a": "x"}})
    outputs: dict[str, Any] = {}
    server = mcp_server(PACKAGE, tool="add", tool_errors=True)
    result = run(server, *cases, scorers=[lambda case, output: outputs.update({case["id"]: output}) or True])
    assert result.passed, errors_of(result)
    assert outputs["sum"] == 5
    assert "validation error" in outputs["wrong"]


def test_a_server_gets_only_the_variables_that_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "s3cr3t-s3cr3t")
    server = mcp_server(SERVER, tool="variables", env={"SHOP_TOKEN": "t0ken-t0ken"})
    seen: list[list[str]] = []
    run(server, {"input": {}}, scorers=[lambda output: seen.append(output) or True])
    assert {"SHOP_TOKEN", "PATH"} <= set(seen[0])
    assert not {"OPENAI_API_KEY", "SCOREGATE_ROOT", "SCOREGATE_EVENTS"} & set(seen[0])


def test_a_server_that_misbehaves_is_an_error_of_its_case(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    expected = {
        "hang": ({"pid_file": str(pids)}, "s: the tool hang"),
        "stop": ({}, "ended with exit code 7: out of memory"),
        "text": ({"kind": "text"}, "is not a message of MCP: 'loading 10%'"),
        "endless": ({"kind": "endless"}, "a message of more than 8 MB"),
        "messages": ({"kind": "messages"}, "wrote more than 64 MB"),
        "large": ({"megabytes": 9}, "a message of more than 8 MB"),
    }
    tools = dict.fromkeys(("text", "endless", "messages"), "write")
    cases = [{"id": name, "tool": tools.get(name, name), "input": value} for name, (value, _) in expected.items()]
    hang, *others = cases
    hanging = call_hanging(SERVER, hang)
    result = run(mcp_server(SERVER, timeout=120), *others, {"id": "sum", "tool": "add", "input": {"a": 2, "b": 3}},
                 scorers=[lambda output: output == 5])  # fmt: skip
    errors = errors_of(hanging) | errors_of(result)
    assert {name: text for name, (_, text) in expected.items() if text not in errors[name]} == {}, errors
    assert errors["sum"] == ""
    assert [case.name for case in result.cases if str(case.status) == "passed"] == ["sum"]
    # What init doesn't collect stays as a process without a command line.
    left = [Path(f"/proc/{pid}/cmdline") for pid in pids.read_text().split()]
    assert not any(path.exists() and path.read_bytes() for path in left)


def test_a_server_that_does_not_start_is_an_error_of_its_case() -> None:
    expected = {
        "hang": "didn't start within 2 s",
        "print": "is not a message of MCP: 'Server is starting'",
        "exit": "ended with exit code 1: the key of the shop is missing",
        "flood": "a message of more than 8 MB",
    }
    for mode, text in expected.items():
        server = mcp_server([*SERVER, mode], timeout=2 if mode == "hang" else 60)
        result = run(server, {"id": "a", "tool": "add", "input": {"a": 1, "b": 1}})
        assert text in errors_of(result)["a"], mode
        assert not result.passed
    result = run(mcp_server(["no-such-program"]), {"id": "a", "tool": "add", "input": {}})
    assert "can't be started: No such file or directory" in errors_of(result)["a"]


def test_a_server_that_breaks_the_protocol_is_an_error_of_its_case() -> None:
    expected = {
        "version": r"the MCP server raw_tool_server\.py can't be used: Unsupported protocol version .*1999-01-01",
        "twice": "lists two tools with the name read",
        "nan": "the tool read: its structured content has NaN or Infinity",
    }
    for mode, text in expected.items():
        server = mcp_server([sys.executable, str(Path(SERVER[1]).with_name("raw_tool_server.py")), mode])
        result = run(server, {"id": "a", "tool": "read", "input": {}}, scorers=[lambda output: output])
        errors = errors_of(result)["a"]
        assert re.search(text, errors), mode
        assert "session.py" not in errors, mode
        assert not result.passed


def test_a_list_of_tools_that_changes_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "list"
    server = mcp_server(SERVER, env={"LIST_FILE": str(path)})
    add = {"tool": "add", "input": {"a": 1, "b": 1}, "expected": 2}
    change = {"id": "change", "tool": "add_tool", "input": {"path": str(path)}, "expected": "added"}
    errors = errors_of(run(server, {**add, "id": "first"}, change, {**add, "id": "later"}, concurrency=1))
    assert errors["first"] == ""
    for name in ("change", "later"):
        assert "changed its list of tools during the run: tools changed: later (new)" in errors[name]


def answer_last(server: OpenAIServer, rules: dict[str, Any]) -> None:
    """Answer the last message, of the user or of a tool, by the first rule whose pattern is found in it."""

    def answer(question: Question) -> Any:
        last = read_text(question.messages[-1])
        return next(answer for pattern, answer in rules.items() if re.search(pattern, last))

    server.answer_with(answer)


def test_a_model_answers_with_the_tools(server: OpenAIServer) -> None:
    answer_last(server, {"2 and 3": ToolCall("add", {"a": 2, "b": 3}), "^5$": "It is 5."})
    result = run(
        mcp_server(SERVER, model="openai/gpt-4o", system_prompt="Be brief."),
        {"input": "What is 2 and 3?", "expected": "It is 5.", "expected_tool_calls": [["add", {"a": 2, "b": 3}]]},
        scorers=[equals(), tool_calls()],
    )
    assert result.passed, errors_of(result)
    first, second = server.asked()
    assert [each["role"] for each in first["messages"]] == ["system", "user"]
    assert "add" in {tool["function"]["name"] for tool in first["tools"]}
    assert [each["role"] for each in second["messages"]] == ["system", "user", "assistant", "tool"]
    (case,) = result.cases
    assert [type(step).__name__ for step in Trajectory.read(case.trace).steps] == ["Message", "ToolCall", "Message"]  # type: ignore[union-attr]


def test_a_model_reads_its_mistakes_and_has_a_limit(server: OpenAIServer) -> None:
    second = ToolCall("add", {"a": 1, "b": 1})
    rules = {"mistakes": ToolCall("ad", {}), "no tool with this name": ToolCall("add", "[1"), "forever": second}
    rules |= {"no JSON object": ToolCall("fail", {"reason": "full"}), "tool fail": "I give up.", "^2$": second}
    answer_last(server, {**rules, "nothing": ""})
    task = mcp_server(SERVER, model="openai/gpt-4o", max_steps=3)
    cases = ({"id": name, "input": name} for name in ("mistakes", "forever", "nothing"))
    result = run(task, *cases, scorers=[length(min=1)])
    errors, traces = errors_of(result), {case.name: Trajectory.read(case.trace) for case in result.cases}
    assert errors["mistakes"] == ""
    assert all(call.error for call in traces["mistakes"].tool_calls)  # type: ignore[union-attr]
    assert "called more than 3 tools" in errors["forever"]
    assert len(traces["forever"].tool_calls) == 3  # type: ignore[union-attr]
    assert "ended with an empty answer" in errors["nothing"]


@contextmanager
def http_server() -> Iterator[str]:
    port = find_free_port()
    with subprocess.Popen(
        [*SERVER, "http", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        deadline = time.monotonic() + 90
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        try:
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.kill()


def test_a_server_with_an_address_is_called_within_limits() -> None:
    with http_server() as address:
        result = run(
            mcp_server(address, timeout=60),
            {"id": "sum", "tool": "add", "input": {"a": 2, "b": 3}, "expected": 5},
            {"id": "large", "tool": "large", "input": {"megabytes": 9}, "expected": ""},
        )
        hanging = call_hanging(address, {"id": "hang", "tool": "hang", "input": {}, "expected": ""})
    errors = errors_of(result) | errors_of(hanging)
    assert errors["sum"] == ""
    assert "sent a message of more than 8 MB" in errors["large"]
    assert "didn't answer within" in errors["hang"]
    errors = errors_of(run(mcp_server("http://127.0.0.1:1/mcp"), {"id": "a", "tool": "add", "input": {}}))
    assert "can't be reached" in errors["a"]


def test_wrong_arguments_are_refused() -> None:
    for server, options, text in (
        ("ftp://x", {}, "an address with http or https"),
        ([], {}, "must name a program"),
        (["a\0b"], {}, "must name a program"),
        ("http://x/mcp", {"env": {"A": "b"}}, "env is for a server that is started"),
        (SERVER, {"headers": {"A": "b"}}, "headers are for a server with an address"),
        (SERVER, {"timeout": 0}, "timeout must be a number of seconds over 0"),
        (SERVER, {"max_steps": 0}, "max_steps must be a whole number"),
        (SERVER, {"tool": "a", "model": "b"}, "tool is for direct calls"),
    ):
        with pytest.raises(ValueError, match=text):
            mcp_server(server, **options)  # type: ignore[arg-type]
    assert mcp_server(SERVER).__name__ == "tool_server.py"
