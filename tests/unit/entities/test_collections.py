"""Entities of the store are found by id, by name and by filters."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.entities.builders import make_question, make_test_set

from scoregate.entities import (
    Behavior,
    Behaviors,
    Categories,
    Category,
    Endpoint,
    Endpoints,
    Metrics,
    Requirement,
    Requirements,
    TestResult,
    TestResults,
    TestRun,
    TestRuns,
    Tests,
    TestSets,
    Topics,
)
from scoregate.enums import ConnectionType, RunStatus
from scoregate.errors import EntityError, MetricError, StoreError
from scoregate.metrics import CategoricalJudge, NumericJudge, read_metric


def test_names_ignore_case_and_must_be_unique() -> None:
    assert (TestSets.first(), TestSets.all(), TestSets.exists("x")) == (None, [], False)
    with pytest.raises(ValueError, match=r"^Either id or name must be provided$"):
        TestSets.pull()
    with pytest.raises(ValueError, match=r"^No entity found with name 'Safety'$"):
        TestSets.pull(name="Safety")
    make_test_set("Safety").push()
    assert TestSets.pull(name="sAFETY").test_count == 2
    make_test_set("SAFETY").push()
    with pytest.raises(ValueError, match=r"More than one entity found with name 'safety'\. .* IDs: safety, safety-2$"):
        TestSets.pull(name="safety")
    assert TestSets.pull(id="safety-2", name="ignored").name == "SAFETY"
    assert TestSets.exists("safety-2")


FILTERS = {
    "name eq 'Refunds'": "r",
    "name ne 'Refunds'": "hs",
    "test_count eq 2 and name ne 'Hours'": "s",
    "contains(name, 'f') or name eq 'Hours'": "rhs",
    "contains(tolower(name), 'h')": "h",
    "tolower(name) eq 'refunds'": "r",
    "not (name eq 'Refunds' or name eq 'Hours')": "s",
    "name eq 'Hours' or name eq 'Safe' and test_count eq 1": "h",
    "description eq null": "",
    "description eq 'it''s'": "s",
}


@pytest.mark.parametrize("text", FILTERS)
def test_a_filter_selects(text: str) -> None:
    make_test_set("Refunds", make_question(), id="r", description="").push()
    make_test_set("Hours", make_question(), id="h").push()
    make_test_set("Safe", make_question(), make_question("b"), id="s", description="it's").push()
    assert sorted(each.id or "" for each in TestSets.all(filter=text)) == sorted(FILTERS[text])


@pytest.mark.parametrize(
    "text",
    ["", "name", "name gt 'a'", "name eq", "name eq 'a", "startswith(name, 'a')", "(name eq 'a'", "name eq 'a' name",
     "nme eq 'a'", "contains(name)", "not " * 1000 + "name eq 'a'", "(" * 1000, "name eq ;"],
)  # fmt: skip
def test_an_invalid_filter_is_refused(text: str) -> None:
    make_test_set("x").push()
    with pytest.raises(EntityError, match=r"(?s)^unsupported filter .*There are eq, ne"):
        TestSets.all(filter=text)


def test_labels_of_tests_need_no_document() -> None:
    make_test_set("x", make_question(behavior="Refuses", category="a"), make_question(category="b", topic=None)).push()
    make_question(behavior="refuses", topic="T").push()
    Behavior(name="Answers", description="d", metrics=["accuracy"]).push()
    assert [each.name for each in Behaviors.all()] == ["Answers", "Refuses"]
    assert [each.name for each in Categories.all()] == ["Support", "a", "b"]
    assert [each.name for each in Topics.all()] == ["Hours", "T"]
    assert Behaviors.pull(name="answers").metrics == ["accuracy"]
    refuses = Behaviors.pull(name="refuses")
    assert (refuses.id, refuses.push()["id"]) == (None, "refuses")
    assert refuses.add_metric("safety") == Behaviors.pull(id="refuses").get_metrics() == ["safety"]
    assert Category(name="a", description="A").push()["description"] == "A"
    assert Categories.pull(name="A").description == "A"


def test_requirements_are_behaviors() -> None:
    Requirement(name="Answers", metrics=["polite"]).push()
    assert Requirements.pull(name="answers").metrics == Behaviors.pull(name="answers").metrics == ["polite"]


def test_tests_have_no_names() -> None:
    make_question(id="t").push()
    with pytest.raises(ValueError, match="No entity found"):
        Tests.pull(name="t")
    assert [each.id for each in Tests.all("topic eq 'Hours'")] == ["t"]


def test_a_run_is_stored_with_results_and_ignored_by_git(kept: Path) -> None:
    run = TestRun(name="Nightly", test_set_id="x", endpoint_id="bot")
    run.push()
    assert run.created_at is not None
    run.add_test_results([TestResult(test_id="1", status="Pass", test_output={"a": "é"})])
    run.add_test_results(TestResult(test_id=f"{n}", status="Error") for n in (2, 3))
    run.status, run.pass_rate, run.test_count = RunStatus.COMPLETED, 1.0, 3
    run.push()
    pulled = TestRuns.pull(name="nightly")
    assert pulled == run
    results = pulled.get_test_results()
    assert [(each.test_run_id, each.test_id, each.status) for each in results] == [
        ("nightly", "1", "Pass"),
        ("nightly", "2", "Error"),
        ("nightly", "3", "Error"),
    ]
    assert (results[0].test_output, TestResults.pull(id=results[1].id)) == ({"a": "é"}, results[1])
    assert (kept / "test_runs" / ".gitignore").read_text() == "*\n"
    results[1].status = "Fail"
    results[1].push()
    assert sorted(str(each.status) for each in TestResults.all("test_run_id eq 'nightly'")) == ["Error", "Fail", "Pass"]
    assert (results[0].delete(), results[0].delete(), len(run.get_test_results())) == (True, False, 2)
    assert run.delete()
    assert TestResults.all() == []


def test_results_need_a_run_and_a_status() -> None:
    with pytest.raises(EntityError, match=r"^Required fields for push: test_run_id, status$"):
        TestResult().push()
    with pytest.raises(EntityError, match="there is no test run 'none'"):
        TestResult(test_run_id="none", status="Pass").push()
    TestRun(name="r").push()
    with pytest.raises(EntityError, match="status: must be 'Pass', 'Fail' or 'Error'"):
        TestResult(test_run_id="r", status="Good").push()


def test_an_endpoint_is_stored_without_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOT_KEY", "s3cret")
    bot = Endpoint(name="Production Chatbot", connection_type=ConnectionType.REST, url="https://x.test/chat")
    bot.auth_token, bot.request_headers = "${BOT_KEY}", {"X-Team": "a"}
    bot.push()
    pulled = Endpoints.pull(name="production chatbot")
    assert (pulled.auth_token, pulled.url, pulled.connection_type) == ("${BOT_KEY}", bot.url, "REST")
    assert "BOT_KEY" not in f"{pulled}{pulled!r}"
    pulled.auth_token = "sk-1234567890"
    with pytest.raises(EntityError) as exc_info:
        pulled.push()
    assert "auth_token" in str(exc_info.value)
    assert "sk-12" not in f"{exc_info.value}{pulled}{pulled!r}"
    with pytest.raises(ValueError, match=r"^Required fields for push: name, connection_type$"):
        Endpoint().push()


def test_metrics_are_found_as_judges(kept: Path) -> None:
    assert (Metrics.first(), Metrics.all(), Metrics.exists("polite")) == (None, [], False)
    polite = NumericJudge("Is it polite?", name="Polite")
    tone = CategoricalJudge("Which tone?", name="Tone", categories=["a", "b"], passing_categories="a")
    tone.push()
    polite.push()
    assert (kept / "metrics" / "polite.toml").exists()
    assert Metrics.all() == [polite, tone]
    assert (
        Metrics.first() == Metrics.pull(id="polite") == Metrics.pull(name="POLITE") == read_metric("polite") == polite
    )
    assert Metrics.all(filter="kind eq 'categorical'") == [tone]
    assert Metrics.exists("tone")
    with pytest.raises(MetricError, match="No entity found with name 'rude'"):
        Metrics.pull(name="rude")


def test_an_invalid_metric_names_its_document(kept: Path) -> None:
    (kept / "metrics").mkdir(parents=True)
    (kept / "metrics" / "lost.toml").write_text('use = "no_such_module:Polite"\n', encoding="utf-8")
    with pytest.raises(MetricError, match=r"lost\.toml: .*no_such_module"):
        Metrics.all()


def test_a_filter_by_name_reads_no_tests(kept: Path) -> None:
    make_test_set("Refunds").push()
    (kept / "test_sets" / "refunds" / "tests.jsonl").write_text("no test\n", encoding="utf-8")
    assert [each.id for each in TestSets.all(filter="name eq 'Refunds'")] == ["refunds"]
    with pytest.raises(StoreError, match=r"tests\.jsonl:1"):
        TestSets.all(filter="contains(topics, 'Hours')")
