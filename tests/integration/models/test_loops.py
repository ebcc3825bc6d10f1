"""Clients that outlive a suite: each is in a process of its own, since what they leave open ends with it."""

from __future__ import annotations

import os
from pathlib import Path

from tests.fakes.openai import OpenAIServer
from tests.warm_scripts import run_script

SCRIPT = """
import asyncio
from openai import AsyncOpenAI
from scoregate.models import wrap
from scoregate.testing import run_test_suite

client = {client}

async def fn(case):
    answer = await client.chat.completions.create(model="gpt-4o", messages=[dict(role="user", content=case["q"])])
    return answer.choices[0].message.content

def suites():
    for number in range(3):
        result = run_test_suite("demo", [dict(q=f"a{{number}}"), dict(q=f"b{{number}}")], fn, test_case_hash=["q"])
        print([error.error.advice for case in result.cases for error in case.errors])

async def in_a_loop():
    suites()

{start}
"""


def error_advice(folder: Path, *, client: str, start: str) -> list[str]:
    """What the advice of errors was, suite by suite."""
    script = folder / "suite.py"
    script.write_text(SCRIPT.format(client=client, start=start))
    process = run_script(script, os.environ)
    assert process.returncode in (0, 3), process.stderr  # 3 if no case could be measured
    assert process.stderr == ""
    return [line for line in process.stdout.splitlines() if line.startswith("[")]


def test_an_unwrapped_global_client_serves_several_suites(server: OpenAIServer, tmp_path: Path) -> None:
    assert error_advice(tmp_path, client="AsyncOpenAI(max_retries=0)", start="suites()") == ["[]"] * 3
    assert len(server.requests) == 6


def test_a_running_loop_allows_a_wrapped_one(server: OpenAIServer, tmp_path: Path) -> None:
    assert error_advice(tmp_path, client="wrap(AsyncOpenAI())", start="asyncio.run(in_a_loop())") == ["[]"] * 3
    assert len(server.requests) == 6


def test_in_a_running_loop_an_unwrapped_client_is_an_error(server: OpenAIServer, tmp_path: Path) -> None:
    first, second, _ = error_advice(tmp_path, client="AsyncOpenAI(max_retries=0)", start="asyncio.run(in_a_loop())")
    assert first == "[]"
    assert "scoregate.models.wrap" in second
    assert len(server.requests) >= 2
