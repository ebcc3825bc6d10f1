"""Suites that are data, run by the real command line: found, measured, gated as their files say."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator

import pytest
from tests.fakes.chat_service import ChatService
from tests.fakes.fixtures import chat_service
from tests.integration.host.conftest import Project

__all__ = ["chat_service"]
TABLE = """prompt_content,category,topic,behavior,expected_response
When do you open?,Support,Hours,Answers,nine
"Is it
far?",Support,Way,Answers,mile
Do you ship to Norway?,Support,Shipping,Answers,Norway
"""
CHECKS = """
from scoregate.metrics import metric


@metric("mentions", "binary")
def mentions(input, output, expected_output):
    return {"score": expected_output in output, "reason": f"looked for {expected_output}"}
"""
SUITE = """# What the desk answers.
[testset]
name = "desk"

[endpoint]
url = "{url}/chat"
retries = 0

[[metrics]]
name = "mentions"
use = "checks:mentions"

[gates]
min_pass_rate = 0.5
"""


@pytest.fixture
def desk(project: Project, chat_service: ChatService) -> Iterator[Project]:
    """A repository with a suite that is data, whose tests the service passes."""
    project.write("checks.py", CHECKS)
    project.write("evals/desk.csv", TABLE)
    project.write("evals/desk.toml", SUITE.format(url=chat_service.url))
    project.write(".gitignore", "scoregate-out\n__pycache__\n")
    project.commit()
    chat_service.answers("open", "At nine.")
    chat_service.answers("far", "A mile.")
    return project


def test_it_is_found_and_its_cases_have_lines(desk: Project) -> None:
    outcome = desk.scoregate("list")
    assert "evals/desk.toml:2 [testset] desk (in evals/, has a table [testset])" in " ".join(outcome.output.split())
    run_outcome = desk.scoregate("run")
    assert run_outcome.exit_code == 0, run_outcome.output
    (suite,) = run_outcome.run["suites"]
    assert (suite["id"], suite["origin"]) == ("desk", {"file": "evals/desk.toml", "line": 2})
    cases = ET.parse(run_outcome.out / "junit.xml").getroot().iter("testcase")
    places = {(case.get("name"), case.get("file"), case.get("line")) for case in cases if case.get("file")}
    assert places == {
        ("When do you open?", "evals/desk.csv", "2"),
        ("Is it far?", "evals/desk.csv", "3"),
        ("Do you ship to Norway?", "evals/desk.csv", "5"),
    }


def test_its_own_gates_apply_in_every_command(desk: Project, chat_service: ChatService) -> None:
    chat_service.answers("open|far", "No idea.")
    outcome = desk.scoregate("run")
    assert outcome.exit_code == 1, outcome.output
    assert "required: ≥ 50.0% (set in evals/desk.toml:14)" in " ".join(outcome.output.split())
    desk.write("evals/desk.toml", SUITE.format(url=chat_service.url).replace("0.5", "0.3"))
    assert desk.scoregate("gate", "scoregate-out/run").exit_code == 0
    desk.write("scoregate.toml", "[suites.desk]\nmin_pass_rate = 0.9\n")
    second = desk.scoregate("gate", "scoregate-out/run")
    assert "required: ≥ 90.0% (set in scoregate.toml [suites.desk])" in " ".join(second.output.split())


def test_lowered_limits_are_reported(desk: Project, chat_service: ChatService) -> None:
    desk.write("evals/desk.toml", SUITE.format(url=chat_service.url).replace("0.5", "0.3"))
    desk.commit()
    outcome = desk.scoregate("run", "--baseline", "rerun:HEAD~1")
    assert outcome.exit_code == 0, outcome.output
    assert outcome.result["policy_changes"] == ["min_pass_rate for suites 'desk': 0.5 → 0.3"]
    assert outcome.result["base"] is not None


def test_all_mistakes_are_listed_with_lines(project: Project) -> None:
    project.write("evals/desk.toml", '[testset]\nnam = "x"\nretries = 99\n\n[gates]\nmin_pass_rat = 1\n')
    outcome = project.scoregate("run")
    assert outcome.exit_code == 3
    text = " ".join(outcome.output.split())
    assert "evals/desk.toml:2: testset.nam: there is no such field; did you mean 'name'?" in text
    assert "evals/desk.toml:3: testset.retries: must be less than or equal to 10, not 99" in text
    assert "evals/desk.toml:6: gates.min_pass_rat: there is no setting 'min_pass_rat'; did you mean" in text


def test_missing_references_are_reported(project: Project) -> None:
    project.write("nothing.testset.toml", '[testset]\nendpoint = "shop"\n')
    text = " ".join(project.scoregate("run").output.split())
    assert "nothing.testset.toml:1: there is no file of tests nothing{.csv" in text
    assert "nothing.testset.toml:2: there is no endpoint 'shop'" in text


def test_an_invalid_row_is_reported_with_its_line(desk: Project) -> None:
    desk.write("evals/desk.csv", TABLE + ",Support,Hours,Answers,\n")
    outcome = desk.scoregate("run")
    assert outcome.exit_code == 3
    assert "evals/desk.csv:6: column prompt_content: is empty" in " ".join(outcome.output.split())


def test_a_missing_endpoint_variable(desk: Project, chat_service: ChatService) -> None:
    text = SUITE.format(url=chat_service.url).replace("retries = 0", 'retries = 0\nauth_token = "${DESK_TOKEN}"')
    desk.write("evals/desk.toml", text)
    outcome = desk.scoregate("run")
    assert outcome.exit_code == 3
    assert "DESK_TOKEN is not set, which its endpoint needs" in " ".join(outcome.output.split())
    assert desk.scoregate("run", DESK_TOKEN="t").exit_code == 0
    assert chat_service.requests[-1].headers["authorization"] == "Bearer t"


def test_its_table_sets_execution_options(desk: Project, chat_service: ChatService) -> None:
    text = SUITE.format(url=chat_service.url) + 'repeats = 2\nneeds = ["A_KEY"]\n'
    desk.write("evals/desk.toml", text)
    outcome = desk.scoregate("run")
    assert (outcome.exit_code, "A_KEY is not set, which the settings list as needed" in outcome.output) == (3, True), (
        outcome.output
    )
    assert desk.scoregate("run", A_KEY="k").statuses == {"passed": 6}


def test_other_toml_files_are_ignored(desk: Project) -> None:
    desk.write("evals/shop.toml", 'url = "http://localhost"\n')
    desk.write("evals/broken.toml", "[")
    assert desk.scoregate("run").exit_code == 0
    named = desk.scoregate("run", "evals/shop.toml")
    assert (named.exit_code, "has no table [testset]" in named.output) == (2, True)


def test_a_table_is_run_by_hand(desk: Project, chat_service: ChatService) -> None:
    metric = 'name = "mentions"\nuse = "checks:mentions"\n'
    desk.write(".scoregate/metrics/mentions.toml", metric)
    address = f"{chat_service.url}/chat"
    outcome = desk.scoregate("testset", "run", "evals/desk.csv", "--endpoint", address, "--metric", "mentions")
    assert outcome.exit_code == 0, outcome.output
    assert outcome.run["suites"][0]["id"] == "desk"
    assert outcome.statuses == {"passed": 3}


def test_a_set_of_the_store_is_run_by_hand_and_its_base_rerun(desk: Project, chat_service: ChatService) -> None:
    line = '{"category": "S", "behavior": "Answers", "prompt": {"content": "open?", "expected_response": "nine"}}\n'
    desk.write(".scoregate/test_sets/hours/test_set.toml", 'name = "Opening Hours"\nmetrics = ["mentions"]\n')
    desk.write(".scoregate/test_sets/hours/tests.jsonl", line)
    desk.write(".scoregate/metrics/mentions.toml", 'name = "mentions"\nuse = "checks:mentions"\n')
    desk.write(".scoregate/endpoints/desk.toml", f'name = "Desk"\nurl = "{chat_service.url}/chat"\n')
    desk.commit()
    arguments = ("testset", "run", "opening hours", "--endpoint", "desk", "--baseline", "rerun:HEAD")
    outcome = desk.scoregate(*arguments)
    assert outcome.exit_code == 0, outcome.output
    assert (outcome.run["suites"][0]["id"], outcome.statuses) == ("hours", {"passed": 1})
    assert outcome.result["base"] is not None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nothing", "--endpoint", "x"), "there is no test set 'nothing', and no file"),
        (("nothing",), "there is no test set 'nothing', and no file"),
        (("evals/desk.csv",), "has no endpoint"),
        (("evals/desk.csv", "--endpoint", "gone"), "there is no endpoint 'gone'"),
        (("evals/desk.toml", "--endpoint", "http://h/?token=sesame-open"), "is a secret in clear"),
    ],
)
def test_invalid_manual_runs_are_refused(desk: Project, words: tuple[str, ...], message: str) -> None:
    outcome = desk.scoregate("testset", "run", *words)
    assert outcome.exit_code == 2, outcome.output
    assert message in " ".join(outcome.output.split())
    assert "sesame" not in outcome.output
