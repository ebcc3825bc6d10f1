"""Logs of inspect_ai: the same of both kinds, with its own numbers."""

from __future__ import annotations

import json
from math import isnan

import pytest
from tests.features.imports.files import DATA, imported, imported_file, raw

from scoregate.errors import ImportFailed
from scoregate.kernel.types.runs.cases import Status

LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}


@pytest.fixture(params=["inspect.eval", "inspect.json"])
def log(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_every_score_of_every_epoch_is_kept(log: str) -> None:
    imported_run = imported_file(log)
    cases = {(case.name.partition(":")[0], case.repeat): case for case in imported_run.cases}
    for sample in raw("inspect.json")["samples"]:
        case = cases.pop((str(sample["id"]), sample["epoch"] - 1))
        assert case.output in (sample["output"]["completion"], None)
        expected = {}
        for name, score in sample["scores"].items():
            value = score["value"]
            if isinstance(value, str):
                expected[name] = LETTERS[value]
            elif isinstance(value, dict):
                expected |= {
                    "facets.polite": 1.0,
                    "facets.grade": LETTERS[value["grade"]],
                    "facets.stars": (value["stars"] - 1) / 4,
                }
            elif not isnan(value):
                expected[name] = value
        assert {name: each.score for name, each in case.evaluations.items()} == expected
    assert not cases
    assert imported_run.suites["capitals"].complete


def test_the_means_equal_those_of_inspect(log: str) -> None:
    suite = imported_file(log).suites["capitals"]
    reported = {score["name"]: score["metrics"] for score in raw("inspect.json")["results"]["scores"]}
    assert suite.mean("match") == pytest.approx(reported["match"]["accuracy"]["value"])
    assert suite.mean("brevity") == pytest.approx(reported["brevity"]["mean"]["value"])


def test_errors_of_samples_and_scorers_are_separate(log: str) -> None:
    imported_run = imported_file(log)
    assert "the tool is gone" in imported_run.case("broken", repeat=1).errors[0].error.message
    (error,) = imported_run.case("long").errors
    assert error.evaluator == "facets"
    assert imported_run.case("long").status is Status.ERRORED


def test_grades_are_no_verdicts(log: str) -> None:
    assert imported_file(log).case("italy").evaluations["match"].passed is None


def test_long_texts_are_restored(log: str) -> None:
    assert imported_file(log).case("long").input.endswith("The capital of Germany?")


def test_labels_reasons_and_usage_are_kept(log: str) -> None:
    case = imported_file(log).case("france")
    assert case.evaluations["facets.polite"].metadata["labels"] == {"facets.tone": "dry"}
    assert case.evaluations["facets.stars"].metadata["value"] == 4
    assert case.evaluations["brevity"].metadata["reason"] == "shorter is better"
    assert case.usage is not None
    assert (case.usage.input_tokens, case.usage.cached_tokens, case.usage.output_tokens) == (12, 3, 2)
    assert (case.usage.cost, case.usage.model) == (0.0001, "mockllm/model")


def test_a_scorer_that_returns_texts_only_gives_labels() -> None:
    log = raw("inspect.json")
    log["samples"] = log["samples"][:2]
    for sample, tone in zip(log["samples"], ("friendly", "x" * 200), strict=True):
        sample["scores"] = {"tone": {"value": tone, "explanation": "why"}, "parts": {"value": {"a": "b", "c": ""}}}
    labels = [case.labels for case in imported("inspect", json.dumps(log)).cases]
    assert [each["tone"].label for each in labels] == ["friendly", f"{'x' * 100}…"]
    assert {name: label.label for name, label in labels[0].items()} == {
        "tone": "friendly",
        "parts.a": "b",
        "parts.c": "(empty)",
    }
    assert labels[0]["tone"].metadata == {"reason": "why"}


@pytest.mark.parametrize("status", ["error", "cancelled", "started"])
def test_a_log_without_success_is_never_complete(status: str) -> None:
    log = raw("inspect.json") | {"status": status}
    suite = imported("inspect", json.dumps(log)).suites["capitals"]
    assert not suite.complete
    assert suite.errors


def test_several_logs_are_named_by_model() -> None:
    dated = imported("inspect", (DATA / "inspect.eval").read_bytes(), name="2026-11-21T10-00_t.eval", alone=False)
    assert dated.suites["capitals"].params == {"model": "mockllm/model"}
    named = imported_file("inspect.eval", alone=False)
    assert named.suites["inspect / capitals"].params == {"model": "mockllm/model"}
    assert imported_file("inspect.eval").suites["capitals"].params is None


def test_a_number_out_of_range_without_a_scale_is_an_error() -> None:
    log = raw("inspect.json")
    log["eval"]["metadata"] = {}
    (error,) = imported("inspect", json.dumps(log)).case("france").errors
    assert error.evaluator == "facets.stars"
    assert "outside [0, 1]" in error.error.message
    assert "scale = [0, 500]" in error.error.advice


def test_a_packed_log_names_the_extra_that_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scoregate.kernel.run.documents.files._HAS_ZSTANDARD", False)
    with pytest.raises(ImportFailed, match=r"has Zstandard compression, which needs backports\.zstd") as found:
        imported_file("inspect.eval")
    assert found.value.advice == "Install it: pip install 'scoregate[inspect]'"
    assert len(imported_file("inspect.json").cases) == 10


def test_a_truncated_log_keeps_its_samples() -> None:
    import io

    from scoregate.kernel.run.documents.files import zipfile

    out = io.BytesIO()
    with zipfile.ZipFile(DATA / "inspect.eval") as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            if name != "header.json":
                new.writestr(name, old.read(name))
    imported_run = imported("inspect", out.getvalue())
    assert len(imported_run.cases) == 10
    assert not imported_run.suites["capitals"].complete


def test_the_usage_of_a_sample_is_of_all_its_models() -> None:
    def read(**by_model: dict[str, float]) -> tuple[object, ...]:
        log = raw("inspect.json")
        log["samples"] = log["samples"][:1]
        log["samples"][0]["model_usage"] = by_model
        used = imported("inspect", json.dumps(log)).cases[0].usage
        return (
            () if used is None else (used.input_tokens, used.output_tokens, used.cached_tokens, used.cost, used.model)
        )

    small = {"input_tokens": 5, "output_tokens": 2, "input_tokens_cache_read": 30, "input_tokens_cache_write": 4}
    assert read() == ()
    assert read(small=small) == (39, 2, 30, None, "small")
    assert read(small=small, large={"output_tokens": 7, "total_cost": 0.5}) == (39, 9, 30, 0.5, None)
