"""The outputs of a baseline that battles compare with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from scoregate.kernel.types.evaluation import Evaluation
from scoregate.kernel.types.event_values import EvaluatorInfo
from scoregate.kernel.types.runs.baseline_outputs import battle_key, dump_baseline_outputs, read_baseline_outputs
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.evidence import Trials
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd, SuiteResult


def make_suite(
    cases: Sequence[CaseResult], *, battles: bool = True, sdk: str | None = None, params: dict[str, Any] | None = None
) -> SuiteResult:
    infos = {"b": EvaluatorInfo("b", battles=battles)}
    return SuiteResult(
        "demo", "demo", evaluators=infos, sdk=sdk, params=params, trials=Trials(read=lambda: iter(cases))
    )


def dump(*suites: SuiteResult) -> dict[tuple[str, str], Any]:
    return read_baseline_outputs(dump_baseline_outputs(Run("run", 0.0, RunEnd(1.0), RunCode("0"), suites=suites)))


def test_the_first_trial_of_each_case_is_kept() -> None:
    cases = [
        CaseResult(0, "a", 1, output="second"),
        CaseResult(0, "a", 0, output="first"),
        CaseResult(0, "b", output={"text": 1}),
        CaseResult(0, "long", output="cut", truncated=True),
        CaseResult(0, "none"),
    ]
    assert dump(make_suite(cases)) == {("demo", "a"): "first", ("demo", "b"): {"text": 1}}
    assert dump(make_suite(cases, battles=False)) == {}
    assert dump(make_suite(cases, battles=False, sdk="deepeval 1")) == {}


def test_suites_with_one_key_are_left_out() -> None:
    cases = [CaseResult(0, "a", output="x")]
    assert dump(make_suite(cases), make_suite(cases)) == {}
    grid = [make_suite(cases, params={"k": number}) for number in (1, 2)]
    assert dump(*grid) == {('demo {"k":1}', "a"): "x", ('demo {"k":2}', "a"): "x"}
    assert battle_key("demo", {"b": 1, "a": 2}) == battle_key("demo", {"a": 2, "b": 1}) == 'demo {"a":2,"b":1}'
    assert battle_key("demo", {}) == battle_key("demo", None) == "demo"


@pytest.mark.parametrize(
    ("metadata", "output", "expected"),
    [
        ({"baseline": "old", "challenger": "new", "criteria": "c"}, "text", "new"),
        ({"baseline": "old", "challenger": "new"}, "text", "text"),
        ({"baseline": "old", "challenger": 3, "criteria": "c"}, "text", "text"),
        (None, "text", "text"),
        (None, {"not": "text"}, None),
    ],
)
def test_suites_of_autoblocks_have_the_text_that_their_battle_compared(
    metadata: Any, output: Any, expected: str | None
) -> None:
    case = CaseResult(0, "a", output=output, evaluations={"b": Evaluation(1.0, metadata=metadata)})
    found = dump(make_suite([case], battles=False, sdk="autoblocks-python 1"))
    assert found == ({} if expected is None else {("demo", "a"): expected})
