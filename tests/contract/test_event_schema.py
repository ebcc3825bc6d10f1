"""The published schema of events matches what the code reads and writes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator
from pydantic import VERSION, Discriminator, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from tests.integration.sdk.scripts import Home
from tests.unit.kernel.test_event_json import events

from scoregate.kernel.types.events import Event
from scoregate.kernel.types.json_io import dump_event

DOCS = Path(__file__).parents[2] / "docs"
PATH = DOCS / "events.schema.json"
PYDANTIC = tuple(int(part) for part in VERSION.split(".")[:2])
LOG = Path(__file__).parent / "documents" / "events-v1.jsonl"


def strip_titles(schema: Any) -> Any:
    """The schema without generated titles that repeat the name, and without names of Python exceptions."""
    if isinstance(schema, list):
        return [strip_titles(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {
        name: strip_titles(value) for name, value in schema.items() if name != "title" or not isinstance(value, str)
    }
    if isinstance(text := kept.get("description"), str):
        summary = text.partition("\n\nRaises:")[0].replace("Attributes:", "Fields:").replace("Args:", "Fields:")
        kept["description"] = " ".join(summary.split())
    return kept


def from_code() -> dict[str, Any]:
    schema = strip_titles(TypeAdapter(Annotated[Event, Discriminator("type")]).json_schema())
    for name in (reference["$ref"].rpartition("/")[2] for reference in schema["oneOf"]):
        schema["$defs"][name]["required"].insert(0, "type")
    return {"$schema": GenerateJsonSchema.schema_dialect, "title": "An event of a scoregate suite", **schema}


VALIDATOR = Draft202012Validator(from_code())


@pytest.mark.skipif(PYDANTIC < (2, 13), reason="older versions of pydantic leave out descriptions of fields")
def test_the_published_schema_matches_the_code() -> None:
    text = json.dumps(from_code(), indent=2, ensure_ascii=False) + "\n"
    if os.environ.get("SCOREGATE_WRITE_GOLDENS"):
        PATH.write_text(text, "utf-8")
    assert PATH.read_text("utf-8") == text
    Draft202012Validator.check_schema(json.loads(text))


@given(events)
def test_every_event_matches_it(event: Event) -> None:
    VALIDATOR.validate(json.loads(dump_event(event)))


def test_lines_of_version_1_match_it() -> None:
    for line in LOG.read_text("utf-8").splitlines():
        VALIDATOR.validate(json.loads(line))


def test_sdk_events_match_it(tmp_path: Path) -> None:
    home = Home(tmp_path)
    result = home.run("""
from scoregate.testing.models import CreateHumanReviewJob
job = CreateHumanReviewJob(["a@example.org"], "look")
run_test_suite("demo", cases(3), lambda case: 1 / case["n"], [Good(), AsyncGood()], test_case_hash=["n"],
               human_review_job=job, grid_search_params={"k": [1, 2]})
run_test_suite("empty", [], print)
""")
    assert result.code == 0, result.err
    events = [json.loads(line) for log in sorted(home.events.glob("*.jsonl")) for line in log.read_bytes().splitlines()]
    for event in events:
        VALIDATOR.validate(event)
    assert {"suite_started", "errored", "scored", "review_requested", "suite_finished"} <= {e["type"] for e in events}


@pytest.mark.parametrize(
    "line",
    [
        {"suite": "s", "case": "c"},
        {"type": "case_finished", "suite": "s"},
        {"type": "case_vanished", "suite": "s", "case": "c"},
        {"type": "scored", "suite": "s", "case": "c", "evaluator": "e", "score": "high"},
        {"type": "errored", "suite": "s", "stage": "lunch", "error": {"type": "E", "message": "m"}},
    ],
)
def test_invalid_events_do_not(line: dict[str, Any]) -> None:
    assert not VALIDATOR.is_valid(line)


def test_every_event_and_field_is_in_the_document() -> None:
    text = (DOCS / "reference" / "events.md").read_text("utf-8")
    definitions = from_code()["$defs"]
    fields = {name for definition in definitions.values() for name in definition.get("properties", {})}
    kinds = {
        kind["const"] for d in definitions.values() if "const" in (kind := d.get("properties", {}).get("type", {}))
    }
    names = set(text.replace("`", " ").replace("{", " ").replace("}", " ").replace(",", " ").replace("*", " ").split())
    assert sorted((fields | kinds) - names - {"type"}) == []
