"""What a run will cost: the estimate in `plan`, `run` and the comment, the limit before the run, retired models."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.fakes.fixtures import openai_server
from tests.fakes.openai import OpenAIServer
from tests.integration.host.conftest import Project, Ran

__all__ = ["openai_server"]
SCHEMA = json.loads((Path(__file__).parents[3] / "docs" / "estimate.schema.json").read_text("utf-8"))
SUITE = """
from scoregate.models import get_model
from scoregate.testing import BaseTestEvaluator, Evaluation, run_test_suite


class Judge(BaseTestEvaluator):
    id = "judge"

    async def evaluate_test_case(self, test_case, output):
        await get_model().a_generate(f"judge {{output}}")
        return Evaluation(1.0)


cases = [{{"q": f"{name} {{number}}"}} for number in range({cases})]
run_test_suite("{name}", cases, lambda case: case["q"], [Judge()], 1, test_case_hash=["q"])
"""
PRICED = 'cache = "off"\nmodel = "our-model"\n[prices."our-*"]\ninput = 100_000\noutput = 100_000\n'


@pytest.fixture
def priced_project(project: Project, openai_server: OpenAIServer) -> Project:
    """A project with one suite of a priced model, and a run of it."""
    project.write(".gitignore", "scoregate-out/\n__pycache__/\n.scoregate-cache/\n")
    project.write("scoregate.toml", PRICED)
    project.write("evals/one.py", SUITE.format(name="one", cases=6))
    project.commit()
    environment = openai_server.environment
    plain = project.scoregate

    def scoregate(*arguments: str, **more: str) -> Ran:
        return plain(*arguments, **{**environment, **more})

    project.scoregate = scoregate  # type: ignore[method-assign]
    assert project.scoregate("run").exit_code == 0
    return project


def plan(project: Project, *options: str) -> dict[str, Any]:
    planned = project.scoregate("plan", "--format", "json", *options)
    assert planned.exit_code == 0, planned.output
    text = planned.output
    content: dict[str, Any] = json.loads(text[text.index("{\n") : text.rindex("\n}") + 2])
    jsonschema.validate(content, SCHEMA)
    return content


def total_spend(project: Project) -> float:
    suites = json.loads((project.root / "scoregate-out" / "result.json").read_text("utf-8"))["suites"]
    return sum(suite["spend"]["cost"] or 0 for suite in suites)


def test_plan_run_and_comment_show_the_estimate(priced_project: Project, openai_server: OpenAIServer) -> None:
    before, number = total_spend(priced_project), len(openai_server.requests)
    estimate = plan(priced_project)
    assert len(openai_server.requests) == number  # nothing ran
    assert estimate["total"]["cost"]["expected"] == pytest.approx(before)
    (suite,) = estimate["suites"]
    assert (suite["suite"], suite["state"], suite["cases"], suite["calls"]) == ("one", "base", 6, 6)
    table = priced_project.scoregate("plan").output
    assert [line.split()[:3] for line in table.splitlines()[:2]] == [["suite", "cases", "calls"], ["one", "6", "6"]]
    second = priced_project.scoregate("run")
    assert second.output.count("estimate $") == 2
    assert f"note: Cost: estimate ${before:.2f} [" in second.output
    assert "actual <span>$</span>" in second.comment
    assert second.run["estimate"]["cost"]["expected"] == pytest.approx(before)
    assert second.result["estimate"]["calls"] == 6


def test_plan_refuses_what_run_refuses(priced_project: Project) -> None:
    half = str(total_spend(priced_project) / 2)
    for options in ((), ("--format", "json")):
        refusal = priced_project.scoregate("plan", "--max-cost", half, *options)
        assert refusal.exit_code == 3, refusal.output
        assert "one" in refusal.output  # the estimate is shown first
        assert f"this run would exceed the budget: it costs ${total_spend(priced_project):.2f}" in refusal.output
    assert priced_project.scoregate("plan", "--max-cost", "1000").exit_code == 0


def test_plan_explains_affected_only_if_it_is_set(priced_project: Project) -> None:
    assert "All suites" not in priced_project.scoregate("plan").output
    priced_project.write("scoregate.toml", f"affected = true\n{PRICED}")
    planned = " ".join(priced_project.scoregate("plan").output.split())
    assert "All suites will run: the base's run did not record what its suites depend on" in planned


def test_an_exceeded_budget_refuses_the_run(priced_project: Project, openai_server: OpenAIServer) -> None:
    before, number = total_spend(priced_project), len(openai_server.requests)
    for _ in range(2):  # a refusal must not hide the base, else the second run would start
        refusal = priced_project.scoregate("run", "--max-cost", str(before / 2))
        assert refusal.exit_code == 3
        assert "nothing was run" in refusal.output
        assert f"max_cost = ${before / 2:g} (--max-cost)" in refusal.output
        assert "`scoregate plan`" in refusal.output
    assert len(openai_server.requests) == number
    # Within the interval it is in doubt, so the run starts.
    assert "nothing was run" not in priced_project.scoregate("run", "--max-cost", str(before * 0.99)).output
    assert len(openai_server.requests) > number


# A server on this machine may run code of the repository, and then every case would run. This client has none.
ROWS = """
import json
from pathlib import Path
import httpx
from openai import OpenAI
from scoregate import evaluate
from scoregate.models import wrap

def answer(request):
    with Path({calls!r}).open("a") as file:
        file.write("call\\n")
    message = {{"role": "assistant", "content": "yes"}}
    usage = {{"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}}
    choice = {{"index": 0, "message": message, "finish_reason": "stop"}}
    return httpx.Response(200, json={{
        "id": "1", "object": "chat.completion", "created": 1, "model": "our-model", "choices": [choice], "usage": usage
    }})

client = wrap(OpenAI(api_key="none", http_client=httpx.Client(transport=httpx.MockTransport(answer))))

def task(input):
    return client.chat.completions.create(model="our-model", messages=[{{"role": "user", "content": input}}])\\
        .choices[0].message.content

evaluate("a", data="rows.jsonl", task=task, scorers=[lambda output: True])
"""


def test_a_limit_counts_reused_cases_and_runs_the_others(priced_project: Project, tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    rows = [f'{{"input": "question {number}"}}\n' for number in range(8)]
    priced_project.write("rows.jsonl", "".join(rows))
    priced_project.write("evals/one.py", ROWS.format(calls=str(calls)))
    priced_project.write("scoregate.toml", f"affected = true\n{PRICED}")
    priced_project.commit()
    assert priced_project.scoregate("run").exit_code == 0
    assert calls.read_text().count("call") == 8
    little, enough = str(total_spend(priced_project) * 1.05), str(total_spend(priced_project) * 1.2)
    priced_project.write("rows.jsonl", "".join([*rows, '{"input": "one more"}\n']))
    estimate = plan(priced_project, "--max-cost", little)
    assert estimate["total"]["cost"]["low"] == 0
    assert estimate["total"]["cost"]["expected"] > 0
    assert [each["note"] for each in estimate["suites"]] == [
        "all its cases; only those whose rows in rows.jsonl changed will run"
    ]
    # The gate counts the kept cases, as a run of all cases would: nine of them cost more than little.
    outcome = priced_project.scoregate("run", "--max-cost", little)
    assert (outcome.exit_code, calls.read_text().count("call")) == (1, 9), outcome.output
    assert priced_project.scoregate("run", "--max-cost", enough).exit_code == 0
    priced_project.write("rows.jsonl", "".join(rows[:7]))
    outcome = priced_project.scoregate("run", "--max-cost", enough)
    assert (outcome.exit_code, calls.read_text().count("call")) == (0, 9), outcome.output
    assert "0 of 7 cases ran" in " ".join(outcome.output.split())


def test_stored_answers_are_free(priced_project: Project) -> None:
    priced_project.write("scoregate.toml", PRICED.replace('"off"', '"on"'))
    assert plan(priced_project)["total"]["cost"]["expected"] > 0
    assert priced_project.scoregate("run").exit_code == 0
    free = plan(priced_project)
    assert free["total"]["cost"]["expected"] == 0
    assert free["suites"][0]["cost_without_cache"] > 0
    cached = priced_project.scoregate("run", "--max-cost", "0.001")
    assert cached.exit_code == 0
    assert "|" not in [line.strip() for line in cached.output.splitlines()]  # the mark of a printed line, alone
    # The base's run asked nothing itself, but the stored answers say what they cost.
    full = free["suites"][0]["cost_without_cache"]
    assert plan(priced_project, "--cache", "refresh")["total"]["cost"]["expected"] == pytest.approx(full)
    (suite,) = plan(priced_project)["suites"]
    assert (suite["cost"]["high"], suite["cost_without_cache"]) == (0, pytest.approx(full))


def test_a_changed_question_has_no_stored_answer(priced_project: Project, openai_server: OpenAIServer) -> None:
    priced_project.write("scoregate.toml", PRICED.replace('"off"', '"on"'))
    for _ in range(2):
        assert priced_project.scoregate("run").exit_code == 0
    table = priced_project.scoregate("plan").output
    assert [line.split()[:4] for line in table.splitlines()[:2]] == [
        ["suite", "cases", "calls", "stored"],
        ["one", "6", "0", "6"],
    ]
    assert "$0.00 [0.00–0.00]" in table
    assert "`stored` counts answers in scoregate's cache" in table
    priced_project.write("evals/one.py", SUITE.format(name="one", cases=6).replace("judge ", "grade "))
    cost = plan(priced_project)["total"]["cost"]
    assert (cost["low"], cost["expected"]) == (0, 0)
    before = len(openai_server.requests)
    run = priced_project.scoregate("run")
    assert "\nestimate $0.00 [0.00–" in f"\n{run.output}"  # without the mark of a line that a script printed
    assert len(openai_server.requests) == before + 6
    assert 0 < total_spend(priced_project) <= cost["high"]


def test_the_last_known_cost_counts_if_the_answers_are_gone(priced_project: Project) -> None:
    priced_project.write("scoregate.toml", PRICED.replace('"off"', '"on"'))
    for _ in range(2):
        assert priced_project.scoregate("run").exit_code == 0
    priced_project.write("scoregate.toml", PRICED.replace('"off"', '"on:another"'))
    estimate = plan(priced_project)
    assert (estimate["total"]["cost"]["low"], estimate["total"]["cost"]["expected"] > 0) == (0, True)
    assert "the cost is that of an earlier run" in estimate["suites"][0]["note"]


def test_options_that_change_what_runs_change_the_estimate(priced_project: Project) -> None:
    total = plan(priced_project)["total"]["cost"]["expected"]
    for options, share in (
        (("--max-cases", "3"), 1 / 2),
        (("--repeats", "3"), 3),
        (("--sample", "2"), 1 / 3),
        (("-k", "one"), 1),
        (("--model", "our-other"), 1),
    ):
        assert plan(priced_project, *options)["total"]["cost"]["expected"] == pytest.approx(total * share, rel=0.01), (
            options
        )
    priced_project.write("scoregate.toml", PRICED.replace("100_000", "200_000"))
    assert plan(priced_project)["total"]["cost"]["expected"] == pytest.approx(2 * total)


def test_a_suite_without_a_base_is_probed(priced_project: Project, openai_server: OpenAIServer) -> None:
    priced_project.write("evals/two.py", SUITE.format(name="two", cases=30))
    priced_project.write("evals/one.py", SUITE.format(name="one", cases=12))
    estimate = plan(priced_project)
    assert [(each["suite"], each["state"]) for each in estimate["suites"]] == [
        ("one", "base"),
        ("evals/two.py", "no estimate"),
    ]
    assert estimate["total"]["unknown"] == ["evals/two.py"]
    assert "`--probe` runs 3 cases" in priced_project.scoregate("plan").output
    number, base = len(openai_server.requests), (priced_project.root / "scoregate-out/run/run.json").read_bytes()
    probed = {each["suite"]: each for each in plan(priced_project, "--probe")["suites"]}
    assert len(openai_server.requests) == number + 3
    assert (probed["two"]["state"], probed["two"]["cases"], probed["one"]["cases"]) == ("probe", 30, 12)
    assert probed["two"]["cost"]["low"] > probed["one"]["cost"]["expected"] / 12 * 20
    assert not (priced_project.root / "scoregate-out" / "probe").exists()
    assert (priced_project.root / "scoregate-out/run/run.json").read_bytes() == base
    assert priced_project.scoregate("plan", "--probe", "--shards", "2").exit_code == 2


def test_a_failed_probe_is_explained(priced_project: Project) -> None:
    priced_project.write("evals/two.py", f"raise SystemExit('no data here')\n{SUITE.format(name='two', cases=3)}")
    (_, broken) = plan(priced_project, "--probe")["suites"]
    assert broken["state"] == "no estimate"
    assert "its sample cases did not run" in broken["note"]


def test_programs_that_cannot_be_sampled_do_not_run(priced_project: Project) -> None:
    command = f'[[commands]]\nname = "other"\nrun = "touch {priced_project.root}/ran"\n'
    priced_project.write("scoregate.toml", f"{PRICED}{command}")
    estimate = plan(priced_project, "--probe")
    (other,) = (each for each in estimate["suites"] if each["script"] == "other")
    assert "can't be sampled" in other["note"]
    assert not (priced_project.root / "ran").exists()


def test_unaffected_suites_cost_nothing(priced_project: Project) -> None:
    priced_project.write("scoregate.toml", f"affected = true\n{PRICED}")
    # A suite that connects to this machine may use any file, so the fake would make it affected by each change.
    priced_project.write(
        "evals/one.py", SUITE.format(name="one", cases=6).replace("await get_model().a_generate", "str")
    )
    priced_project.write("evals/two.py", SUITE.format(name="two", cases=3))
    assert priced_project.scoregate("run").exit_code == 0
    priced_project.write("evals/two.py", SUITE.format(name="two", cases=4))
    estimate = plan(priced_project)
    assert [(each["suite"], each["state"]) for each in estimate["suites"]] == [("two", "base"), ("one", "not affected")]
    assert estimate["total"]["calls"] == 3


def test_an_unknown_price_refuses_nothing(priced_project: Project) -> None:
    priced_project.write("scoregate.toml", 'cache = "off"\nmodel = "unheard-of"\n')
    assert priced_project.scoregate("run").exit_code == 0
    estimate = plan(priced_project)
    assert (estimate["total"]["cost"], estimate["total"]["unpriced"]) == (None, ["unheard-of"])
    outcome = priced_project.scoregate("run", "--max-cost", "0.01")
    assert "nothing was run" not in outcome.output
    assert "unknown price for model unheard-of" in outcome.output


def test_a_base_without_calls_has_no_estimate(priced_project: Project) -> None:
    plain = SUITE.format(name="one", cases=3).replace("await get_model().a_generate", "str")
    priced_project.write("evals/one.py", plain)
    assert priced_project.scoregate("run").exit_code == 0
    assert plan(priced_project)["total"]["cost"] is None
    outcome = priced_project.scoregate("run", "--max-cost", "0")
    assert "nothing was run" not in outcome.output
    assert "estimate $" not in outcome.output


def test_a_damaged_base_refuses_nothing(priced_project: Project) -> None:
    cases = next((priced_project.root / "scoregate-out" / "run").glob("cases*"))
    cases.write_bytes(cases.read_bytes()[:-40] + b'{"broken')
    planned = priced_project.scoregate("plan")
    assert planned.exit_code == 0, planned.output
    assert "nothing was run" not in priced_project.scoregate("run", "--max-cost", "0.001").output


def test_retired_models_in_use_are_warned_about(priced_project: Project) -> None:
    priced_project.write("scoregate.toml", 'model = "gpt-4"\ncache = "off"\n')
    priced_project.write(".scoregate/judges/tone/judge.toml", 'model = "claude-2.1"\n')
    priced_project.write(
        "evals/two.py", SUITE.format(name="two", cases=2).replace("get_model()", 'get_model(model="gpt-4o-2024-05-13")')
    )
    requests = 'BODY = {"model": "o1"}\n\n\ndef ask(text, *, model="claude-2.0"): ...\n\n\n'
    priced_project.write("evals/one.py", requests + SUITE.format(name="one", cases=6))
    (gpt4o, gpt4, claude, body, default) = (
        next(each for each in plan(priced_project)["warnings"] if each.startswith(f"Model {name} "))
        for name in ("gpt-4o-2024-05-13", "gpt-4", "claude-2.1", "o1", "claude-2.0")
    )
    assert "Named by evals/one.py:1." in body
    assert "Named by evals/one.py:4." in default
    assert "was retired on 2026-10-23: use gpt-5.6-sol. Named by the setting `model` (scoregate.toml)" in gpt4
    assert "Named by .scoregate/judges/tone/judge.toml" in claude
    assert "Named by evals/two.py:" in gpt4o
    assert "Model gpt-4 was retired" in priced_project.scoregate("list").output


def test_shards_are_estimated_together_and_refused_together(
    priced_project: Project, openai_server: OpenAIServer
) -> None:
    before, number = total_spend(priced_project), len(openai_server.requests)
    priced_project.scoregate("run", "--out", "base", "--baseline", "none")
    number = len(openai_server.requests)
    options = ("--baseline", "base", "--output", "scoregate-out/partition.json", "--shards", "2")
    planned = priced_project.scoregate("plan", *options)
    assert re.search(rf"estimate \${before:.2f} \[.*\], 6 calls, .* tokens, for all shards", planned.output)
    refusal = priced_project.scoregate("plan", *options, "--max-cost", str(before / 2))
    assert refusal.exit_code == 3
    assert "nothing was run" in refusal.output
    # Without the job of a plan, each shard refuses.
    shard = ("run", "--baseline", "base", "--shard")
    refusal = priced_project.scoregate(*shard, "1/2", "--out", "shards/1", "--max-cost", str(before / 2))
    assert refusal.exit_code == 3
    assert "nothing was run" in refusal.output
    assert len(openai_server.requests) == number
    for index in ("1", "2"):
        outcome = priced_project.scoregate(
            *shard, f"{index}/2", "--partition", "scoregate-out/partition.json", "--out", f"shards/{index}"
        )
        assert outcome.exit_code == 0, outcome.output
    merged = priced_project.scoregate("merge", "shards/*", "--baseline", "base")
    assert f"Cost: estimate ${before:.2f} [" in merged.output
    assert merged.run["estimate"]["cost"]["expected"] == pytest.approx(before)
