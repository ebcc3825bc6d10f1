"""Suites of other frameworks are paired by what they ran with: the evaluation, its file, models, prompts, arguments."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from scoregate.kernel.compare.setups import (
    describe_model_change,
    describe_setup_change,
    describe_unknown_model,
    pair_setups,
)
from scoregate.kernel.types.event_values import Setup, SetupPart
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.evidence import Trials
from scoregate.kernel.types.runs.run import SuiteResult


def make_suite(
    evaluation: str = "capitals",
    file: str = "out.json",
    *,
    model: str | SetupPart = "m",
    prompt: str | SetupPart = "p",
    arguments: str = "",
    script: str | None = "run.sh",
    cases: Sequence[str] = (),
    id: str = "s",  # noqa: A002
) -> SuiteResult:
    """A suite with a setup; cases are digests of their definitions."""
    columns = Columns()
    for index, digest in enumerate(cases):
        columns.add(CaseResult(0, f"c{index}", digest=digest))
    parts = [each if isinstance(each, SetupPart) else SetupPart(value=each) for each in (model, prompt, arguments)]
    return SuiteResult(id, id, script=script, setup=Setup(evaluation, file, *parts), trials=Trials(columns))


def pair(new: Sequence[SuiteResult], old: Sequence[SuiteResult]) -> list[tuple[int, int]]:
    return sorted(pair_setups(dict(enumerate(new)), dict(enumerate(old))))


def test_evaluations_are_paired_by_script_file_and_name() -> None:
    names = [("a", "one.json"), ("b", "one.json"), ("a", "two.json")]
    new = [make_suite(name, file) for name, file in names]
    assert pair(new, new[::-1]) == [(0, 2), (1, 1), (2, 0)]
    assert pair([SuiteResult("s", "s")], [SuiteResult("s", "s")]) == [], "they have no setup"
    assert pair([make_suite()], [SuiteResult("s", "s"), make_suite()]) == [(0, 1)]


def test_an_evaluation_that_moved_is_paired_if_only_one_is_left() -> None:
    assert pair([make_suite("a", "new.json")], [make_suite("a", "old.json")]) == [(0, 0)]
    assert pair([make_suite("a", script="new.sh")], [make_suite("a", script="old.sh")]) == [(0, 0)]
    assert pair([make_suite("a", script=None)], [make_suite("a", script="old.sh")]) == [(0, 0)]
    two = [make_suite("a", "x.json", script="x.sh"), make_suite("a", "y.json", script="y.sh")]
    assert pair([make_suite("a", "new.json", script="new.sh")], two) == [], "either may be meant"
    assert pair(two, [make_suite("a", "old.json", script="old.sh")]) == []
    both = [make_suite("a", "x.json"), make_suite("b", "y.json")]
    assert pair(both, [make_suite("b", "old.json"), make_suite("a", "x.json")]) == [(0, 1), (1, 0)]


@pytest.mark.parametrize(
    ("cases", "base_cases", "is_paired"),
    [
        (["1", "2", "3"], ["1", "2", "3"], True),
        (["1", "2", "3"], ["4", "5", "6"], False),
        (["", "", ""], ["", "", ""], False),
        ([], [], False),
        (["1"], ["1"], True),
    ],
)
def test_a_renamed_evaluation_is_paired_by_its_cases(
    cases: Sequence[str], base_cases: Sequence[str], *, is_paired: bool
) -> None:
    new, old = make_suite("new", "new.json", cases=cases), make_suite("old", "old.json", cases=base_cases)
    assert pair([new], [old]) == ([(0, 0)] if is_paired else [])
    elsewhere = make_suite("old", "old.json", cases=base_cases, script="other.sh")
    assert pair([new], [elsewhere]) == []


def test_models_are_paired_by_value_then_by_label_then_by_position() -> None:
    def models(*parts: tuple[str, str]) -> list[SuiteResult]:
        return [make_suite(model=SetupPart(label, value, place)) for place, (label, value) in enumerate(parts)]

    base = models(("big", "m-1"), ("small", "m-2"))
    assert pair(models(("small", "m-2"), ("big", "m-1")), base) == [(0, 1), (1, 0)]
    assert pair(models(("", "m-2"), ("", "m-1")), base) == [(0, 1), (1, 0)]
    assert pair(models(("small", "m-4"), ("big", "m-3")), base) == [(0, 1), (1, 0)]
    assert pair(models(("", "m-3"), ("", "m-4")), base) == [(0, 0), (1, 1)]
    assert pair(models(("", "m-3"), ("", "m-4"), ("", "m-1")), base) == [(0, 1), (2, 0)]
    assert pair(models(("", "m-2")), base) == [(0, 1)]


def test_prompts_are_paired_by_label_before_their_text() -> None:
    def prompts(*parts: tuple[str, str]) -> list[SuiteResult]:
        return [make_suite(prompt=SetupPart(label, value, place)) for place, (label, value) in enumerate(parts)]

    base = prompts(("short", "t-1"), ("long", "t-2"))
    assert pair(prompts(("long", "t-1"), ("short", "t-2")), base) == [(0, 1), (1, 0)]
    assert pair(prompts(("", "t-2"), ("", "t-1")), base) == [(0, 1), (1, 0)]
    assert pair(prompts(("", "t-3"), ("", "t-4")), base) == [(0, 0), (1, 1)]


def test_equal_setups_are_paired_by_the_id_of_their_suites() -> None:
    new = [make_suite(id="a"), make_suite(id="b")]
    assert pair(new, new[::-1]) == [(0, 1), (1, 0)]
    assert pair(new, [make_suite(id="b")]) == [(1, 0)]
    assert pair(new, [make_suite(id="c"), make_suite(id="d")]) == []


def test_a_change_of_the_setup_is_described() -> None:
    named = SetupPart(label="big", value="m-2")
    assert describe_setup_change(make_suite(model=named), make_suite(model="m-1")) == "model changed: m-1 → big (m-2)"
    both = describe_setup_change(make_suite(model="m-2", arguments="y"), make_suite(model="m-1", arguments="x"))
    assert both == "model changed: m-1 → m-2, arguments of the task changed"
    assert describe_setup_change(make_suite(), make_suite()) == ""
    assert describe_setup_change(make_suite(model="m-2"), SuiteResult("s", "s")) == ""


def test_a_model_that_one_side_lacks_is_unknown() -> None:
    known, unknown = make_suite(model="m"), make_suite(model="")
    for new, old, why in (
        (known, known, ""),
        (unknown, SuiteResult("s", "s"), ""),
        (known, unknown, "the model of the baseline is unknown"),
        (unknown, known, "the model of the run is unknown"),
    ):
        assert describe_unknown_model(new, old) == why
        assert describe_model_change(new, old) == ""
