"""Values that cases and reports are made of: reasons, columns of counts, limits of one run, sections, amounts."""

from __future__ import annotations

import pytest

from scoregate.errors import InvalidEvent
from scoregate.kernel.types.amounts import AtLeast, BudgetUse, Unknown, Why, add, lack_prices
from scoregate.kernel.types.evaluation import Evaluation, Label, Threshold
from scoregate.kernel.types.event_json import parse_event
from scoregate.kernel.types.event_values import NO_SCALE, ErrorInfo
from scoregate.kernel.types.events import CaseOutput
from scoregate.kernel.types.json_io import MAX_EVENT_BYTES, dump_event
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import CaseError, CaseResult, Status
from scoregate.kernel.types.runs.policy import OneRunLimit, list_one_run_limits
from scoregate.kernel.types.runs.text_column import KeySet
from scoregate.kernel.types.skill_formats.fields import is_inside
from scoregate.kernel.types.slots import Place, Section, list_sentences, select_sections


def test_the_reasons_of_a_case_are_those_of_scores_and_its_errors() -> None:
    evaluations = {
        "a": Evaluation(1, metadata={"reason": "good", "other": 1}),
        "b": Evaluation(1, metadata={"reason": ""}),
        "c": Evaluation(1),
        "d": Evaluation(1, metadata={"reason": 5}),
        "e": Evaluation(1, metadata={"reason": "hidden"}),
    }
    errors = [CaseError(ErrorInfo("T", "gone")), CaseError(ErrorInfo("E", "late"), "e")]
    case = CaseResult(0, "h", 2, evaluations=evaluations, errors=errors)
    assert case.reasons == {"a": "good", "d": "5", "task": "T: gone", "e": "E: late"}
    assert case.scores == dict.fromkeys("abcde", 1)
    assert case.key == ("h", 2)


def test_the_expected_output_is_a_field_of_the_input() -> None:
    inputs = ({"expected": 1, "expected_output": 2}, {"expected_output": 2}, {"q": 1}, "text")
    assert [CaseResult(0, "h", input=each).expected for each in inputs] == [1, 2, None, None]


def test_the_status_of_a_case() -> None:
    met, failed, open_ = Evaluation(1, Threshold(gte=1)), Evaluation(0, Threshold(gte=1)), Evaluation(0.5)
    lacks = CaseError(ErrorInfo(NO_SCALE, "m"), "x")
    task = CaseError(ErrorInfo(NO_SCALE, "m"))
    other = CaseError(ErrorInfo("E", "m"), "x")
    for evaluations, errors, labels, status in (
        ([met, open_], [], {}, Status.PASSED),
        ([met, failed], [other], {}, Status.FAILED),
        ([met], [other], {}, Status.ERRORED),
        ([met], [task], {}, Status.ERRORED),
        ([met], [lacks, other], {}, Status.ERRORED),
        ([met], [lacks], {}, Status.PASSED),
        ([open_], [lacks], {}, Status.SCORED),
        ([], [], {"l": Label("x")}, Status.SCORED),
        ([], [], {}, Status.UNSCORED),
        ([Evaluation(0, Threshold())], [], {}, Status.SCORED),
    ):
        case = CaseResult(0, "h", evaluations=dict(zip("abc", evaluations, strict=False)), errors=errors, labels=labels)
        assert case.status is status


def test_evaluators_without_a_score_are_counted() -> None:
    columns = Columns()
    for index in range(3):
        columns.add(
            CaseResult(
                0, f"c{index}", unscored=("a", "b") if index else ("a",), pending=("p",), labels={"l": Label("x")}
            )
        )
    assert (columns.unscored, columns.unscored_counts) == (5, {"a": 3, "b": 2})
    assert (columns.pending, {name: list(rows) for name, rows in columns.deferred.items()}) == (
        3,
        {"p": [0, 1, 2], "l": [0, 1, 2]},
    )


def test_keys_are_known_before_and_after_the_set_is_a_table() -> None:
    keys = KeySet()
    for number in range(20_000):
        assert keys.add(("k", number))
        if number % 1_000 == 0:
            assert not keys.add(("k", number))
    assert len(keys) == 20_000
    assert all(("k", number) in keys for number in (0, 255, 19_999))
    assert ("k", 20_000) not in keys
    keys.clear()
    assert (len(keys), ("k", 0) in keys, keys.add(("k", 0))) == (0, False, True)


def test_limits_that_were_set_for_one_run() -> None:
    origin = {
        "rate": "--rate",
        "suites.bot": "SCOREGATE_SUITES",
        "cost": "INPUT_COST",
        "drop": "pyproject.toml",
        "gone": "--x",
        "odd": 5,
    }
    default = {"rate": 0.9, "suites": {"bot": 1}, "cost": 2, "drop": 3, "odd": 4, "origin": origin}
    assert list(list_one_run_limits({"default": default})) == [
        OneRunLimit("rate", "", "--rate", 0.9),
        OneRunLimit("suites", "bot", "SCOREGATE_SUITES", {"bot": 1}),
        OneRunLimit("cost", "", "INPUT_COST", 2),
    ]
    for policy in ({}, {"default": []}, {"default": {"origin": []}}, {"default": {"rate": 1}}):
        assert list(list_one_run_limits(policy)) == []


def test_sections_are_selected_by_place() -> None:
    sections = [
        Section("a", Place.END, sentences=("one", "two")),
        Section("b", Place.VERDICT),
        Section("c", Place.END, sentences=("three",)),
    ]
    assert [each.feature for each in select_sections(sections, Place.VERDICT, Place.END)] == ["b", "a", "c"]
    assert [each.feature for each in select_sections(sections, Place.END)] == ["a", "c"]
    assert list(list_sentences(sections, Place.END)) == ["one", "two", "three"]
    assert list(select_sections(sections)) == []


def test_budgets_are_added_and_subtracted() -> None:
    assert BudgetUse(1, 20) + BudgetUse(0.5, 3) == BudgetUse(1.5, 23)
    assert BudgetUse(1, 20) - BudgetUse(0.5, 3) == BudgetUse(0.5, 17)
    assert BudgetUse() == BudgetUse(0, 0)


def test_unknown_parts_of_a_sum_are_named_once() -> None:
    missing = lack_prices(["b", "a"])
    assert missing == Unknown(Why.NO_PRICE, "a, b")
    assert add([1.0, missing, AtLeast(2.0, lack_prices(["c", "a"]))], [4.0]) == AtLeast(
        7.0, Unknown(Why.NO_PRICE, "a, b, c")
    )
    assert missing.reason == "no price is known of a, b"
    assert Unknown(Why.NO_PRICE, "x" * 101).names == ("x" * 100,)
    assert Unknown(Why.NOT_REPORTED, "x").names == ()


def test_an_event_may_be_as_long_as_the_limit() -> None:
    event = CaseOutput(suite="s", case="c")
    assert (event.truncated, event.attempts, event.repeat) == (False, 1, 0)
    line = dump_event(event)
    padded = line + b" " * (MAX_EVENT_BYTES - len(line))
    assert parse_event(padded) == parse_event(line)
    with pytest.raises(InvalidEvent, match="8,388,609 bytes is over the limit of 8,388,608"):
        parse_event(padded + b" ")


def test_paths_within_a_folder() -> None:
    assert all(map(is_inside, ("a", "a/b", "./a", "a..b")))
    assert not any(map(is_inside, ("", ".", "/a", "../a", "a/../b", "a\\b", "a\0")))
