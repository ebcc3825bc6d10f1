"""The report in CTRF keeps to its schema, counts right, and is read back by scoregate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from junitparser import JUnitXml
from tests.features.imports.files import imported
from tests.unit.report.example_views import EXAMPLES
from tests.unit.report.runs import ExampleSuite, Score, Trial, make_base, make_run, view_of

from scoregate.kernel.report import ctrf, junit
from scoregate.kernel.report.view import ReportView
from scoregate.kernel.types.runs.confirmations import Confirmation, with_confirmations

SCHEMA = json.loads(Path(__file__).with_name("ctrf.schema.json").read_text("utf-8"))


def document(view: ReportView) -> dict[str, Any]:
    found: dict[str, Any] = json.loads("".join(ctrf.render(view)))
    jsonschema.validate(found, SCHEMA)
    results: dict[str, Any] = found["results"]
    return results


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_matches_the_schema_and_the_counts_of_junit(example: str) -> None:
    view = EXAMPLES[example]()
    results = document(view)
    report = JUnitXml.fromstring("".join(junit.render(view)).encode())
    summary = results["summary"]
    assert summary["tests"] == len(results["tests"]) == report.tests
    assert summary["failed"] + summary["other"] == report.failures + report.errors


def test_scores_round_trip() -> None:
    view = EXAMPLES["failing"]()
    found = imported("ctrf", "".join(ctrf.render(view)))
    bot = next(case for case in found.cases if case.evaluations.keys() > {"passed"})
    own = next(case for case in view.trials.read() if (case.name or case.hash) == bot.hash)
    assert {name: each.score for name, each in own.evaluations.items()} == {
        name: each.score for name, each in bot.evaluations.items() if name != "passed"
    }


def make_rerun_view(*tries: bool) -> ReportView:
    """A case that passed in the base and fails now, with reruns."""
    good, bad = (ExampleSuite("demo", (Trial("a", (Score("right", score),)),)) for score in (1, 0))
    return view_of(with_confirmations(make_run(bad), [Confirmation("demo", "a", tries)]), make_base(good))


def test_a_case_that_passes_on_a_rerun_is_flaky() -> None:
    for view, tags, failures in (
        (make_rerun_view(True, False, True), ["flakyFailure", "flakyFailure"], 0),
        (make_rerun_view(False, False, False), ["failure", "rerunFailure", "rerunFailure", "rerunFailure"], 1),
    ):
        report = JUnitXml.fromstring("".join(junit.render(view)).encode())
        (suite, _) = report
        (case,) = suite
        assert [child.tag for child in case._elem if child.tag.endswith("Failure") or child.tag == "failure"] == tags
        assert (suite.failures, suite._elem.attrib["failures"]) == (failures, str(failures))
        test = document(view)["tests"][0]
        assert test["status"] == ("failed" if failures else "passed")
        assert test.get("flaky", False) is not bool(failures)
        assert test["retries"] == 3
