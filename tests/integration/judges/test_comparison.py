"""Scores depend on a judge's version: the comparison shows which version replaced which."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import pytest
from tests.fakes.openai import OpenAIServer
from tests.integration.judges.grading import to_subject
from tests.unit.judges import graders

from scoregate.client import Client
from scoregate.engine.own_events import reduce_log
from scoregate.engine.run import finish_suite, run_suite
from scoregate.judges import JudgeVersion, build_scorers, unstored_version
from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.compare.comparison_rows import Row, RowLabel
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd
from scoregate.kernel.types.suite import Case, Description, Suite

pytestmark = pytest.mark.anyio
EXAMPLES = [{"input": f"question {n}", "stars": n % 5 + 1, "tone": "kind"} for n in range(12)]


async def run(*versions: JudgeVersion) -> Run:
    """A suite whose task repeats the question."""
    suite = Suite(
        "nightly",
        [Case(str(number), example) for number, example in enumerate(EXAMPLES)],
        lambda example: example["input"],
        lambda case: Description(case.value["input"], case.value),
        lambda output: output,
        build_scorers(versions, lambda example, output: to_subject({**example, "output": output}, example, output)),
    )
    started = perf_counter()
    (log,) = await run_suite(suite, None)
    finish_suite(log, started)
    return Run("run", 0.0, RunEnd(1.0, complete=True), RunCode("0"), suites=(reduce_log(log),))


def rows(new: Run, old: Run) -> dict[str, Row]:
    return {row.evaluator: row for row in compare(new, old).rows}


async def test_another_version_is_not_comparable(client: Client, server: OpenAIServer) -> None:
    server.answers("helpful", {"answer": "Yes"})
    client.judges.create("helpfulness", "Is it helpful?")
    client.judges.update("helpfulness", prompt="Is it helpful and short?", major=True)
    old = await run(*client.judges.resolve(["helpfulness"], [{"name": "helpfulness", "version": "0.0"}]))
    new = await run(*client.judges.resolve(["helpfulness"]))
    row = rows(new, old)["helpfulness"]
    assert (row.label, row.reason) == (RowLabel.NOT_COMPARABLE, "judge helpfulness 0.0 -> 1.0")
    assert rows(new, new)["helpfulness"].label is not RowLabel.NOT_COMPARABLE


async def test_an_equal_version_with_another_number_is_comparable(client: Client, server: OpenAIServer) -> None:
    server.answers("helpful", {"answer": "Yes"})
    client.judges.create("helpfulness", "Is it helpful?")
    old = await run(*client.judges.resolve(["helpfulness"]))
    client.judges.update("helpfulness", major=True)
    new = await run(*client.judges.resolve(["helpfulness"]))
    assert rows(new, old)["helpfulness"].label is not RowLabel.NOT_COMPARABLE


async def test_another_project_model_is_noted(
    client: Client, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answers("helpful", {"answer": "Yes"})
    client.judges.create("helpfulness", "Is it helpful?")
    old = await run(*client.judges.resolve(["helpfulness"]))
    monkeypatch.setenv("SCOREGATE_MODEL", "openai/gpt-6-luna")
    new = await run(*client.judges.resolve(["helpfulness"]))
    assert rows(new, old)["helpfulness"].reason == "its model changed: gpt-4o → gpt-6-luna"


async def test_two_versions_of_a_judge_run_together(client: Client, server: OpenAIServer) -> None:
    server.answers("and short", {"answer": "No"})
    server.answers(r"helpful\?", {"answer": "Yes"})
    client.judges.create("helpfulness", "Is it helpful?")
    client.judges.update("helpfulness", prompt="Is it helpful and short?")
    pins: list[dict[str, Any]] = [{"name": "helpfulness", "version": version} for version in ("0.0", "0.1")]
    result = (await run(*client.judges.resolve(["helpfulness"], pins))).suites[0]
    assert {name: result.mean(name) for name in result.evaluators} == {"helpfulness@0.0": 1.0, "helpfulness@0.1": 0.0}


async def test_sync_and_async_code_judges_are_scorers() -> None:
    judges = [unstored_version(graders.Short), unstored_version(graders.Starred), unstored_version(graders.Toned)]
    result = (await run(*judges)).suites[0]
    means = {name: result.mean(name) for name in result.evaluators}
    assert means == {"Short": 1.0, "stars": pytest.approx(sum(e["stars"] - 1 for e in EXAMPLES) / 48), "Toned": 1.0}


async def test_an_exception_of_a_judge_is_a_case_error() -> None:
    result = (await run(unstored_version(graders.Broken))).suites[0]
    assert len(result.columns.errored["Broken"]) == len(EXAMPLES)
    assert result.mean("Broken") is None
