"""Spans that suites in other languages send to the host, before and after the end of their cases."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.integration.host.conftest import Project, Ran
from tests.unit.kernel.test_otlp import make_request

from scoregate.kernel.judge.archive import read_run
from scoregate.kernel.types.trajectories.trajectory import Trajectory

ON = {"SCOREGATE_OTLP_RECEIVER": "true"}
# Reports the cases a, b and c, the last with a call of its own, and sends requests before and after their ends.
SUITE = """
import json, os, sys, urllib.error, urllib.request
log = open(os.environ["SCOREGATE_EVENTS"] + "/s.jsonl", "a")

def say(type, **event):
    log.write(json.dumps({"suite": "demo", "type": type, **event}) + "\\n")
    log.flush()

def send(body, kind="application/json", path="/v1/traces"):
    address = os.environ.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") or os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] + path
    request = urllib.request.Request(address, body.encode(), {"Content-Type": kind})
    try:
        with urllib.request.urlopen(request) as response:
            print(response.status)
    except urllib.error.HTTPError as error:
        print(error.code)

early, late = json.load(open("requests.json"))
say("suite_started", cases=3)
for body in early:
    send(**body)
for case in "abc":
    say("case_started", case=case, input=case)
    if case == "c":
        say("tool_called", case=case, name="own")
    say("case_output", case=case, output="x")
    say("scored", case=case, evaluator="e", score=1)
    say("case_finished", case=case)
say("suite_finished")
for body in late:
    send(**body)
"""


def spans(tool: str, case: str = "", trace: str = "a" * 32, **attributes: Any) -> dict[str, str]:
    named = {"scoregate.case": case} if case else {}
    return {"body": json.dumps(make_request(tool, trace=trace, **named, **attributes))}


def run(project: Project, early: list[Any], late: list[Any] = [], **environment: str) -> Ran:  # noqa: B006
    project.write("suite.py", SUITE)
    project.write("requests.json", json.dumps([early, late]))
    return project.scoregate("exec", "--", sys.executable, "suite.py", **{**ON, **environment})


def list_calls(ran: Ran) -> dict[str, list[str]]:
    result = {case.hash: Trajectory.read(case.trace) for case in read_run(ran.out / "run").cases}
    return {case: [call.name for call in path.tool_calls] if path else [] for case, path in result.items()}


def test_spans_before_and_after_the_end_of_a_case_are_its_trajectory(project: Project) -> None:
    late = [spans("two", "b", "b" * 32, **{"scoregate.suite": "demo"}), spans("three", "c", "c" * 32)]
    outcome = run(project, [spans("one", "a", secret="sk-123456789012345678901234")], late)
    assert outcome.exit_code == 0, outcome.output
    assert list_calls(outcome) == {"a": ["one"], "b": ["two"], "c": ["own"]}
    assert [each for each in outcome.result["notices"] if "span" in each] == []


def test_secrets_in_spans_are_removed(project: Project) -> None:
    request = make_request("one", **{"scoregate.case": "a", "gen_ai.tool.call.result": "my key-of-the-user"})
    outcome = run(project, [{"body": json.dumps(request)}], MY_API_KEY="key-of-the-user")
    (trace,) = [case.trace for case in read_run(outcome.out / "run").cases if case.hash == "a"]
    assert "my " in trace["steps"][0]["result"]
    assert "key-of-the-user" not in json.dumps(trace)


def test_lost_spans_are_counted(project: Project) -> None:
    early = [
        spans("one", "a"),
        spans("nowhere", trace="d" * 32),
        spans("unknown", "z", "e" * 32),
        {"body": "{"},
        {"body": "x", "kind": "text/plain"},
    ]
    outcome = run(project, early, [])
    assert outcome.exit_code == 0, outcome.output
    assert list_calls(outcome) == {"a": ["one"], "b": [], "c": ["own"]}
    notices = " ".join(outcome.result["notices"])
    assert "1 case that spans name is unknown" in notices
    assert "1 span that names no case (attribute scoregate.case)" in notices
    assert notices.count("1 request refused") == 2
    (trace,) = [case.trace for case in read_run(outcome.out / "run").cases if case.hash == "a"]
    assert "spans are missing" in trace["incomplete"]


def test_an_endpoint_of_the_user_keeps_metrics_and_nothing_is_received_without_the_setting(project: Project) -> None:
    own = "http://127.0.0.1:9"
    project.write("show.py", "import json, os\nprint(json.dumps({k: v for k, v in os.environ.items() if 'OTLP' in k}))")
    command = ("exec", "--", sys.executable, "show.py")
    for setting, names in (
        ("false", {"OTEL_EXPORTER_OTLP_ENDPOINT"}),
        ("true", {"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"}),
    ):
        outcome = project.scoregate(*command, SCOREGATE_OTLP_RECEIVER=setting, OTEL_EXPORTER_OTLP_ENDPOINT=own)
        (line,) = [each[each.index("{") :] for each in outcome.output.splitlines() if "OTEL_EXPORTER" in each]
        content = json.loads(line)
        assert content["OTEL_EXPORTER_OTLP_ENDPOINT"] == own
        assert {each for each in content if each.endswith("ENDPOINT")} == names


def test_the_sdk_for_nodejs(project: Project) -> None:
    from tests.integration.traces.environment import find_node_modules

    modules = find_node_modules()
    suite = Path(__file__).with_name("clients") / "suite.mjs"
    outcome = project.scoregate("exec", "--", "node", str(suite), MODULES=str(modules), **ON)
    assert outcome.exit_code == 0, outcome.output
    assert list_calls(outcome) == {"first": ["search"], "second": ["search"]}


AGENT = """
import sys
from scoregate import evaluate
from scoregate.agents import command_agent
from scoregate.scorers import tool_calls

agent = command_agent([sys.executable, "agent.py", "{prompt}"])
evaluate("agents", data=[{"input": each} for each in ("one", "two")], task=agent, scorers=[tool_calls(["search"])])
"""
SENDER = """
import os, pathlib, urllib.request
body = pathlib.Path(ROOT, "span.json").read_bytes()
address = os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] + "/v1/traces"
urllib.request.urlopen(urllib.request.Request(address, body, {"Content-Type": "application/json"}))
"""


def test_agents_of_python_suites_send_their_spans_to_their_trial(project: Project) -> None:
    project.write("agent.py", SENDER.replace("ROOT", repr(str(project.root))))
    project.write("span.json", json.dumps(make_request("search")))
    project.write("evals/eval_agents.py", AGENT.replace("agent.py", str(project.root / "agent.py")))
    outcome = project.scoregate("run", "evals/eval_agents.py", **ON)
    assert outcome.exit_code == 0, outcome.output
    assert sorted(list_calls(outcome).values()) == [["search"], ["search"]]
    assert [each for each in outcome.result["notices"] if "span" in each] == []
