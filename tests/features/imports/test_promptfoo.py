"""Results of promptfoo: its numbers, its verdicts, its repeats."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.features.imports.files import imported, imported_file, promptfoo_document, raw

from scoregate.errors import ImportFailed
from scoregate.kernel.types.runs.cases import CaseResult, Status

ROWS = raw("promptfoo.json")["results"]["results"]
STATUS = {0: Status.PASSED, 1: Status.FAILED, 2: Status.ERRORED}


def suite_of(row: dict[str, Any]) -> str:
    return f"capitals [provider={row['provider']['label'] or row['provider']['id']}, prompt={row['prompt']['label']}]"


def row_name(row: dict[str, Any]) -> str:
    return row["testCase"].get("description") or "country=Peru, answer=Lima"


def case_of(row: dict[str, Any]) -> CaseResult:
    """By promptfoo's own counting: each of its tests is there twice in a row, for `repeat: 2`."""
    return imported_file("promptfoo.json").case(row_name(row), repeat=row["testIdx"] % 2, suite=suite_of(row))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{suite_of(row)} {row['testIdx']}")
def test_every_row_keeps_its_verdict_and_its_scores(row: dict[str, Any]) -> None:
    case = case_of(row)
    asserts = bool(row["testCase"].get("assert"))
    assert case.status is (STATUS[row["failureReason"]] if asserts else Status.UNSCORED)
    for metric, score in row["namedScores"].items():
        own = case.evaluations[metric]
        assert own.score == ((score - 1) / 4 if metric == "stars" else score)
    components = (row["gradingResult"] or {}).get("componentResults", [])
    for component in components:
        if "metric" not in component["assertion"]:
            assert case.evaluations[component["assertion"]["type"]].score == component["score"]
    assert case.input == row["vars"]
    assert case.output == row["response"].get("output")
    assert case.duration_ms == row["latencyMs"]


def test_tokens_and_cost_are_kept() -> None:
    (usage,) = {case.usage for case in imported_file("promptfoo.json").cases if case.usage is not None}
    assert (usage.input_tokens, usage.output_tokens, usage.cost) == (8, 4, 0.00012)


def with_cached_rows(count: int, provider: str) -> str:
    """Four rows of one provider, of which some were answered from the cache; a fifth has no answer."""
    rows = [dict(ROWS[0], provider={"id": provider}, testIdx=number) for number in range(5)]
    for number, row in enumerate(rows[:4]):
        row["response"] = {"output": "Paris", "cached": number < count, "tokenUsage": {"cached": 12}}
    rows[4] |= {"response": {"error": "refused"}, "error": "refused", "success": False, "failureReason": 2}
    return json.dumps(promptfoo_document(rows))


def test_rows_from_the_cache_are_noted_and_their_time_and_cost_is_unknown() -> None:
    assert not imported("promptfoo", with_cached_rows(0, "http://localhost/chat")).notes
    for count, provider in ((1, "http://localhost/chat"), (3, "python:bot.py"), (4, "openai:gpt-5")):
        found = imported("promptfoo", with_cached_rows(count, provider))
        (note,) = found.notes
        assert note.startswith(
            f"promptfoo read {count} of 4 answers from its cache, so they were measured earlier. Add "
        )
        assert [case.usage is not None and case.usage.cached for case in found.cases] == [
            number < count for number in range(5)
        ]


@pytest.mark.parametrize("provider", ["http://localhost/chat", "https://localhost", "python:bot.py", "my bot"])
def test_an_application_whose_answers_are_all_from_the_cache_was_not_measured(provider: str) -> None:
    with pytest.raises(
        ImportFailed, match=r"all 4 answers of .* from its cache, so the application wasn't measured"
    ) as why:
        imported("promptfoo", with_cached_rows(4, provider))
    assert why.value.advice == "Add --no-cache to the command of promptfoo."


@pytest.mark.parametrize(("response", "cost"), [({}, None), ({"cost": 0}, 0), ({"cost": 0.5}, 0.5)])
def test_a_cost_that_promptfoo_does_not_know_is_unknown(response: dict[str, float], cost: float | None) -> None:
    row = ROWS[0] | {"cost": response.get("cost", 0), "response": {"output": "Paris", **response}}
    (case,) = imported("promptfoo", json.dumps(promptfoo_document([row]))).cases
    assert case.usage is not None
    assert case.usage.cost == cost


def test_a_test_without_assertions_is_not_called_passed() -> None:
    imported_run = [case for case in imported_file("promptfoo.json").cases if case.hash == "nothing asserted"]
    assert len(imported_run) == 8
    assert all(not case.evaluations for case in imported_run)


def test_an_assertion_that_failed_in_a_test_that_passed_does_not_fail_it() -> None:
    case = imported_file("promptfoo.json").case("Italy", suite="capitals [provider=echo, prompt=plain]")
    assert case.evaluations["contains"].score == 0
    assert case.evaluations["contains"].passed is None
    assert case.status is Status.PASSED


def test_a_failed_provider_is_an_error() -> None:
    case = imported_file("promptfoo.json").case(
        "country=Peru, answer=Lima", suite="capitals [provider=careless, prompt=json]"
    )
    assert [error.error.message for error in case.errors] == ["the model is out of office"]


def single_setup_file(**prompt: str) -> str:
    """The file of one provider and one prompt."""
    rows = [row | {"prompt": row["prompt"] | prompt} for row in ROWS if row["promptIdx"] == 0]
    return json.dumps(promptfoo_document(rows))


def test_one_provider_and_one_prompt_are_not_in_the_suite_name() -> None:
    assert list(imported("promptfoo", single_setup_file(raw="Another one")).suites) == ["capitals"]


def test_without_repeats_equal_tests_are_numbered() -> None:
    content = json.loads(single_setup_file())
    content["config"]["evaluateOptions"] = content["runtimeOptions"] = {}
    imported_run = imported("promptfoo", json.dumps(content))
    assert {case.repeat for case in imported_run.cases} == {0}
    assert {"France", "France #2"} <= {case.hash for case in imported_run.cases}


def test_equal_descriptions_are_extended_by_variables() -> None:
    content = json.loads(single_setup_file())
    for row in content["results"]["results"]:
        row["testCase"]["description"] = "a capital"
    hashes = {case.hash for case in imported("promptfoo", json.dumps(content)).cases}
    assert "a capital (country=France, answer=Paris)" in hashes
    assert len(hashes) == 4


def read_last_row(**changes: Any) -> CaseResult:
    """The trial of a row that passed, with changed fields."""
    row = next(row for row in ROWS if row["success"] and row["gradingResult"]["componentResults"])
    (case,) = imported("promptfoo", json.dumps(promptfoo_document([row | changes]))).cases
    return case


@pytest.mark.parametrize(
    "grading", [None, {"pass": False, "componentResults": []}, {"componentResults": [{"pass": False}]}]
)
def test_a_row_that_failed_without_results_of_assertions_fails(grading: dict[str, Any] | None) -> None:
    case = read_last_row(success=False, failureReason=1, gradingResult=grading)
    assert case.status is Status.FAILED
    assert case.evaluations["passed"].score == 0


def test_an_error_of_an_older_version_is_an_error() -> None:
    case = read_last_row(success=False, failureReason=None, error="no answer in 30 s", gradingResult=None)
    assert case.status is Status.ERRORED
    assert case.errors[0].error.message == "no answer in 30 s"


def test_the_worse_of_two_verdicts_counts() -> None:
    assert read_last_row(gradingResult={"pass": False, "componentResults": []}).status is Status.FAILED
    assert read_last_row(success=False, failureReason=1).status is Status.FAILED


@pytest.mark.parametrize("success", [None, "false", 1])
def test_a_row_without_a_verdict_is_an_error(success: object) -> None:
    case = read_last_row(success=success)
    assert case.status is Status.ERRORED
    assert "`success` is neither true nor false" in case.errors[0].error.message


def test_rows_that_promptfoo_counts_and_could_not_save_are_missing() -> None:
    """Its database refuses a score of NaN, and the file is written without the row."""
    content = raw("promptfoo.json")
    stats = content["results"]["stats"]
    assert sum(stats[name] for name in ("successes", "failures", "errors")) == len(ROWS)
    stats["failures"] += 1
    with pytest.raises(ImportFailed, match=f"counts {len(ROWS) + 1} results and wrote {len(ROWS)}") as caught:
        imported("promptfoo", json.dumps(content))
    assert "NaN" in caught.value.advice
