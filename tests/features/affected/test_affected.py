"""Only suites that a change can affect run; the others keep the results of the run before."""

from __future__ import annotations

import json
import re
import shutil
from typing import Any

import pytest
from tests.integration.host.conftest import Project, Ran

SUITE = """
import importlib
from pathlib import Path
from scoregate.evals import evaluate
from scoregate.scorers import equals

prompt = Path("prompts/{name}.md").read_text()
answer = importlib.import_module("app.{name}").answer
data = [{{"input": str(number), "expected": str(number)}} for number in range({cases})]
evaluate("{name}", data=data, task=answer, scorers=[equals()])
"""
GATEWAY = '[gateway]\nmode = "on"\n[gateway.providers.ours]\nbase_url = "https://models.example.com/v1"\n'


def prepare(project: Project, settings: str = "affected = true\n", cases: int = 6) -> None:
    """Two suites, and a run of them."""
    project.write(".gitignore", "scoregate-out/\n__pycache__/\n.scoregate-cache/\n")
    project.write("scoregate.toml", settings)
    for name in ("one", "two"):
        project.write(f"evals/{name}.py", SUITE.format(name=name, cases=cases))
        project.write(f"app/{name}.py", "def answer(input): return input\n")
        project.write(f"prompts/{name}.md", name)
    project.commit()
    assert project.scoregate("run").exit_code == 0


def carried_suites(ran: Ran) -> list[str]:
    return [suite["label"] for suite in ran.result["suites"] if suite["carried"]]


def test_only_what_a_change_affects_runs(project: Project) -> None:
    prepare(project)
    planned = " ".join(project.scoregate("plan").output.split())
    assert "2 suites will not run, because nothing that they depend on changed" in planned
    second = project.scoregate("run")
    assert (second.exit_code, sorted(carried_suites(second))) == (0, ["one", "two"]), second.output
    assert "2 suites did not run, because nothing that they depend on changed" in second.output
    (first, _) = (suite["carried"] for suite in second.result["suites"])
    project.write("prompts/one.md", "other")
    changed = project.scoregate("run")
    assert (changed.exit_code, carried_suites(changed)) == (0, ["two"]), changed.output
    assert changed.result["suites"][1]["carried"] == first  # the run that measured it, not the one in between
    rows = {row["suite"]: row for row in changed.result["rows"]}
    assert [rows[name]["label"] for name in ("one", "two")] == ["too few", "not affected"]
    assert (rows["two"]["delta"], rows["two"]["p"], rows["two"]["mean"], rows["two"]["base"]) == (None, None, 1.0, 1.0)
    assert [row["suite"] for row in changed.result["quantities"]] == ["one"] * len(changed.result["quantities"])
    assert changed.result["totals"]["cases"] == 12
    assert 'value="results of main@' in (changed.out / "junit.xml").read_text(encoding="utf-8")
    assert "not affected (results of main@" in (changed.out / "comment.md").read_text(encoding="utf-8")
    assert carried_suites(project.scoregate("run", "--all")) == []
    # A run of all suites is a base, too.
    assert sorted(carried_suites(project.scoregate("run"))) == ["one", "two"]


def test_the_pass_rate_change_counts_cases_that_ran(project: Project) -> None:
    prepare(project, cases=40)
    project.write("app/two.py", "def answer(input): return input if int(input) > 9 else 'no'\n")
    changed = project.scoregate("run")
    assert carried_suites(changed) == ["one"]
    text = (project.root / "scoregate-out" / "comment.md").read_text(encoding="utf-8")
    assert re.search(r"\*\*Pass rate 87\.5%\*\* \(−25\.0 pp .{10,50} in the 40 cases that ran vs ", text)
    assert "in the 40 cases that ran" in (project.root / "scoregate-out" / "report.html").read_text(encoding="utf-8")


def test_list_shows_why_suites_run(project: Project) -> None:
    prepare(project)
    project.write("app/two.py", "def answer(input): return input + ''\n")
    outcome = project.scoregate("list", "--affected")
    assert outcome.exit_code == 0
    text = " ".join(outcome.output.split())
    assert "one (in evals/, starts a suite at line 10) - not affected" in text
    assert "two (in evals/, starts a suite at line 10) - runs: app/two.py changed" in text
    assert "not affected" not in project.scoregate("list").output


def test_gates_count_carried_suites(project: Project) -> None:
    prepare(project, "affected = true\nmin_pass_rate = 0.5\n")
    project.write("app/one.py", "def answer(input): return 'wrong'\n")
    failed = project.scoregate("run")
    assert failed.exit_code == 1
    project.write("prompts/two.md", "other")
    second = project.scoregate("run")
    assert (second.exit_code, carried_suites(second)) == (1, ["one"]), second.output
    assert "one" in [finding["suite"] for finding in second.result["findings"] if finding["conclusion"] == "failed"]


def test_unclear_changes_run_all(project: Project) -> None:
    prepare(project)
    for options in (("-k", "one"), ("--suite", "one"), ("evals/one.py",), ("--model", "gpt-5")):
        assert (
            carried_suites(project.scoregate("run", *options, "--baseline", "scoregate-out", "--out", "other")) == []
        ), options
    for settings, why in (
        ("repeats = 2\n", "its command changed, or settings that it gets"),
        ("baseline = 'none'\n", "there is no base to compare with"),
        ("baseline = 'rerun'\n", "runs the base's suites too"),
        ("gateway = 'replay'\n", "settings that change results differ from the base's"),
        (GATEWAY, "settings that change results differ from the base's"),
        ("otlp_receiver = true\n", "settings that change results differ from the base's"),
        ("[evaluators.equals]\nscale = [0, 2]\n", "settings that change results differ from the base's"),
    ):
        project.write("scoregate.toml", f"affected = true\n{settings}")
        output = " ".join(project.scoregate("list", "--affected").output.split())
        assert why in output, (settings, output)
        assert "not affected" not in output
    project.write("scoregate.toml", "affected = true\n")
    assert "not affected" in project.scoregate("list", "--affected").output
    (head,) = project.root.glob("scoregate-out/earlier/*/run.json")
    stored: dict[str, Any] = json.loads(head.read_text(encoding="utf-8"))
    for change in ({"version": "0.0.1"}, {"dependencies": {"scripts": "forged"}}, {"dependencies": None}):
        head.write_text(json.dumps(stored | change), encoding="utf-8")
        assert "not affected" not in project.scoregate("list", "--affected").output, change


def test_incomplete_results_are_not_carried(project: Project) -> None:
    prepare(project, "affected = true\nmax_error_rate = 1\nmin_pass_rate = 0\n")
    project.write("app/one.py", "def answer(input): raise ValueError('no network')\n")
    project.scoregate("run")
    assert carried_suites(project.scoregate("run")) == ["two"]
    output = project.scoregate("list", "--affected").output
    assert "cases of one have errors in the base's run" in " ".join(output.split())


def test_a_new_suite_does_not_replace_a_carried_one(project: Project) -> None:
    prepare(project)
    project.write("evals/three.py", SUITE.format(name="one", cases=6))
    outcome = project.scoregate("run")
    assert outcome.exit_code == 0, outcome.output
    assert sorted(suite["label"] for suite in outcome.result["suites"]) == ["one", "one (evals/one.py)", "two"]


def test_a_command_runs_unless_its_inputs_are_the_same(project: Project) -> None:
    emit = "cp events.jsonl $SCOREGATE_EVENTS/a.jsonl"
    command = '[[commands]]\nname = "shell"\nrun = ["sh", "-c", "' + emit + '"]\n'
    project.write(".gitignore", "scoregate-out/\n")
    project.write(
        "events.jsonl",
        '{"v":1,"type":"suite_started","suite":"shell"}\n{"v":1,"type":"case_started","suite":"shell","case":"a"}\n'
        '{"v":1,"type":"scored","suite":"shell","case":"a","evaluator":"x","score":1}\n'
        '{"v":1,"type":"case_finished","suite":"shell","case":"a"}\n{"v":1,"type":"suite_finished","suite":"shell"}\n',
    )
    project.write("scoregate.toml", f"affected = true\n{command}")
    project.commit()
    assert project.scoregate("run").exit_code == 0
    assert carried_suites(project.scoregate("run")) == []
    assert "it is a command without `inputs`" in " ".join(project.scoregate("list", "--affected").output.split())
    project.write("scoregate.toml", f'affected = true\n{command}inputs = ["events.jsonl", "prompts/**"]\n')
    assert carried_suites(project.scoregate("run")) == []
    assert carried_suites(project.scoregate("run")) == ["shell"]
    project.write("prompts/a/b.md", "new")
    assert carried_suites(project.scoregate("run")) == []
    named = "affected = true\n" + command.replace(json.dumps(["sh", "-c", emit]), '["sh", "tools/chat.sh"]')
    project.write("tools/chat.sh", emit)
    project.write("scoregate.toml", f'{named}inputs = ["prompts/**"]\n')
    assert project.scoregate("run").exit_code == 0
    project.write("tools/chat.sh", f"{emit}\n")
    assert "tools/chat.sh changed" in " ".join(project.scoregate("list", "--affected").output.split())
    project.write("scoregate.toml", 'affected = true\n[[commands]]\nname = "x"\nrun = "x"\ninputs = ["../x"]\n')
    assert "must be a glob of files in the project" in project.scoregate("run").output


def test_changed_result_columns_change_the_scores(project: Project) -> None:
    command = (
        'affected = true\nmin_pass_rate = 0\n[[commands]]\nname = "rows"\nrun = "cp rows.jsonl out.jsonl"\n'
        'inputs = ["rows.jsonl"]\n'
    )
    rows = "imports = ['rows:out.jsonl']\n[commands.rows]\ninput = ['q']\nscores = ['{}']\n"
    project.write(".gitignore", "scoregate-out/\nout.jsonl\n")
    project.write("rows.jsonl", '{"q": "a", "one": 1, "two": 0}\n{"q": "b", "one": 1, "two": 0}\n')
    project.write("scoregate.toml", command + rows.format("one"))
    project.commit()
    first = project.scoregate("run")
    assert first.exit_code == 0, first.output
    assert carried_suites(project.scoregate("run"))
    project.write("scoregate.toml", command + rows.format("two"))
    assert "its command changed" in " ".join(project.scoregate("list", "--affected").output.split())


def test_a_test_set_of_a_service_always_runs(project: Project) -> None:
    project.write("scoregate.toml", "affected = true\n")
    project.write("evals/set.csv", "prompt_content,category,topic,behavior\nhi,a,b,polite\n")
    endpoint = 'url = "http://127.0.0.1:9/"\nretries = 0\n'
    project.write("evals/set.toml", f'[testset]\nname = "set"\n[endpoint]\n{endpoint}')
    project.commit()
    outcome = project.scoregate("run")
    run = json.loads((outcome.out / "run" / "run.json").read_text(encoding="utf-8"))
    (script,) = run["dependencies"]["scripts"]
    assert script["unknown"] == "it connects to 127.0.0.1, which may run code of this repository", outcome.output


def test_the_merged_run_of_shards_is_a_base(project: Project) -> None:
    prepare(project)
    project.write(".gitignore", "scoregate-out/\nshards/\n__pycache__/\n.scoregate-cache/\n")
    project.commit()
    for number in (1, 2):
        shard = project.scoregate("run", "--shard", f"{number}/2", "--out", f"shards/{number}", "--baseline", "none")
        assert shard.exit_code == 0, shard.output
    project.scoregate("merge", "shards/1", "shards/2")
    base = json.loads((project.root / "scoregate-out/run/run.json").read_text(encoding="utf-8"))
    assert [each["script"] for each in base["dependencies"]["scripts"]] == ["evals/one.py", "evals/two.py"]
    project.write("prompts/one.md", "other")
    changed = project.scoregate("run")
    assert (changed.exit_code, carried_suites(changed)) == (0, ["two"]), changed.output
    assert {suite["carried"]["id"] for suite in changed.result["suites"] if suite["carried"]} == {base["id"]}


NODE_SUITE = """
import fs from "node:fs";
import { answer } from "./lib.mjs";
const prompt = await fs.promises.readFile("prompts/chat.md", "utf8");
const log = `${process.env.SCOREGATE_EVENTS}/chat.jsonl`;
const say = (event) => fs.appendFileSync(log, JSON.stringify({ suite: "chat", ...event }) + "\\n");
say({ type: "suite_started" });
for (const input of ["a", "b"]) {
  say({ type: "case_started", case: input, input });
  say({ type: "case_output", case: input, output: answer(input) });
  say({ type: "scored", case: input, evaluator: "same", score: Number(answer(input) === input) });
  say({ type: "case_finished", case: input });
}
say({ type: "suite_finished" });
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_a_node_command_needs_no_inputs(project: Project) -> None:
    settings = 'affected = true\n[[commands]]\nname = "chat"\nrun = "node evals/chat.mjs"\n'
    project.write(".gitignore", "scoregate-out/\n.scoregate-cache/\n")
    project.write("scoregate.toml", settings)
    project.write("evals/chat.mjs", NODE_SUITE)
    project.write("evals/lib.mjs", "export const answer = (input) => input;")
    for name in ("prompts/chat.md", "prompts/other.md", "package.json"):
        project.write(name, "{}")
    project.commit()
    assert project.scoregate("run").exit_code == 0
    project.write("prompts/other.md", "other")
    second = project.scoregate("run")
    assert (second.exit_code, carried_suites(second)) == (0, ["chat"]), second.output
    for name, text, why in (
        ("prompts/chat.md", "other", "prompts/chat.md changed"),
        ("evals/lib.mjs", "export const answer = () => '';", "evals/lib.mjs changed"),
        ("package.json", "{ }", "package.json changed, which all suites depend on"),
    ):
        before = (project.root / name).read_text(encoding="utf-8")
        project.write(name, text)
        output = " ".join(project.scoregate("list", "--affected").output.split())
        assert f"runs: {why}" in output, output
        project.write(name, before)
    project.write("scoregate.toml", settings + 'inputs = ["prompts/none.md"]\n')
    assert project.scoregate("run").exit_code == 0
    project.write("prompts/chat.md", "other")
    assert carried_suites(project.scoregate("run")) == ["chat"]  # `inputs` replaces the record
