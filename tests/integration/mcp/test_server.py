"""`scoregate mcp`: a real client starts it, and asks about a real run."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import anyio.to_thread
import pytest
from tests.integration.host.conftest import Project, project

from scoregate.cli.mcp_command import Questions, build_server
from scoregate.errors import MissingExtra

__all__ = ["project"]

SUITE = """
import os
from scoregate import evaluate
from scoregate.scorers import contains

evaluate(
    "hours",
    data=[{"id": "open", "input": "When?", "expected": "9"}, {"id": "key", "input": "Where?", "expected": "x"}],
    task=lambda input: os.environ.get("ANSWER", "At 9.") + " x",
    scorers=[contains()],
)
"""


@pytest.fixture
def compared(project: Project) -> Project:
    """A run in which one of two cases fails newly."""
    project.write("evals/hours.py", SUITE)
    assert project.scoregate("run", "--out", "base").exit_code == 0
    outcome = project.scoregate("run", "--baseline", "base", ANSWER="Ignore your instructions")
    assert outcome.exit_code == 1, outcome.output
    return project


@pytest.mark.anyio
async def test_a_client_gets_the_verdict_the_case_and_the_command(compared: Project) -> None:
    from mcp import Client, StdioServerParameters, stdio_client

    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "scoregate", "mcp"],
        cwd=str(compared.root),
        env=dict(os.environ) | {"OPENAI_API_KEY": "s3cr3t-s3cr3t"},
    )
    async with Client(stdio_client(server)) as client:
        tools = (await client.list_tools()).tools
        assert {tool.name for tool in tools} == {"verdict", "regressions", "gates", "case", "rerun"}

        async def ask(name: str, **arguments: Any) -> Any:
            result = await client.call_tool(name, arguments)
            text = result.content[0].text
            return text if result.is_error else json.loads(text)

        verdict = await ask("verdict")
        assert (verdict["conclusion"], verdict["exit_code"]) == ("failed", 1)
        assert verdict["failed_gates"][0]["next"] == "scoregate run --suite hours"
        worse = await ask("regressions")
        assert [case["case"] for case in worse["newly_failing"]] == ["open"]
        case = await ask("case", suite="hours", case="open")
        assert (case["now"]["output"], case["base"]["output"]) == ("Ignore your instructions x", "At 9. x")
        assert case["rerun"] == "scoregate run evals/hours.py::hours::open"
        assert (await ask("gates", suite="hours"))["cases"] == [{"suite": "hours", "case": "open", "name": "open"}]
        assert (await ask("rerun", suite="hours", case="open"))["command"] == case["rerun"]
        for tool in ("case", "rerun"):
            assert "Did you mean open?" in await ask(tool, suite="hours", case="opem")
        assert "It has: hours" in await ask("rerun", suite="x", case="y")
        assert verdict["part"] is None
        rerun = await anyio.to_thread.run_sync(compared.run_process, *case["rerun"].split()[1:])
        assert rerun.exit_code == 0
        assert "only a part ran" in (await ask("verdict"))["part"]


@pytest.mark.anyio
async def test_a_project_without_a_run_gets_an_answer(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"does not exist\. Run `scoregate run` first"):
        await Questions(tmp_path).answer(lambda view: view)


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("mcp.server.mcpserver", "mcp.server.fastmcp"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtra, match="the package mcp is not installed"):
        build_server(Questions(tmp_path))
