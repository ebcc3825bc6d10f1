"""`client.test_suites`, `client.test_runs` and `Tracer`: programs of judgeval 1.6."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pytest
from tests.integration.host.conftest import Project

from scoregate import Client, Tracer
from scoregate.errors import JudgmentConflictError, JudgmentValidationError
from scoregate.judges import BinaryResponse, CategoricalResponse, Category, Judge, NumericResponse
from scoregate.offline_tests.checked_run import holds
from scoregate.store.judges import StoredCheck


class Polite(Judge[BinaryResponse]):
    def score(self, data: Any) -> BinaryResponse:
        if data["output"] == "broken":
            raise ValueError("cannot judge this")
        return BinaryResponse(value="please" in data["output"], reason=f"asked {data['prompt']!r}")


class IntentResponse(CategoricalResponse):
    categories = [Category(value="refund"), Category(value="other")]  # noqa: RUF012


class Intent(Judge[IntentResponse]):
    async def score(self, data: Any) -> IntentResponse:
        return IntentResponse(value="refund" if "refund" in data["output"] else "other")


class Length(Judge[NumericResponse]):
    def score(self, data: Any) -> NumericResponse:
        return NumericResponse(value=len(data["output"]) / 100)


def check(expected: Any, op: str = "eq") -> dict[str, Any]:
    return {"judge_major_version": 0, "judge_minor_version": 0, "op": op, "expected": expected}


@Tracer.observe(span_type="agent")
def agent(input: dict[str, str]) -> str:  # noqa: A002
    if input["prompt"] == "crash":
        raise ValueError("no answer")
    return f"please {input['prompt']}"


def publish(client: Client, *cases: dict[str, Any], name: str = "support") -> Sequence[str]:
    for judge in (Polite, Intent, Length):
        client.judges.register(judge)
    suite = client.test_suites.create(name=name)
    ids: Sequence[str] = client.test_suites.add_cases(suite["test_suite_id"], cases)["case_ids"]
    assert client.test_suites.publish(suite["test_suite_id"]) == {"version": 1}
    return ids


def run_all(client: Client, **arguments: Any) -> dict[str, Any]:
    run = client.test_runs.start("support", **arguments)
    for case in run["cases"]:
        with suppress(ValueError), Tracer.test_case(run["run_id"], case["case_id"]):
            agent(case["input"])
    return run


def test_the_documented_program_runs(client: Client) -> None:
    polite, intent = client.judges.register(Polite), client.judges.register(Intent)
    ids = publish(
        client,
        {
            "input": {"prompt": "a refund"},
            "expected": {polite.id: check(True), "Intent": check("refund")},
            "tags": ["a"],
        },
        {"input": {"prompt": "hello"}, "expected": {intent.id: check(["refund"], "in")}},
        {"input": {"prompt": "crash"}, "expected": {polite.id: check("Yes")}},
    )
    run = run_all(client, candidate="sha", trigger="ci")
    rows = client.test_runs.results(run["run_id"])["results"]
    assert [(row["case_id"], row["passed"]) for row in rows] == list(zip(ids, (True, False, False), strict=True))
    first, second, third = (row["checks"] for row in rows)
    assert [(each["judge_id"], each["judge_output"], each["passed"]) for each in first] == [
        (polite.id, "Yes", True),
        (intent.id, "refund", True),
    ]
    assert first[0]["reason"] == "asked 'a refund'"
    assert [(each["op"], each["expected"], each["judge_output"]) for each in second] == [("in", ["refund"], "other")]
    assert third == []
    assert all(len(row["trace_id"]) == 32 and row["scored_at"] for row in rows)
    summary = client.test_runs.get(run["run_id"])
    expected = {"cases_total": 3, "cases_with_output": 3, "cases_scored": 3, "cases_passed": 1, "cases_failed": 2}
    assert summary.items() >= {"candidate": "sha", "trigger": "ci", "test_suite_version": 1, **expected}.items()
    assert client.test_runs.list("support") == {"runs": [summary], "next_offset": None}
    again = client.test_runs.start("support", {"kind": "last_failures", "run_id": run["run_id"]})
    assert [case["case_id"] for case in again["cases"]] == list(ids[1:])
    for kind in ({"kind": "tags", "tags": ["a", "b"]}, {"kind": "case_ids", "case_ids": [ids[0]]}):
        assert [case["case_id"] for case in client.test_runs.start("support", kind)["cases"]] == [ids[0]]


def test_a_judge_without_a_result_fails_its_case(client: Client) -> None:
    publish(client, {"input": "x", "expected": {"Polite": check(False), "Length": check(0.5, "lt")}})
    run = client.test_runs.start("support")
    with Tracer.test_case(run["run_id"], run["cases"][0]["case_id"]) as case:
        case.output = "broken"
    (row,) = client.test_runs.results(run["run_id"])["results"]
    assert row["passed"] is False
    outcomes = {
        check["op"]: (check["judge_output"], check["passed"], check["error_message"]) for check in row["checks"]
    }
    assert outcomes["lt"] == (0.06, True, None)
    assert outcomes["eq"][:2] == (None, False)
    assert "cannot judge this" in outcomes["eq"][2]


def test_an_unknown_output_is_an_error(client: Client) -> None:
    publish(client, {"input": "x", "expected": {"Polite": check("No")}})
    run = client.test_runs.start("support")
    with Tracer.test_case(run["run_id"], run["cases"][0]["case_id"]):
        pass
    assert client.test_runs.results(run["run_id"])["results"][0]["passed"] is False
    with (
        pytest.raises(JudgmentValidationError, match="ran already"),
        Tracer.test_case(run["run_id"], run["cases"][0]["case_id"]),
    ):
        pass


@pytest.mark.parametrize(
    ("op", "expected", "value", "outcome"),
    [
        ("eq", True, "Yes", True), ("eq", False, "Yes", False), ("ne", "refund", "other", True),
        ("lt", 1, 0.5, True), ("lte", 0.5, 0.5, True), ("gt", 0.5, 0.5, False), ("gte", 0.5, 0.5, True),
        ("in", [True, "x"], "Yes", True), ("not_in", ["a"], "a", False),
    ],
)  # fmt: skip
def test_checks_compare(op: str, expected: Any, value: Any, outcome: bool) -> None:
    stored = StoredCheck(judge_major_version=0, judge_minor_version=0, op=op, expected=expected)  # type: ignore[arg-type]
    assert holds(stored, value) is outcome


def test_versions_are_published_from_drafts(client: Client) -> None:
    (first,) = publish(client, {"input": "a", "expected": {"Polite": check(True)}, "name": "one"})
    suites = client.test_suites
    with pytest.raises(JudgmentValidationError, match="has no draft"):
        suites.update_case("support", first, {"input": "b"})
    assert suites.create_draft("support") == {"version": 2}
    suites.update_case("support", first, {"input": "b"})
    (second,) = suites.add_cases("support", [{"input": "c"}])["case_ids"]
    assert [(each["input"], each["version_added"]) for each in suites.list_cases("support", "draft")["cases"]] == [
        ("b", 1),
        ("c", 2),
    ]
    assert [each["input"] for each in suites.list_cases("support")["cases"]] == ["a"]
    suites.remove_case("support", first)
    assert suites.publish("support") == {"version": 2}
    assert suites.list_cases("support", limit=1) == {
        "version": 2, "cases": suites.list_cases("support", 2)["cases"], "next_offset": None,
    }  # fmt: skip
    assert [each["case_id"] for each in suites.list_cases("support")["cases"]] == [second]
    assert [each["case_id"] for each in suites.list_cases("support", 1)["cases"]] == [first]
    suites.create_draft("support")
    assert suites.discard("support") == {"version": 2}
    suites.create("other", labels=["x"])
    newest, oldest = suites.list()["test_suites"]
    assert (newest["test_suite_id"], newest["labels"], oldest["version"]) == ("other", ["x"], 2)
    assert suites.list(limit=1)["next_offset"] == 1
    suites.delete("other")
    assert suites.list()["next_offset"] is None


def test_mistakes_are_refused_and_change_nothing(client: Client) -> None:
    publish(client, {"input": "a", "expected": {"Polite": check(True)}})
    suites, runs = client.test_suites, client.test_runs
    for expected, message in [
        ({"nobody": check(1)}, "Judges not found: nobody"),
        ({"Polite": {**check(1), "judge_minor_version": 7}}, r"has no version 0\.7"),
        ({"Polite": check(1, "like")}, "op"),
        ({"Polite": check("1", "lt")}, "lt compares with a number"),
        ({"Polite": check("Yes", "in")}, "in compares with a list"),
    ]:
        with pytest.raises(JudgmentValidationError, match=message):
            suites.add_cases("support", [{"input": "b"}, {"input": "c", "expected": expected}])
    assert suites.list_cases("support", 1)["cases"][0]["input"] == "a"
    for act, message in [
        (lambda: suites.list_cases("support", 2), "has no version 2"),
        (lambda: suites.list_cases("support", "draft"), "has no version 'draft'"),
        (lambda: runs.start("nothing"), "there is no test suite 'nothing'"),
        (lambda: runs.start("support", {"kind": "tags", "tags": ["x"]}), "no case of the test suite"),
        (lambda: runs.get("unknown"), "no test run 'unknown' in this process"),
        (lambda: Tracer.test_case(runs.start("support")["run_id"], "x"), "has no case 'x'"),
    ]:
        with pytest.raises(JudgmentValidationError, match=message):
            act()
    with pytest.raises(JudgmentConflictError):
        suites.create("support")
    for arguments in ({"case_filter": {"kind": "some"}}, {"trigger": "now"}):
        with pytest.raises(ValueError, match="not"):
            runs.start("support", **arguments)


SCRIPT = """
import sys

from scoregate import Judgeval, Tracer
from scoregate.judges import BinaryResponse, Judge


class Polite(Judge[BinaryResponse]):
    def score(self, data):
        return BinaryResponse(value="please" in data["output"])


client = Judgeval(project_name="p")
judge = client.judges.register(Polite)
if not client.test_suites.list()["test_suites"]:
    client.test_suites.create("support")
    checks = {judge.id: {"judge_major_version": 0, "judge_minor_version": 0, "op": "eq", "expected": "Yes"}}
    client.test_suites.add_cases("support", [{"input": f"question {n}", "expected": checks} for n in range(3)])
    client.test_suites.publish("support")


@Tracer.observe()
def agent(input):
    return f"please {input}"


run = client.test_runs.start("support")
for case in run["cases"][:MOST]:
    with Tracer.test_case(run["run_id"], case["case_id"]):
        agent(case["input"])
"""


def test_a_run_is_recorded_and_repeated_by_the_command_line(project: Project) -> None:
    project.write("suite.py", SCRIPT.replace("MOST", "None"))
    ran = project.scoregate("run", "suite.py", "--repeats", "2", "--baseline", "none")
    assert ran.exit_code == 0, ran.output
    (suite,) = ran.run["suites"]
    assert (suite["id"], set(suite["evaluators"])) == ("support", {"Polite", "pass_condition"})
    assert ran.statuses == {"passed": 6}, "each case ran twice"


def test_a_run_that_leaves_cases_out_cannot_be_measured(project: Project) -> None:
    project.write("suite.py", SCRIPT.replace("MOST", "2"))
    ran = project.scoregate("run", "suite.py", "--baseline", "none")
    assert ran.exit_code == 3
    assert "not called for 1 of 3 cases" in " ".join(ran.output.split())
    done = subprocess.run([sys.executable, "suite.py"], cwd=project.root, capture_output=True, text=True, check=False)
    assert (done.returncode, "not called for 1 of 3 cases" in done.stdout + done.stderr) == (3, True)
