"""Baseline outputs for battles of Autoblocks' suites, and overrides of reviewers."""

from __future__ import annotations

from pathlib import Path

import pytest

from scoregate.features.foreign.connections import EVALUATOR, open_baseline_lookup
from scoregate.kernel.types.evaluation import Evaluation, EvaluationOverride, EvaluationOverrideField
from scoregate.kernel.types.event_values import EvaluatorInfo
from scoregate.kernel.types.runs.baseline_outputs import BASELINE_OUTPUTS_VARIABLE, dump_baseline_outputs
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.evidence import Trials
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd, SuiteResult
from scoregate.store import add_override, load_baseline_outputs, open_store, set_baseline_outputs


def suite(*cases: CaseResult, sdk: str | None = "autoblocks-python", **more: object) -> SuiteResult:
    return SuiteResult("demo", "demo", sdk=sdk, trials=Trials(Columns(), read=lambda: cases), **more)  # type: ignore[arg-type]


def write_base(folder: Path, *suites: SuiteResult) -> dict[str, str]:
    """The environment of a launch with the outputs of its baseline."""
    file = folder / "champions.jsonl"
    file.write_bytes(b"".join(dump_baseline_outputs(Run("1", 0, RunEnd(1), RunCode("0"), suites=suites))))
    return {BASELINE_OUTPUTS_VARIABLE: str(file)}


def case(name: str, output: object, **more: object) -> CaseResult:
    return CaseResult(0, name, output=output, **more)  # type: ignore[arg-type]


def make_battle(name: str, output: object, *, challenger: str) -> CaseResult:
    metadata = {"reason": "", "baseline": "old", "challenger": challenger, "criteria": "better"}
    return CaseResult(0, name, output=output, evaluations={"battle": Evaluation(1, None, metadata)})


def test_without_a_base_the_store_has_the_outputs(tmp_path: Path) -> None:
    lookup = open_baseline_lookup(tmp_path, {}, {})
    assert lookup.baseline_output("demo", "a") is None
    lookup.save_baseline_output("demo", "a", "best")
    assert load_baseline_outputs(open_store(tmp_path), "demo", EVALUATOR) == {"a": "best"}
    assert open_baseline_lookup(tmp_path, {}, {}).baseline_output("demo", "a") == "best"


def test_outputs_saved_by_the_same_run_are_ignored(tmp_path: Path) -> None:
    set_baseline_outputs(open_store(tmp_path), "demo", EVALUATOR, outputs={"a": "old"})
    lookup = open_baseline_lookup(tmp_path, {}, {})
    assert lookup.baseline_output("demo", "a") == "old"
    lookup.save_baseline_output("demo", "a", "new")
    assert lookup.baseline_output("demo", "a") == "old"


def test_the_base_wins_and_the_store_is_unchanged(tmp_path: Path) -> None:
    set_baseline_outputs(open_store(tmp_path), "demo", EVALUATOR, outputs={"a": "of the store", "b": "of the store"})
    lookup = open_baseline_lookup(tmp_path, {}, write_base(tmp_path, suite(case("a", "of the base"))))
    assert (lookup.baseline_output("demo", "a"), lookup.baseline_output("demo", "b")) == ("of the base", None)
    lookup.save_baseline_output("demo", "a", "new")
    assert load_baseline_outputs(open_store(tmp_path), "demo", EVALUATOR)["a"] == "of the store"


def test_a_challenger_in_the_base_is_found_by_text(tmp_path: Path) -> None:
    base = write_base(
        tmp_path, suite(make_battle("a", {"answer": "text"}, challenger="text"), case("b", {"answer": "?"}))
    )
    lookup = open_baseline_lookup(tmp_path, {}, base)
    assert (lookup.baseline_output("demo", "a"), lookup.baseline_output("demo", "b")) == ("text", None)


@pytest.mark.parametrize(
    "held",
    [
        (suite(case("a", "long…", truncated=True)),),
        (suite(case("a", "again", repeat=1)),),
        (suite(case("a", "one")), suite(case("a", "two"))),
        (suite(case("a", "one"), params={"x": 1}),),
        (suite(case("a", "ours"), sdk="scoregate 1"),),
    ],
    ids=["shortened", "a repeat", "two suites of one id", "a grid", "no battle of theirs"],
)
def test_other_outputs_are_no_baseline(tmp_path: Path, held: tuple[SuiteResult, ...]) -> None:
    assert open_baseline_lookup(tmp_path, {}, write_base(tmp_path, *held)).baseline_output("demo", "a") is None


def test_own_suites_report_outputs_unchanged() -> None:
    own_suite = suite(case("a", {"n": 1}), sdk="scoregate 1", evaluators={"b": EvaluatorInfo("b", battles=True)})
    assert list(dump_baseline_outputs(Run("1", 0, RunEnd(1), RunCode("0"), suites=(own_suite,)))) == [
        b'["demo","a",{"n":1}]\n'
    ]


def test_overrides_are_listed_newest_first(tmp_path: Path) -> None:
    for n in range(3):
        field = EvaluationOverrideField("o", "output", str(n))
        add_override(open_store(tmp_path), "judge", EvaluationOverride(0, 1, output_fields=[field]))
    stored_overrides = open_baseline_lookup(tmp_path, {}, {}).overrides("judge", 2)
    assert [override.output_fields[0].value for override in stored_overrides] == ["2", "1"]
    assert open_baseline_lookup(tmp_path, {}, {}).overrides("other", 2) == []
