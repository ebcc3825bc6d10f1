"""The variables by which a host selects suites and cases, and what it says about a wrong one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from scoregate.engine.environment import (
    Selection,
    events_folder,
    read_parts,
    read_selection,
    run_message,
    select_cases,
    select_suite,
)
from scoregate.errors import UsageError
from scoregate.kernel.types.event_values import ErrorInfo
from scoregate.kernel.types.selection import CaseChoice, PartChoice
from scoregate.kernel.types.suite import Case, Description, Suite

HASHES = "SCOREGATE_OVERRIDES_TESTS_AND_HASHES"
CASES = [Case(each, each.upper()) for each in "abcd"]


def describe(case: Case) -> Description:
    return Description(f"name-{case.hash}", case.value, tags=("vowel",) if case.hash == "a" else ())


def select(cases: Sequence[Case] = CASES, **selection: Any) -> str:
    return "".join(case.hash for case in select_cases(cases, "demo", Selection(**selection), describe))


def make_suite(cases: Sequence[Case] = CASES, **fields: Any) -> Suite:
    return Suite("demo", cases, str, describe, str, **fields)


def choose(**choice: Any) -> str:
    return json.dumps(choice)


def test_without_variables_everything_runs() -> None:
    assert read_selection({}) == Selection()
    assert read_selection({}).includes("any")
    assert (events_folder({}), run_message({}), read_parts({})) == (None, None, None)


def test_a_variable_of_ours_replaces_that_of_autoblocks() -> None:
    environ = {
        "SCOREGATE_FILTERS_TEST_SUITES": '["a*"]',
        "AUTOBLOCKS_FILTERS_TEST_SUITES": '["b"]',
        HASHES: '{"demo": ["x"]}',
        "AUTOBLOCKS_OVERRIDES_TESTS_AND_HASHES": '{"demo": ["y"]}',
    }
    found = read_selection(environ)
    assert (found.globs, found.substrings, found.hashes) == (("a*",), (), {"demo": ("x",)})
    theirs = read_selection({name: text for name, text in environ.items() if name.startswith("AUTOBLOCKS")})
    assert (theirs.globs, theirs.substrings, theirs.hashes) == ((), ("b",), {"demo": ("y",)})


def test_counts_are_whole_numbers_of_at_least_one() -> None:
    found = read_selection({"SCOREGATE_REPEATS": "3", "SCOREGATE_MAX_CASES": "1"})
    assert (found.repeats, found.max_cases) == (3, 1)
    for text in ("0", "-1", "1.5", "many", "²"):
        with pytest.raises(UsageError, match=f"SCOREGATE_REPEATS must be a whole number of at least 1, not '{text}'"):
            read_selection({"SCOREGATE_REPEATS": text})


def test_a_wrong_value_is_named() -> None:
    for name, text, message in (
        ("SCOREGATE_FILTERS_TEST_SUITES", "demo", "SCOREGATE_FILTERS_TEST_SUITES is not JSON"),
        ("SCOREGATE_FILTERS_TEST_SUITES", '"demo"', "must be a JSON list of strings, not '\"demo\"'"),
        ("AUTOBLOCKS_FILTERS_TEST_SUITES", '["a", 1]', "AUTOBLOCKS_FILTERS_TEST_SUITES must be a JSON list of strings"),
        (HASHES, "[1]", f"{HASHES} must be a JSON object of suite ids and lists of hashes, not '\\[1\\]'"),
        (HASHES, '{"demo": "a"}', "must be a JSON object of suite ids and lists of hashes"),
        (HASHES, '{"demo": ["a"], "other": 1}', "must be a JSON object of suite ids and lists of hashes"),
        ("AUTOBLOCKS_OVERRIDES_TESTS_AND_HASHES", "{", "AUTOBLOCKS_OVERRIDES_TESTS_AND_HASHES is not JSON"),
        ("SCOREGATE_SELECTION", "[1]", "SCOREGATE_SELECTION must be a JSON object, not '\\[1\\]'"),
        ("SCOREGATE_SELECTION", '{"keywords": "a"}', "SCOREGATE_SELECTION is not valid"),
        ("SCOREGATE_PARTS", "{}", "SCOREGATE_PARTS is not valid"),
        ("SCOREGATE_PARTS", "[1]", "SCOREGATE_PARTS is not valid"),
    ):
        with pytest.raises(UsageError, match=message):
            read_selection({name: text})


def test_a_choice_can_have_cases_that_run_first() -> None:
    found = read_selection({"SCOREGATE_SELECTION": choose(keyword="a", first={"demo": ["c", 1]})})
    assert (found.choice, found.first) == (CaseChoice(keyword="a"), {"demo": ("c", "1")})
    only_first = read_selection({"SCOREGATE_SELECTION": choose(first={"demo": ["c"]})})
    assert (only_first.choice, only_first.first) == (None, {"demo": ("c",)})
    named = read_selection({"SCOREGATE_SELECTION": choose(named=[["demo", "a"]])})
    assert named.choice == CaseChoice(named=(("demo", "a"),))


def test_a_suite_runs_if_every_variable_includes_it() -> None:
    for selection, included in (
        (Selection(), True),
        (Selection(globs=("d*",)), True),
        (Selection(globs=("x",)), False),
        (Selection(substrings=("x", "em")), True),
        (Selection(substrings=("x",)), False),
        (Selection(choice=CaseChoice(named=(("demo", ""),))), True),
        (Selection(choice=CaseChoice(named=(("other", ""),))), False),
        (Selection(parts=PartChoice(leave=("other",))), True),
        (Selection(parts=PartChoice(leave=("demo",))), False),
        (Selection(hashes={"demo": ()}), True),
        (Selection(hashes={"other": ()}), False),
    ):
        assert selection.includes("demo") is included, selection


def test_cases_are_selected_by_hash_choice_and_number() -> None:
    for selection, hashes in (
        ({}, "abcd"),
        ({"hashes": {"demo": ("b", "d", "gone")}}, "bd"),
        ({"hashes": {"demo": ()}}, "abcd"),
        ({"hashes": {"other": ("b",)}}, "abcd"),
        ({"choice": CaseChoice(keyword="name-b or vowel")}, "ab"),
        ({"choice": CaseChoice(keyword="demo")}, "abcd"),
        ({"choice": CaseChoice(keyword="b"), "hashes": {"demo": ("a",)}}, ""),
        ({"max_cases": 2}, "ab"),
        ({"first": {"demo": ("d", "c")}}, "cdab"),
        ({"first": {"demo": ("d",)}, "max_cases": 2}, "da"),
        ({"first": {"other": ("d",)}}, "abcd"),
    ):
        assert select(**selection) == hashes, selection
    assert len(select(choice=CaseChoice(sample=2, seed=1))) == 2


def test_a_case_that_cannot_be_described_is_chosen_by_its_hash() -> None:
    def fail(case: Case) -> Description:
        raise ValueError(case.hash)

    chosen = select_cases(CASES, "demo", Selection(choice=CaseChoice(keyword="b")), fail)
    assert [case.hash for case in chosen] == ["b"]


def test_variants_run_the_cases_that_are_selected_in_one_of_them() -> None:
    variants: list[Any] = [{"k": "small"}, {"k": "large"}]
    for keyword, taken, hashes in (
        ("small", variants[:1], "abcd"),
        ("small and name-b or large and name-c", variants, "bc"),
        ("demo", variants, "abcd"),
        ("nothing", variants, ""),
    ):
        suite = select_suite(make_suite(variants=variants), Selection(choice=CaseChoice(keyword=keyword)))
        assert (list(suite.variants), "".join(case.hash for case in suite.cases)) == (taken, hashes), keyword


def test_a_keyword_can_name_what_a_suite_runs_against() -> None:
    variants: list[Any] = [{"target": "small"}, {"target": "large"}]
    suite = select_suite(make_suite(variants=variants), Selection(choice=CaseChoice(keyword="large")))
    assert list(suite.variants) == variants[1:]


def test_a_partial_run_knows_the_number_of_all_trials() -> None:
    suite = make_suite([Case("a", 1, repeats=3), Case("b", 2)])
    assert select_suite(suite, Selection(hashes={"demo": ("b",)})).total is None
    chosen = select_suite(suite, Selection(choice=CaseChoice(keyword="name-b")))
    assert ([case.hash for case in chosen.cases], chosen.total) == (["b"], 4)


def test_a_suite_without_the_cases_that_were_asked_for_has_a_problem() -> None:
    missing = Selection(hashes={"demo": ("gone",)})
    (problem,) = select_suite(make_suite(), missing, "none of its cases is selected").problems
    assert problem == ErrorInfo("InvalidSuite", "suite 'demo': none of its cases is selected")
    assert select_suite(make_suite(), missing).problems == ()
    assert select_suite(make_suite([]), missing, "none").problems == ()
    assert select_suite(make_suite(), Selection(), "none").problems == ()
    nothing = Selection(choice=CaseChoice(keyword="nothing"))
    assert select_suite(make_suite(), nothing, "none").problems == (), "another suite may have them"


def test_a_suite_is_left_out_if_a_choice_takes_none_of_its_cases() -> None:
    nothing = Selection(choice=CaseChoice(keyword="nothing"))
    for suite, selection, left_out in (
        (make_suite([]), nothing, True),
        (make_suite([]), Selection(), False),
        (make_suite([]), Selection(choice=CaseChoice(sample=0)), False),  # it only reports how many it has
        (make_suite([], problems=(ErrorInfo("E", "x"),)), nothing, False),
        (make_suite(), nothing, False),
    ):
        assert selection.leaves_out(suite) is left_out


def test_the_title_of_the_host_comes_first() -> None:
    environ = {
        "SCOREGATE_TEST_RUN_MESSAGE": "host",
        "AUTOBLOCKS_OVERRIDES": '{"testRunMessage": "overrides"}',
        "AUTOBLOCKS_TEST_RUN_MESSAGE": "legacy",
    }
    for title in ("host", "overrides", "legacy"):
        assert run_message(environ) == title
        del environ[next(iter(environ))]
    assert run_message(environ) is None


def test_a_shard_takes_its_parts() -> None:
    text = json.dumps({"take": {"demo": [[1, 3], 4]}, "leave": ["other"], "others": False})
    assert read_parts({"SCOREGATE_PARTS": text}) == PartChoice({"demo": ((1, 3), 4)}, ("other",), others=False)
