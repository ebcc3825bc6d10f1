"""`scoregate run` over suites with models: the settings reach them, and so does the end of the budget."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.cli import run_cli
from tests.fakes.openai import OpenAIServer

SUITE = """
from scoregate.models import get_model
from scoregate.testing import BaseTestEvaluator, Evaluation, run_test_suite


class Judge(BaseTestEvaluator):
    id = "judge"
    max_concurrency = 1

    async def evaluate_test_case(self, test_case, output):
        await get_model().a_generate(f"judge {output}")
        return Evaluation(1.0)


cases = [{"q": f"{NAME} {number}"} for number in range(10)]
run_test_suite(NAME, cases, lambda case: case["q"], [Judge()], 1, test_case_hash=["q"])
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "evals").mkdir()
    for name in ("one", "two"):
        (tmp_path / "evals" / f"{name}.py").write_text(f"NAME = {name!r}\n{SUITE}")
    (tmp_path / "scoregate.toml").write_text('model = "our-model"\n[prices."our-*"]\ninput = 1_000_000\n')
    return tmp_path


def run_project(project: Path, *flags: str) -> tuple[int, dict[str, Any]]:
    environment = {name: value for name, value in os.environ.items() if name != "SCOREGATE_ROOT"}
    outcome = run_cli("run", "--baseline", "none", *flags, cwd=project, environ=environment)
    return outcome.returncode, json.loads((project / "scoregate-out" / "result.json").read_text())


def test_suites_use_the_settings_and_pay_once(server: OpenAIServer, project: Path) -> None:
    code, _ = run_project(project)
    assert code == 0
    assert {body["model"] for body in server.asked()} == {"our-model"}
    assert len(server.requests) == 20
    assert (project / ".scoregate-cache" / "answers.sqlite").exists()
    code, _ = run_project(project)
    assert (code, len(server.requests)) == (0, 20)
    code, _ = run_project(project, "--cache", "refresh", "--model", "another")
    assert (code, len(server.requests)) == (0, 40)
    assert server.asked()[-1]["model"] == "another"


def test_a_budget_covers_the_run_and_missing_cases_are_unmeasurable(server: OpenAIServer, project: Path) -> None:
    code, output = run_project(project, "--max-cost", "40", "--cache", "off")
    assert code == 3
    assert 2 <= len(server.requests) < 20
    assert "BudgetSpent" in json.dumps(output)


def test_calls_in_user_threads_are_in_the_sums(server: OpenAIServer, project: Path) -> None:
    """They know no case, and yet the report counts what they take."""
    asking = 'get_model().generate(case["q"]).text'
    threaded = asking.replace("generate(", "generate, ").replace("get_model", "Executor().submit(get_model")
    sums = []
    for call in (asking, threaded.replace(".text", ".result().text")):
        for name in ("one", "two"):
            imported = f"NAME = {name!r}\nfrom concurrent.futures import ThreadPoolExecutor as Executor\n"
            (project / "evals" / f"{name}.py").write_text(imported + SUITE.replace('case["q"], [', f"{call}, ["))
        code, output = run_project(project, "--cache", "off")
        assert code == 0
        sums.append((output["totals"]["tokens"], output["totals"]["cost"]))
    assert len(server.requests) == 80
    assert sums[0] == sums[1]
