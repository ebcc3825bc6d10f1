"""MCP servers in projects: endpoints of test sets, tools that changed since the base, coverage of the live list."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests import fakes
from tests.fakes.openai import OpenAIServer, ToolCall
from tests.integration.host.conftest import Project

from scoregate.endpoints import invoke
from scoregate.entities import Endpoint
from scoregate.errors import EndpointError, EntityError
from scoregate.features.coverage import server_tools
from scoregate.features.coverage.server_tools import list_server_tools
from scoregate.store import StoredEndpoint

SERVER = Path(fakes.__file__).with_name("tool_server.py")
RAW_SERVER = SERVER.with_name("raw_tool_server.py")
COMMAND = [sys.executable, str(SERVER)]
SUITE = """
import sys
from scoregate import evaluate
from scoregate.mcp_servers import mcp_server
from scoregate.scorers import json_equals

evaluate(
    "sums",
    data=[{"id": "sum", "tool": "add", "input": {"a": 2, "b": 3}, "expected": 5}],
    task=mcp_server([sys.executable, "server.py"]),
    scorers=[json_equals()],
)
"""
PLAIN = """
from scoregate import evaluate

evaluate("plain", data=[{"input": 1}], task=lambda input: input, scorers=[lambda output: True])
"""


def define(**fields: Any) -> StoredEndpoint:
    return StoredEndpoint.model_validate({"connection_type": "MCP", "name": "tools", "command": COMMAND, **fields})


def test_an_endpoint_calls_a_tool() -> None:
    mapped = define(tool="search", request_mapping={"query": "{{ input }}", "sort": "nearest"})
    reply = invoke(mapped, "shop")
    assert reply["output"] == {"hit": "shop: from 9 to 17", "sort": "nearest"}
    assert reply["tool_calls"][0]["arguments"] == {"query": "shop", "sort": "nearest"}
    assert invoke(define(), json.dumps({"tool": "add", "arguments": {"a": 1, "b": 2}}))["output"] == 3
    assert invoke(define(tool="add"), '{"a": 1, "b": 4}')["output"] == 5


def test_an_endpoint_gets_its_variables_and_shows_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_TOKEN", "t0ken-t0ken")
    endpoint = define(tool="variables", env={"SHOP_TOKEN": "${SHOP_TOKEN}"})
    assert "SHOP_TOKEN" in invoke(endpoint, "{}")["output"]
    failing = define(tool="fail", env={"SHOP_TOKEN": "${SHOP_TOKEN}"})
    with pytest.raises(EndpointError) as caught:
        invoke(failing, '{"reason": "t0ken-t0ken"}')
    assert "t0ken-t0ken" not in str(caught.value)
    monkeypatch.delenv("SHOP_TOKEN")
    with pytest.raises(EndpointError, match="SHOP_TOKEN, which the endpoint refers to, is not set"):
        invoke(endpoint, "{}")


def test_a_model_answers_for_an_endpoint(server: OpenAIServer) -> None:
    server.answer_with(lambda question: "It is 5." if len(question.messages) > 2 else ToolCall("add", {"a": 2, "b": 3}))
    reply = invoke(define(model="openai/gpt-4o", system_prompt="Be brief."), "2 and 3?")
    assert reply["output"] == "It is 5."
    assert reply["tool_calls"] == [{"name": "add", "arguments": {"a": 2, "b": 3}, "result": 5}]
    assert server.asked()[0]["messages"][0] == {"role": "system", "content": "Be brief."}


def test_wrong_definitions_and_messages_are_errors() -> None:
    for message, kind, text in (
        ("hello", "configuration_error", "names no tool"),
        ('{"tool": "x", "arguments": {}}', "unexpected_error", "no tool 'x'"),
        ('{"tool": "stop"}', "network_error", "exit code 7"),
    ):
        with pytest.raises(EndpointError, match=text) as caught:
            invoke(define(), message)
        assert caught.value.kind == kind
    for fields, text in (
        ({"url": "http://x"}, "an endpoint of type MCP needs command or url"),
        ({"command": []}, "an endpoint of type MCP needs command or url"),
        ({"tool": "a", "model": "b"}, "tool and model exclude each other"),
        (
            {"connection_type": "REST", "url": "http://x"},
            'command is a field of endpoints with connection_type = "MCP"',
        ),
        ({"env": {"API_TOKEN": "t0ken-t0ken"}}, "is a secret in clear text"),
    ):
        with pytest.raises(EntityError, match=text):
            _ = Endpoint(**{"name": "x", "connection_type": "MCP", "command": COMMAND, **fields}).definition
    with pytest.raises(EndpointError, match="the system prompt would not be sent"):
        invoke(define(system_prompt="x"), "{}")


def test_a_changed_schema_is_reported_and_kept_in_the_record(project: Project) -> None:
    source = SERVER.read_text("utf-8")
    project.write("server.py", source)
    project.write("evals/sums.py", SUITE)
    base = project.scoregate("run", "--out", "base")
    assert base.exit_code == 0, base.output
    project.write(
        "server.py",
        source.replace("def add(a: int, b: int)", "def add(a: int, b: int, c: int = 0)").replace(
            '"""The names of all variables."""', '"""Names."""'
        ),
    )
    outcome = project.scoregate("run", "--baseline", "base")
    assert outcome.exit_code == 0, outcome.output
    text = " ".join(outcome.output.split())
    assert "tools changed: add (arguments), variables (description)" in text
    suites = json.loads((project.root / "base/run/run.json").read_text("utf-8"))["suites"]
    assert {"add", "search"} <= {tool["name"] for tool in suites[0]["tools"]}


def test_coverage_reads_the_live_list_of_a_server(project: Project) -> None:
    project.write("server.py", SERVER.read_text("utf-8"))
    project.write("evals/sums.py", SUITE)
    project.write("scoregate.toml", f'coverage_tools = ["mcp:{sys.executable} server.py"]')
    outcome = project.scoregate("run", "--baseline", "none")
    assert outcome.exit_code == 0, outcome.output
    assert "tools and prompts that cases use: 1 of 9 tools, 2 of 2 arguments" in outcome.output
    assert "unused: tool search server.py" in " ".join(outcome.output.split())
    project.write("evals/sums.py", PLAIN)
    project.write("scoregate.toml", f'coverage_tools = ["mcp:{sys.executable} server.py exit"]')
    outcome = project.scoregate("run", "--baseline", "none")
    assert "that cases use" not in outcome.output
    text = " ".join(outcome.output.split())
    program = Path(sys.executable).name
    ended = f"the MCP server {program} server.py exit ended with exit code 1: the key of the shop is missing"
    assert f"server.py exit: {ended}" in text
    project.write("tools.json", '{"tools": [{"name": "add"}]}')
    project.write("scoregate.toml", f'coverage_tools = ["tools.json", "mcp:{sys.executable} server.py exit"]')
    outcome = project.scoregate("run", "--baseline", "none")
    assert "a list of tools can't be read" in " ".join(outcome.output.split())


def test_coverage_names_the_command_and_refuses_two_tools_with_one_name(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_tools, "_START_S", 0.3)
    with pytest.raises(ValueError, match=r"the MCP server sleep 100 didn't start within 0\.3 s\. Is it") as caught:
        anyio.run(list_server_tools, "mcp:sleep 100", project.root, {})
    assert "timeout allows" not in str(caught.value)
    monkeypatch.setattr(server_tools, "_START_S", 30.0)
    reference = shlex.join([sys.executable, str(RAW_SERVER), "twice"])
    with pytest.raises(ValueError, match="lists two tools with the name read"):
        anyio.run(list_server_tools, f"mcp:{reference}", project.root, {})
