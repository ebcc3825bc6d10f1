"""Clusters of imported cases: those that a format states, and the metadata that the setting `cluster` reads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from tests.features.imports.files import imported, promptfoo_document, raw

from scoregate.errors import ImportFailed
from scoregate.kernel.run.plan import RowColumns
from scoregate.kernel.types.runs.clusters import find_cluster

JUNIT = """<testsuite name="chat"><testcase name="a" classname="t"><properties>
<property name="cluster" value=" refund.md "/></properties></testcase><testcase name="b" classname="t"/></testsuite>"""


def import_promptfoo(*tests: Mapping[str, Any]) -> dict[str, str | None]:
    """The clusters of promptfoo's tests, by name of the case."""
    row = raw("promptfoo.json")["results"]["results"][0]
    rows = [
        row | {"testIdx": place, "vars": test.get("vars", {}), "testCase": {"assert": [], **test}}
        for place, test in enumerate(tests)
    ]
    results = promptfoo_document(rows)
    results["config"]["evaluateOptions"] = {}
    results.pop("runtimeOptions", None)
    return {case.name: case.cluster for case in imported("promptfoo", json.dumps(results)).cases}


def test_turns_of_a_conversation_of_promptfoo_are_a_cluster() -> None:
    turns = [{"vars": {"q": each}, "metadata": {"conversationId": "c1"}} for each in "ab"]
    assert import_promptfoo(*turns, {"vars": {"q": "c"}}) == {"q=a": "c1", "q=b": "c1", "q=c": None}


def test_tests_of_promptfoo_with_the_same_variables_are_a_cluster() -> None:
    same = [{"vars": {"q": "a"}, "description": name} for name in ("brief", "polite")]
    clusters = import_promptfoo(*same, {"vars": {"q": "b"}, "description": "other"}, {"description": "x"}, {})
    assert clusters["brief"] == clusters["polite"] is not None
    assert {name: clusters[name] for name in clusters if name not in ("brief", "polite")} == {
        "other": None,
        "x": None,
        "no variables": None,
    }


@pytest.mark.parametrize("place", ["scorers", "metrics"])
def test_the_cluster_of_inspects_standard_errors_is_that_of_cases(place: str) -> None:
    log = raw("inspect.json")
    for number, sample in enumerate(log["samples"]):
        sample["metadata"] = {"document": f"d{number % 2}", "long": "x" * 1_000}
    metrics = [{"name": "inspect_ai/stderr", "options": {"cluster": "document"}}]
    log["eval"][place] = [{"name": "match", "metrics": {"*": metrics}}] if place == "scorers" else metrics
    cases = imported("inspect", json.dumps(log)).cases
    assert {case.cluster for case in cases} == {"d0", "d1"}
    assert all(case.input["metadata"] == {"document": case.cluster} for case in cases)


def test_a_property_of_junit_names_the_cluster() -> None:
    assert [case.cluster for case in imported("junit", JUNIT).cases] == ["refund.md", None]


def test_a_column_of_rows_names_the_cluster() -> None:
    rows = "".join(json.dumps({"q": f"{n}?", "d": f"d{n // 2}", "ok": True, "note": "x"}) + "\n" for n in range(4))
    columns = RowColumns(scores=("ok",), input=("q",), cluster="d")
    cases = imported("rows", rows, name="x.jsonl", columns=columns).cases
    assert [(case.input, case.cluster) for case in cases] == [(f"{n}?", f"d{n // 2}") for n in range(4)]
    with pytest.raises(ImportFailed, match="'nothing'"):
        imported("rows", rows, name="x.jsonl", columns=RowColumns(scores=("ok",), input=("q",), cluster="nothing"))


def with_metadata(name: str, cases: str, key: str) -> str:
    document = raw(name)
    for each in document[cases]:
        each[key] = {"doc_id": 7, "text": "x" * 1_000}
    return json.dumps(document)


@pytest.mark.parametrize(
    ("form", "data"),
    [
        ("deepeval", with_metadata("deepeval.json", "testCases", "additionalMetadata")),
        ("pydantic-evals", with_metadata("pydantic-evals-once.json", "cases", "metadata")),
        ("rows", json.dumps([{"case": "a", "q": "?", "ok": True, "doc_id": "7"}])),
    ],
)
def test_the_setting_reads_the_metadata_of_a_format(form: str, data: str) -> None:
    columns = RowColumns(scores=("ok",), input=("q",), case="case") if form == "rows" else None
    cases = imported(form, data, name="x.json", columns=columns).cases
    clusters = {find_cluster("doc_id", case.input, case.name, case.hash) for case in cases if not case.errors}
    assert clusters == {"7"}


def test_metadata_changes_neither_the_case_nor_its_definition() -> None:
    with_it = with_metadata("deepeval.json", "testCases", "additionalMetadata")
    plain, described = (imported("deepeval", data).cases for data in (json.dumps(raw("deepeval.json")), with_it))
    assert [(case.key, case.digest, case.name) for case in plain] == [
        (case.key, case.digest, case.name) for case in described
    ]
