"""Processes that share answers, budgets and the fake."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.fakes.openai import OpenAIServer
from tests.warm_scripts import run_script

ROOT = Path(__file__).parents[3]
ASKING = """
from scoregate.models import get_model
for number in range(COUNT):
    print(get_model("gpt-4o").generate(f"question {number}").text)
"""


def run_at_once(processes: int, code: str, folder: Path) -> list[tuple[str, str]]:
    """The outputs and errors of processes that run the same code at the same time."""
    script = folder / "ask.py"
    script.write_text(code, encoding="utf-8")
    with ThreadPoolExecutor(processes) as pool:
        runs = pool.map(run_script, [script] * processes, [os.environ] * processes)
        return [(run.stdout, run.stderr) for run in runs]


def test_answers_are_shared_by_processes_that_write_at_once(server: OpenAIServer, tmp_path: Path) -> None:
    asking = ASKING.replace("COUNT", "40")
    outputs = run_at_once(4, asking, tmp_path)
    assert [err for _, err in outputs] == [""] * 4
    assert len({out for out, _ in outputs}) == 1
    request_count = len(server.requests)
    assert request_count >= 40
    assert run_at_once(1, asking, tmp_path) == outputs[:1]
    assert len(server.requests) == request_count, "nothing was lost"


def test_a_budget_is_shared_by_processes(server: OpenAIServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCOREGATE_CACHE", "off")
    monkeypatch.setenv("SCOREGATE_SPENT", str(tmp_path / "spent"))
    monkeypatch.setenv("SCOREGATE_MAX_TOKENS", "400")
    outputs = run_at_once(3, ASKING.replace("COUNT", "200"), tmp_path)
    assert all("BudgetSpent" in err for _, err in outputs)
    spent = [line.split()[1] for line in (tmp_path / "spent").read_text().splitlines() if " " in line]
    assert 300 <= sum(map(int, spent)) <= 400
    assert len(server.requests) == len(spent)


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    answers = tmp_path / "answers.json"
    answers.write_text(json.dumps({"capital": "Paris"}))
    command = [
        sys.executable,
        "-m",
        "tests.fakes.openai",
        "--latency",
        "0.02",
        "--port",
        "0",
        "--answers",
        str(answers),
    ]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.terminate()
        assert process.wait(timeout=60) == 0


def test_the_fake_as_a_process(address: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    monkeypatch.setenv("SCOREGATE_ROOT", str(tmp_path))
    code = "from scoregate.models import get_model; print(get_model().generate('The capital?').text)"
    assert run_at_once(1, code, tmp_path) == [("Paris\n", "")]
    log = address.removesuffix("/v1") + "/fake/requests"
    with urllib.request.urlopen(log) as response:
        (request,) = json.load(response)
    assert request["body"]["messages"][0]["content"] == "The capital?"
    with urllib.request.urlopen(urllib.request.Request(log, method="DELETE")):
        pass
    with urllib.request.urlopen(log) as response:
        assert json.load(response) == []
