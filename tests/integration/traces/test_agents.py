"""Spans that agents send to `command_agent` with OpenTelemetry's own SDKs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from tests.integration.traces.environment import find_node_modules

from scoregate import evaluate
from scoregate.agents import command_agent
from scoregate.evals import Trajectory
from scoregate.scorers import tool_calls

CLIENTS = Path(__file__).with_name("clients")
GZIP = {"OTEL_EXPORTER_OTLP_COMPRESSION": "gzip"}


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(capsys: pytest.CaptureFixture[str], command: list[str], **options: Any) -> None:
    """Three trials: as expected, with a wrong tool, and with one tool too many."""
    seen: list[Trajectory] = []

    def keep(trajectory: Trajectory) -> bool:
        seen.append(trajectory)
        return True

    expected = [["search", {"day": 1}], ["fail", {"day": 1}]]
    result = evaluate(
        "agent",
        data=[
            {"input": each, "expected_tool_calls": expected} for each in ("search fail", "find fail", "search fail x")
        ],
        task=command_agent(command, **options),
        scorers=[tool_calls(), keep],
    )
    assert [error.message for error in result.errors] == []
    scores = {case.input["input"]: case.scores["tool_calls"] for case in result.cases}
    assert scores == {"search fail": 1, "find fail": 0.5, "search fail x": pytest.approx(2 / 3)}
    output = capsys.readouterr().out
    assert "expected call 1, search(day=1), is missing; instead there is find(day=1)" in output
    assert "call 3, x(day=1), is not expected" in output
    assert [case.output for case in result.cases] == ["Open from 9 to 17"] * 3
    first = next(each for each in seen if [call.name for call in each.tool_calls] == ["search", "fail"])
    search, failed = first.tool_calls
    assert (search.arguments, search.result, search.error, failed.error) == ({"day": 1}, "9 to 17", None, "no such day")
    assert search.duration_s is not None
    assert search.duration_s < 60


def test_the_sdk_for_python(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="the extra dev has it")
    for convention, env in (("genai", {}), ("openinference", GZIP)):
        check(capsys, [sys.executable, str(CLIENTS / "agent.py"), convention, "{prompt}"], env=env)


def test_the_sdk_for_nodejs(capsys: pytest.CaptureFixture[str]) -> None:
    modules = find_node_modules()
    pytest.importorskip("opentelemetry.proto", reason="the extra otlp has it")
    for exporter, convention, env in (("http", "genai", GZIP), ("proto", "openinference", {})):
        command = ["node", str(CLIENTS / "agent.mjs"), exporter, convention, "{prompt}"]
        check(capsys, command, env={"MODULES": str(modules), **env})
