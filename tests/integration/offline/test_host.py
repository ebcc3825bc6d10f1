"""A script with an offline test under the real command line: found, recorded, compared with a base, reported."""

from __future__ import annotations

import html
import os
import xml.etree.ElementTree as ET

import pytest
from tests.fakes.openai import OpenAIServer
from tests.integration.host.conftest import Project, Ran
from tests.warm_scripts import run_script

SETUP = """
from scoregate import Client

client = Client(project_name="support-bot")
client.datasets.create("golden-set", examples=[{"input": f"question {n}"} for n in range(1, 13)])
client.judges.create("helpfulness", "Is it helpful? {{input}}")
client.judges.create("faithfulness", "Is it faithful? {{input}}")
client.offline_tests.create_config("nightly-regression", "golden-set", ["helpfulness", "faithfulness"])
"""
SCRIPT = """
from scoregate import Judgeval

client = Judgeval(project_name="support-bot")


def my_agent(input: str) -> str:
    return f"An answer to {input}"


result = client.offline_tests.run(
    test_config="nightly-regression",
    agent_function=my_agent,
    pass_condition_fn=lambda fields, scorers: all(
        s.value != "No" for s in scorers
    ),
    assert_test=True,
)
print(result.ui_results_url)
"""


@pytest.fixture
def nightly(project: Project, server: OpenAIServer) -> Project:  # noqa: ARG001
    """A repository with a dataset, two judges and a script that runs them, all committed."""
    setup = project.write("setup.py", SETUP)
    outcome = run_script(setup, os.environ)
    assert outcome.returncode == 0, outcome.stderr
    setup.unlink()
    project.write("evals/eval_nightly.py", SCRIPT)
    project.write(".gitignore", "scoregate-out/\nbase/\n.scoregate-cache/\n")
    project.commit()
    return project


def run(project: Project, server: OpenAIServer, *arguments: str) -> Ran:
    return project.scoregate("run", *arguments, **server.environment, SCOREGATE_CACHE="off")


def test_it_is_recorded_and_shown(nightly: Project, server: OpenAIServer) -> None:
    outcome = run(nightly, server, "--baseline", "none")
    assert outcome.exit_code == 0, outcome.output
    (suite,) = outcome.run["suites"]
    assert suite["id"] == "nightly-regression"
    assert set(suite["evaluators"]) == {"helpfulness", "faithfulness", "pass_condition"}
    assert outcome.statuses == {"passed": 12}
    assert f"file://{nightly.root}/scoregate-out/comment.md" in outcome.output


def test_a_failed_row_is_in_reports_and_fails_the_job(nightly: Project, server: OpenAIServer) -> None:
    assert run(nightly, server, "--baseline", "none").exit_code == 0
    (nightly.root / "scoregate-out" / "run").rename(nightly.root / "base")
    server.answers("(?s)helpful.*question 7", {"answer": "No", "reason": "it says nothing"})
    outcome = run(nightly, server, "--baseline", "base")
    assert outcome.exit_code == 1, outcome.output
    assert outcome.statuses == {"passed": 11, "failed": 1}
    junit = (outcome.out / "junit.xml").read_text(encoding="utf-8")
    (failed,) = [case for case in ET.fromstring(junit).iter("testcase") if "question 7" in case.get("name", "")]
    assert failed.find("failure") is not None
    assert "question 7" in outcome.comment
    rules = {finding["rule"] for finding in outcome.result["findings"] if finding["conclusion"] == "failed"}
    assert "assert_test" in rules


def test_unavailable_judges_do_not_fail_the_gate(nightly: Project) -> None:
    outcome = nightly.scoregate("run", "--baseline", "none", OPENAI_API_KEY="", SCOREGATE_CACHE="off")
    assert outcome.statuses == {"errored": 12}
    assert outcome.exit_code == 3, outcome.output
    findings = {finding["rule"]: (finding["conclusion"], finding["value"]) for finding in outcome.result["findings"]}
    assert findings["assert_test"] == ("unmeasurable", "12 cases, none of them judged: all met errors")


def test_a_failed_row_with_judge_errors_fails_the_gate(nightly: Project, server: OpenAIServer) -> None:
    server.answers("(?s)helpful.*question 7", {"answer": "No", "reason": "it says nothing"})
    server.filters_content("(?s)faithful.*question 9")
    outcome = run(nightly, server, "--baseline", "none")
    assert outcome.exit_code == 1, outcome.output
    findings = {finding["rule"]: finding["conclusion"] for finding in outcome.result["findings"]}
    assert (findings["assert_test"], findings["error rate"]) == ("failed", "unmeasurable")
    assert "1 case failed, 1 met errors" in outcome.output


def test_another_judge_version_is_not_comparable(nightly: Project, server: OpenAIServer) -> None:
    judge = nightly.root / ".scoregate" / "judges" / "helpfulness.toml"
    judge.write_text(judge.read_text().replace('version = "0.0"', 'version = "1.2"'))
    assert run(nightly, server, "--baseline", "none").exit_code == 0
    nightly.commit("the base")
    (nightly.root / "scoregate-out" / "run").rename(nightly.root / "base")
    judge.write_text(judge.read_text().replace("Is it helpful?", "Is it helpful and short?"))
    outcome = run(nightly, server, "--baseline", "base")
    assert outcome.exit_code == 0, outcome.output
    assert "judge helpfulness 1.2 -> 1.3" in html.unescape(outcome.comment)
    labels = {row["evaluator"]: row["label"] for row in outcome.result["rows"]}
    assert (labels["helpfulness"], labels["faithfulness"]) == ("not comparable", "unchanged")
    assert 'version = "1.3"' in judge.read_text(), "the edit became a version"


def test_the_base_of_an_edited_dataset_uses_its_own_version(nightly: Project, server: OpenAIServer) -> None:
    rows = nightly.root / ".scoregate" / "datasets" / "golden-set" / "rows.jsonl"
    rows.write_text(rows.read_text().replace("question 12", "question 13"))
    changed = [
        line for line in nightly.git("diff", "--unified=0").splitlines() if line[0] in "+-" and "question" in line
    ]
    assert [line[0] + line[-14:] for line in changed] == ['-"question 12"}', '+"question 13"}']
    outcome = run(nightly, server, "--baseline", "rerun:HEAD")
    assert outcome.exit_code == 0, outcome.output
    assert outcome.result["base"] is not None
    assert {row["label"] for row in outcome.result["rows"]} == {"unchanged"}
    questions = [str(body["messages"]) for body in server.asked()]
    assert [any(f"question {number}" in text for text in questions) for number in (12, 13)] == [True, True]


def test_an_unknown_config_is_never_green(nightly: Project, server: OpenAIServer) -> None:
    nightly.write("evals/eval_nightly.py", "from scoregate import Client\nClient().offline_tests.run('nightly')\n")
    outcome = run(nightly, server, "--baseline", "none")
    assert outcome.exit_code == 3, outcome.output
    assert "there is no test config 'nightly'" in outcome.output


def test_a_loosened_pass_condition_is_not_comparable(nightly: Project, server: OpenAIServer) -> None:
    assert run(nightly, server, "--baseline", "none").exit_code == 0
    (nightly.root / "scoregate-out" / "run").rename(nightly.root / "base")
    nightly.write("evals/eval_nightly.py", SCRIPT.replace('s.value != "No" for s', "True for s"))
    outcome = run(nightly, server, "--baseline", "base")
    rows = {row["evaluator"]: (row["label"], row["reason"]) for row in outcome.result["rows"]}
    assert rows["pass_condition"] == ("not comparable", "its code changed")
    assert rows["helpfulness"][0] == "unchanged"


TWO_AGENTS = """
from scoregate import Judgeval
client = Judgeval(project_name="support-bot")
answers = {}

def first(input): answers[input] = "good"
def second(input): answers[input] = "ANSWER"
def is_good(fields, scorers): return answers[fields["input"]] == "good"

for agent in (AGENTS):
    client.offline_tests.run("nightly-regression", agent, pass_condition_fn=is_good)
"""


def test_two_agents_of_one_config_are_told_apart(nightly: Project, server: OpenAIServer) -> None:
    """A second run of one agent can't be told from the first, so the run can't be measured."""
    nightly.write("scoregate.toml", "min_pass_rate = 0\nfail_on_regression = true\n")

    def write(agents: str, answer: str = "bad") -> None:
        nightly.write("evals/eval_nightly.py", TWO_AGENTS.replace("AGENTS", agents).replace("ANSWER", answer))

    write("first, second")
    base = run(nightly, server, "--baseline", "none")
    assert base.exit_code == 0, base.output
    base.out.rename(nightly.root / "base")
    write("second, first")
    assert run(nightly, server, "--baseline", "base").exit_code == 0
    write("first, second, second")
    twice = run(nightly, server, "--baseline", "base")
    assert twice.exit_code == 3
    assert "a suite with this name ran before" in " ".join(twice.output.split())
