"""Servers of others, from npm and PyPI, and version 1 of the package mcp."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from tests import fakes
from tests.free_port import find_free_port
from tests.integration.cached_environments import cached_folder, install, make_python

import scoregate
from scoregate import evaluate
from scoregate.evals import Trajectory
from scoregate.mcp_servers import mcp_server
from scoregate.scorers import called, contains

_NODE = ("@modelcontextprotocol/server-everything@2026.8.31",)
_PYTHON = ("mcp-server-time==2026.10.19",)
_VERSION_1 = ("mcp==1.30.0", "anyio", "pydantic")
_WHAT = "MCP servers of others"
pytestmark = pytest.mark.usefixtures("root")


def _make_node(folder: Path) -> None:
    folder.mkdir()
    quiet = ("--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts")
    install(["npm", "install", *quiet, "--prefix", str(folder), *_NODE], what=_WHAT)


@pytest.fixture(scope="module")
def everything() -> str:
    if shutil.which("npm") is None or shutil.which("node") is None:
        pytest.skip(f"{_WHAT} are NOT tested: there is no npm")
    return str(cached_folder("mcp-everything", _NODE, _make_node) / "node_modules/.bin/mcp-server-everything")


def test_the_reference_server_for_node(everything: str) -> None:
    cases = [
        {"id": "echo", "tool": "echo", "input": {"message": "hi"}, "expected": "hi"},
        {"id": "sum", "tool": "get-sum", "input": {"a": 2, "b": 3}, "expected": "5"},
        {"id": "image", "tool": "get-tiny-image", "input": {}, "expected": "image/png"},
        {"id": "wrong", "tool": "get-sum", "input": {"a": "x"}, "expected": "5"},
    ]

    def matches(output: Any, expected: str) -> bool:
        if isinstance(output, str):
            return expected in output
        return [part["data"].type for part in output if part["type"] == "image"] == [expected]

    result = evaluate("stdio", data=cases, task=mcp_server([everything], timeout=60), scorers=[matches, called("*")])
    assert {case.name: str(case.status) for case in result.cases} == {
        **dict.fromkeys(("echo", "sum", "image"), "passed"),
        "wrong": "errored",
    }
    (invalid,) = (case for case in result.cases if case.name == "wrong")
    assert "expected number, received string" in str(Trajectory.read(invalid.trace).tool_calls[0].error)  # type: ignore[union-attr]


def test_the_reference_server_for_node_with_an_address(everything: str) -> None:
    port = find_free_port()
    command, environment = ["node", Path(everything).resolve(), "streamableHttp"], {"PORT": str(port)}
    with subprocess.Popen(
        command, env={"PATH": os.environ["PATH"], **environment}, stderr=subprocess.DEVNULL
    ) as process:
        deadline = time.monotonic() + 90
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        try:
            cases = [{"tool": "get-sum", "input": {"a": 2, "b": 3}, "expected": "5"}]
            server = mcp_server(f"http://127.0.0.1:{port}/mcp", timeout=60)
            assert evaluate("http", data=cases, task=server, scorers=[contains()]).passed
        finally:
            process.kill()


def test_the_server_of_times_from_pypi() -> None:
    folder = cached_folder("mcp-server-time", _PYTHON, lambda path: make_python(path, _PYTHON, what=_WHAT))
    arguments = {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}
    result = evaluate(
        "time",
        data=[{"tool": "convert_time", "input": arguments, "expected": "+9.0h"}],
        task=mcp_server([str(folder / "bin/mcp-server-time")], timeout=60),
        scorers=[lambda output, expected: output["time_difference"] == expected],
    )
    assert result.passed


VERSION_1 = """
import sys
from scoregate import evaluate
from scoregate.mcp_servers import mcp_server
from scoregate.scorers import json_equals

command = [sys.executable, sys.argv[1], "package"]
cases = [
    {"id": "sum", "tool": "add", "input": {"a": 2, "b": 3}, "expected": 5},
    {"id": "large", "tool": "large", "input": {"megabytes": 9}, "expected": ""},
    {"id": "text", "tool": "write", "input": {"kind": "text"}, "expected": ""},
    {"id": "stop", "tool": "stop", "input": {}, "expected": ""},
]
result = evaluate("v1", data=cases, task=mcp_server(command, timeout=60), scorers=[json_equals()])
for case in result.cases:
    print(case.name, case.status, *(each.error.message for each in case.errors))
"""


def test_version_1_of_the_package_works() -> None:
    folder = cached_folder(
        "mcp-version-1", _VERSION_1, lambda path: make_python(path, _VERSION_1, what="version 1 of mcp")
    )
    server = Path(fakes.__file__).with_name("tool_server.py")
    source = Path(scoregate.__file__).parent.parent
    process = subprocess.run(
        [folder / "bin/python", "-c", VERSION_1, server],
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(source), "SCOREGATE_CACHE": "off"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    lines = process.stdout.splitlines()
    for text in (
        "sum passed",
        "large errored the MCP server tool_server.py wrote a message of more than 8 MB",
        "text errored the MCP server tool_server.py wrote a line to its standard output that is not a message of MCP",
        "stop errored the MCP server tool_server.py ended with exit code 7: ",
    ):
        assert any(line.startswith(text) for line in lines), process.stdout + process.stderr
