"""Rules, limits and settings as data, and the types of settings."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pydantic import TypeAdapter, ValidationError

from scoregate.kernel.types.declarations import fields, kernel
from scoregate.kernel.types.declarations.declaration import (
    RATE,
    TEXTS,
    ExtraTrials,
    Feature,
    Limit,
    Owner,
    Rule,
    RunFacts,
    Setting,
    choose_from,
    insert_names,
)
from scoregate.kernel.types.declarations.fields import (
    BaselineKind,
    absolute_cache,
    as_tuple,
    check_distinct_names,
    check_inputs,
    parse_baseline_kind,
)
from scoregate.kernel.types.runs.policy import Limits, Policy, Severity
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd
from scoregate.kernel.types.slots import PRINTED_AT, Place, Section, Slot, Slots, UnwatchedDrop, check_parts

FIXED = {
    "something ran", "run complete", "stopped early", "scripts end well", "scripts run suites", "base present",
    "base readable", "policy available", "filters match", "suite is valid", "suite finished", "cases ran",
    "assert_test",
}  # fmt: skip
RELATIVE = {
    "max_drop", "fail_on_regression", "fail_on_critical", "max_cost_ratio", "max_tokens_ratio", "max_p95_ratio",
}  # fmt: skip


def test_settings_can_relax_only_some_rules() -> None:
    assert {rule.name for rule in kernel.RULES if rule.is_fixed} == FIXED
    assert {rule.name: rule.severity for rule in kernel.RULES if rule.severity is not Severity.FAIL} == {
        "judge agreement": Severity.WARN,
        "same model": Severity.OFF,
    }
    assert {rule.name: rule.drop_from for rule in kernel.RULES if rule.drop_from} == {
        "drop": "base",
        "regression": "base",
    }


def test_every_rule_and_limit_of_the_kernel_is_listed_once() -> None:
    for kind, listed in ((Rule, kernel.RULES), (Limit, kernel.LIMITS)):
        declared = [each for each in vars(kernel).values() if isinstance(each, kind)]
        assert len(listed) == len(declared)
        assert {each.name for each in listed} == {each.name for each in declared}


def test_some_limits_need_a_baseline_and_some_are_enough_for_a_gate() -> None:
    assert {limit.name for limit in kernel.LIMITS if limit.is_relative} == RELATIVE
    assert {limit.name for limit in kernel.LIMITS if limit.is_enough} == {"max_cost", "max_tokens", "max_p95_ms"}


def test_the_titles_of_a_rule() -> None:
    for rule, titles in (
        (Rule("a rule"), ("A rule", "A rule")),
        (Rule("a rule", "Failed"), ("Failed", "Failed")),
        (Rule("a rule", "Failed", "Passed"), ("Failed", "Passed")),
        (Rule("a rule", passed="Passed"), ("A rule", "Passed")),
    ):
        assert rule.titles == titles
    rule = Rule("a bad rule")
    assert (rule.key, rule.is_fixed, rule.severity) == ("a_bad_rule", False, Severity.FAIL)
    assert rule.severity_in(Limits(severity={"a_bad_rule": Severity.OFF})) is Severity.OFF
    assert rule.severity_in(Limits(severity={"a bad rule": Severity.OFF})) is Severity.FAIL


def test_a_limit_is_read_from_the_limits_of_a_suite() -> None:
    rate, own = Limit("min_pass_rate", RATE), Limit("own", TEXTS)
    assert (rate.of(Limits()), rate.of(Limits(min_pass_rate=0.0))) == (None, 0.0)
    assert [rate.is_set(each) for each in (Limits(), Limits(min_pass_rate=0.0))] == [False, True]
    assert (own.of(Limits()), own.of(Limits(more={"own": cast("Any", ("a",))}))) == ((), ("a",))
    assert rate.is_set_for_any(Policy(Limits(), {"s": Limits(min_pass_rate=0.5)}))
    assert not rate.is_set_for_any(Policy(Limits()))
    assert (rate.is_relative, rate.is_enough) == (False, False)


def test_a_setting_is_read_from_the_settings() -> None:
    setting = Setting("depth", RATE, 0.5, "text", "group")
    assert (setting.of(SimpleNamespace(depth=1)), setting.owner) == (1, Owner.BASE)
    assert [setting.is_set(SimpleNamespace(depth=each)) for each in (0.5, 1)] == [False, True]


class Color(StrEnum):
    RED = "red"


def test_a_kind_may_have_choices() -> None:
    assert (choose_from(Color).choices, choose_from(Color).is_list, choose_from(Color).unset) == (Color, False, None)
    assert choose_from(Color, is_list=True).is_list
    assert TEXTS.is_list
    assert not RATE.is_list


@pytest.mark.parametrize(
    ("inserted", "names"),
    [
        ([], ["a", "b"]),
        ([("c", "a")], ["a", "c", "b"]),
        ([("c", "a"), ("d", "a")], ["a", "c", "d", "b"]),
        ([("c", "a"), ("d", "c")], ["a", "c", "d", "b"]),
        ([("d", "c"), ("c", "b")], ["a", "b", "c", "d"]),
        ([("c", ""), ("d", "a")], ["a", "d", "b", "c"]),
        ([("c", "x"), ("d", "c")], ["a", "b", "c", "d"]),
    ],
)
def test_names_are_inserted_after_others(inserted: list[tuple[str, str]], names: list[str]) -> None:
    assert insert_names(["a", "b"], inserted) == names


def test_a_feature_is_on_and_adds_nothing_by_default() -> None:
    feature, facts = Feature("f"), RunFacts(SimpleNamespace(policy=Policy))
    assert (feature.is_on(facts), feature.in_runs) == (True, True)
    assert (feature.hides_keys(None), feature.replays_calls(None)) == (False, False)
    trials = ExtraTrials()
    assert (trials.note(None), trials.most(None), trials.needs_base(None)) == ("", 0.0, False)
    assert (facts.in_job, facts.merges_shards, facts.policies) == (False, False, (Policy(),))
    other = Policy(require_baseline=True)
    assert RunFacts(SimpleNamespace(policy=Policy), policy=other).policies == (Policy(), other)


def test_slots_are_found_in_what_was_asked_and_in_the_runs() -> None:
    run = Run("r", 0, RunEnd(0), RunCode("1"), slots=Slots({"b": 1}))
    facts = RunFacts(None, slots=Slots({"a": 1}), runs=(run,))
    assert [facts.has_slot(*names) for names in (("a",), ("b",), ("c",), ("c", "b"), ())] == [
        True, True, False, True, False,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        *((kind.value, kind) for kind in BaselineKind if kind is not BaselineKind.FILE),
        ("rerun:main", BaselineKind.RERUN),
        ("auto:x", BaselineKind.FILE),
        ("file", BaselineKind.FILE),
        ("runs/last", BaselineKind.FILE),
        ("", BaselineKind.FILE),
        ("auto:", BaselineKind.AUTO),
    ],
)
def test_a_baseline_is_a_keyword_or_a_path(text: str, kind: BaselineKind) -> None:
    assert parse_baseline_kind(text) is kind


@pytest.mark.parametrize(
    ("name", "valid", "invalid"),
    [
        ("Number", [0, -1.5], [True, "x", float("inf")]),
        ("Rate", [0, 1, 0.5], [-0.001, 1.001, False]),
        ("Confidence", [0.5, 0.999], [0.499, 1]),
        ("Count", [1, 2], [0, True, 1.5]),
        ("NonNegativeInt", [0, 1], [-1, False]),
        ("Seconds", [0.001], [0, -1, True]),
        ("Amount", [0, 0.5], [-0.001, True]),
        ("Factor", [0.001], [0, -1, True]),
        ("BaseRuns", [1, 20], [0, 21, True]),
        ("Text", ["a"], ["", 5]),
        ("Texts", ["a", ("a", "b"), []], [[""], 5]),
        ("Repeats", ["auto", 1], ["other", 0, True]),
        ("ByEvaluator", [0.5, {"a": 1}], [2, True, {"a": 2}]),
        ("Comment", ["always", "off", False, "false"], ["never", True]),
        ("ApprovedText", ["7@" + "0a" * 20], ["0@" + "0a" * 20, "7@" + "0a" * 19, "x", "7@" + "0A" * 20]),
        ("ClusterText", ["document"], ["tags", ""]),
    ],
)
def test_types_of_settings_have_limits(name: str, valid: list[Any], invalid: list[Any]) -> None:
    adapter = TypeAdapter[Any](getattr(fields, name))
    for value in valid:
        adapter.validate_python(value)
    for value in invalid:
        with pytest.raises(ValidationError):
            adapter.validate_python(value)


def test_single_values_become_tables_and_lists() -> None:
    assert TypeAdapter[Any](fields.ByEvaluator).validate_python("0.5") == {"*": 0.5}
    assert TypeAdapter[Any](fields.Comment).validate_python(False) == "off"
    assert (as_tuple("a"), as_tuple(["a"])) == (("a",), ["a"])


def test_globs_stay_in_the_project() -> None:
    assert check_inputs(("a/**", "x" * 500, "..a")) == ("a/**", "x" * 500, "..a")
    for value in ("/a", "../a", "a/../b", "x" * 501):
        with pytest.raises(ValueError, match="must be a glob of files in the project"):
            check_inputs((value,))


def test_tables_have_different_names() -> None:
    tables = tuple(SimpleNamespace(name=name) for name in "abcab")
    with pytest.raises(ValueError, match=r"must have different names; a, b is used twice"):
        check_distinct_names(tables)
    assert check_distinct_names(tables[:3]) == tables[:3]


@pytest.mark.parametrize(
    ("cache", "path"),
    [
        ("on", "on:/p/.scoregate-cache"),
        ("off", "off:/p/.scoregate-cache"),
        ("readonly:a/b", "readonly:/p/a/b"),
        ("refresh:/x", "refresh:/x"),
        ("folder", "on:/p/folder"),
        ("a:b", "on:/p/a:b"),
    ],
)
def test_the_folder_of_a_cache_is_made_absolute(cache: str, path: str) -> None:
    assert absolute_cache(Path("/p"), cache) == path


def test_a_misspelt_mode_of_a_cache_is_refused() -> None:
    adapter = TypeAdapter[str](fields.Cache)
    for value in ("on", "off:x", "readonly", "refresh", "./refreh", "folder", "true/x"):
        assert adapter.validate_python(value) == value
    for value, mode in (
        ("true", "on"), ("Yes", "on"), ("false", "off"), ("no", "off"), ("none", "off"), ("0", "off"), ("ON", "on"),
        ("disabled", "off"), ("read-only", "readonly"), ("refreh:x", "refresh"),
    ):  # fmt: skip
        with pytest.raises(ValidationError, match=f"did you mean {mode}\\?"):
            adapter.validate_python(value)
    with pytest.raises(ValidationError):
        adapter.validate_python("")


def test_a_section_has_only_parts_that_are_printed_at_its_place() -> None:
    values: dict[str, Any] = {"sentences": ("a",), "comment": "a", "page": "a", "terminal": lambda *_: ()}
    for part, places in PRINTED_AT.items():
        for place in Place:
            section = Section("f", place, **{part: values[part]})
            if place in places:
                assert check_parts(section) is section
            else:
                with pytest.raises(
                    ValueError, match=f"the section of f has `{part}`, which no report prints at {place}"
                ):
                    check_parts(section)
    assert not Section("f", Place.END).wants_comment
    assert not UnwatchedDrop("s").is_warned
    assert PRINTED_AT["sentences"] == tuple(
        Place(each) for each in ("verdict", "baseline", "rows", "parts", "costs", "end")
    )
    assert Place.CASES not in PRINTED_AT["page"]
    assert PRINTED_AT["comment"] == PRINTED_AT["terminal"] == (
        Place.GATES, Place.ROWS, Place.RANKINGS, Place.PARTS, Place.CASES, Place.COSTS,
    )  # fmt: skip
    assert (*PRINTED_AT["page"][:4], Place.CASES, *PRINTED_AT["page"][4:]) == PRINTED_AT["comment"]


def test_slots_keep_what_is_stored_until_it_is_asked_for() -> None:
    number, never = Slot[int]("n", int), Slot[int]("m")
    slots = Slots({"n": 5, "other": [1], "gone": None})
    assert (slots.get(number), slots.get(never), slots.get(Slot("x", int))) == (5, None, None)
    assert dict(slots.to_stored()) == {"n": 5, "other": [1]}
    changed = slots.put(number, 6).put(never, 7)
    assert (changed.get(number), changed.get(never), slots.get(number)) == (6, 7, 5)
    assert dict(changed.to_stored()) == {"n": 6, "other": [1]}
    assert ["n" in changed, "m" in changed, "x" in changed, "m" in slots] == [True, True, False, False]
    removed = changed.put(number, None).put(never, None)
    assert (removed.get(number), dict(removed.to_stored()), "m" in removed) == (None, {"other": [1]}, False)
    assert dict(changed.select([number]).to_stored()) == {"n": 6}
    assert (Slots({"n": 5}) == Slots({"n": 5}), Slots({"n": 5}) == Slots({"n": 6}), Slots() == {}) == (
        True,
        False,
        False,
    )
    assert Slots().put(number, 1) != Slots()
    assert hash(Slots({"n": 5})) == hash(Slots({"n": 6}))
    assert repr(Slots({"n": 5})) == "Slots({'n': 5})"
