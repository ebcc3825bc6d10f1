"""result.json matches its schema, and the schema has all of its fields."""

from __future__ import annotations

import json
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from tests.unit.report.example_views import EXAMPLES, bot, green
from tests.unit.report.hostile import HOSTILE
from tests.unit.report.runs import ExampleSuite, Score, Trial, make_base, make_run, view_of

from scoregate.kernel.report.result_json import render, to_data
from scoregate.kernel.report.view import ReportView
from scoregate.kernel.types.runs.confirmations import Confirmation, with_confirmations
from scoregate.kernel.types.runs.policy import Limits
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.slots import Place, Section

SCHEMA = json.loads((Path(__file__).parents[3] / "docs/result.schema.json").read_text("utf-8"))


def closed(schema: Any) -> Any:
    """The schema, allowing only what it describes."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {key: closed(value) for key, value in schema.items()}
    return ({"additionalProperties": False} if inner.get("type") == "object" else {}) | inner


def result_of(view: ReportView) -> Any:
    text = "".join(render(view))
    text.encode()
    return json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} in the result"))


def test_the_schema_is_valid() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_matches_the_schema_without_other_fields(example: str) -> None:
    Draft202012Validator(closed(SCHEMA)).validate(result_of(EXAMPLES[example]()))


def test_an_empty_run_has_a_result() -> None:
    result = result_of(view_of(with_confirmations(make_run(), [Confirmation("demo", "h", (True,))])))
    Draft202012Validator(closed(SCHEMA)).validate(result)
    assert (result["conclusion"], result["exit_code"]) == ("unmeasurable", 3)
    assert result["confirmations"][0]["outcome"] == "open"


def test_it_lists_flips_failures_and_numbers() -> None:
    result = result_of(view_of(make_run(bot(range(2, 24), range(0))), make_base(bot(range(3), range(0)))))
    assert len(result["newly_failing"]) == result["totals"]["newly_failing"] == 21
    assert {"suite": "support-bot", "case": "00000003", "repeat": 0} in result["newly_failing"]
    assert [one["case"] for one in result["newly_passing"]] == ["00000000", "00000001"]
    row = result["rows"][0]
    assert (row["evaluator"], row["label"], row["state"]) == ("has-all-substrings", "worse", "failed")
    assert row["delta"] == pytest.approx(-0.095)
    assert (row["better"], row["worse"], row["n"]) == (2, 21, 200)
    assert result["findings"][0]["rule"] == "pass rate"
    assert result["totals"]["pass_rate_change"] == pytest.approx(-0.095)


def test_numbers_outside_json_become_null() -> None:
    run: Run = make_run(bot(range(1), range(0)), started=0.0, finished=float("inf"))
    result = result_of(view_of(run))
    assert result["run"]["finished"] is None


@pytest.mark.parametrize("text", HOSTILE)
def test_any_text_is_valid(text: str) -> None:
    trial = Trial(
        "h1",
        [Score(text or "e", 0.1, metadata={text: text})],
        name=text,
        output=text,
        labels={"tone": text, f"is {text}": "odd"},
    )
    result = result_of(view_of(make_run(ExampleSuite(text or "demo", [trial]))))
    Draft202012Validator(closed(SCHEMA)).validate(result)


def test_every_failed_gate_has_the_command_that_repeats_it() -> None:
    new, old = (
        ExampleSuite("bot [de]", [Trial(f"c{at}", (Score("right", score),)) for at in range(30)]) for score in (0.2, 1)
    )
    limits = Limits(min_score={"*": 0.5}, max_drop={"*": 0.1})
    findings = result_of(view_of(make_run(new), make_base(old), limits=limits))["findings"]
    commands = {each["rule"]: each["next"] for each in findings if each["conclusion"] != "passed"}
    own = "scoregate run --suite 'bot [[]de]'"
    assert commands == {
        "pass rate": own,
        "mean score": own,
        "drop": f"{own} --baseline rerun:a1b2c3d{'0' * 33}",
    }
    assert {each["next"] for each in findings if each["conclusion"] == "passed"} == {None}
    assert fnmatchcase("bot [de]", "bot [[]de]")


def test_what_a_later_feature_adds_is_below_its_name() -> None:
    section = Section("weather", Place.END, data={"sun": True})
    data = to_data(replace(green(), sections=(section,)))
    assert (data["sections"], list(data)[-1]) == ({"weather": {"sun": True}}, "sections")
