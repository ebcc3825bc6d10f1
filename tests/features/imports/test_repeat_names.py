"""Which trials of a file belong to one case."""

from __future__ import annotations

from scoregate.features.imports.common import Trial
from scoregate.features.imports.repeats import RepeatNames, Repeats
from scoregate.features.imports.suites import CaseKeys


def strip(*names: str) -> list[str]:
    stems = RepeatNames(names)
    return [stems.stem(name) for name in names]


def test_numbers_are_repeats_if_each_test_has_all_of_them() -> None:
    assert strip("test_a[1-2]", "test_a[2-2]") == ["test_a", "test_a"]
    assert strip("test_a[2-3]", "test_a[1-3]", "test_a[3-3]") == ["test_a"] * 3
    assert strip("test_a[x-1-2]", "test_a[x-2-2]", "test_b[1-2]", "test_b[2-2]") == ["test_a[x]"] * 2 + ["test_b"] * 2
    assert strip("a\nb[1-2]", "a\nb[2-2]") == ["a\nb", "a\nb"]


def test_other_numbers_are_parameters() -> None:
    for names in (
        ["test_a[1-2]"],
        ["test_a[2-2]", "test_a[3-2]"],
        ["test_a[1-2]", "test_a[2-2]", "test_a[3-2]"],
        ["test_a[1-2]", "test_a[2-2]", "test_b[1-3]", "test_b[2-3]", "test_b[3-3]"],
        ["test_a[1-2]", "test_a[2-2]", "test_b"],
        ["test_a[1-2]", "test_a[2-2]", "test_b[1-2]"],
        ["test_a[0-2]", "test_a[1-2]", "test_a[2-2]"],
        ["test_a[1-1]", "test_b[1-1]"],
        ["test_a[1-2] x", "test_a[2-2] x"],
        ["test_a[1-000002]", "test_a[2-000002]"],
        ["test_a"],
        [],
    ):
        assert strip(*names) == names


def test_other_names_keep_a_suffix_that_looks_like_a_repeat() -> None:
    stems = RepeatNames(["test_a[1-2]", "test_a[2-2]"])
    assert (stems.stem("test_c"), stems.stem("test_c[9-2]")) == ("test_c", "test_c")


def test_equal_trials_of_one_run_are_repeats() -> None:
    repeats = Repeats()
    repeats.start_run()
    one, other = Trial("a", definition=1), Trial("a", definition=2)
    assert [repeats.place(each, "a") for each in (one, one, other, one)] == [("a", 0), ("a", 1), ("a #2", 0), ("a", 2)]
    assert repeats.place(one, "b") == ("b", 0)


def test_the_same_trial_in_another_run_is_another_case() -> None:
    repeats = Repeats()
    trial = Trial("a", definition=1)
    repeats.start_run()
    assert [repeats.place(trial, "a") for _ in range(2)] == [("a", 0), ("a", 1)]
    repeats.start_run()
    assert [repeats.place(trial, "a") for _ in range(2)] == [("a #2", 0), ("a #2", 1)]
    repeats.start_run()
    assert repeats.place(trial, "a") == ("a #3", 0)
    assert repeats.place(Trial("b", definition=1), "b") == ("b", 0)


def test_a_key_is_extended_until_no_other_case_has_it() -> None:
    plain, other = Trial("a", input="x", definition="x"), Trial("b", input="x", definition="x")
    assert CaseKeys.of([plain, other]).choose(plain) == "a"
    # Equal names with other definitions.
    first, second = Trial("a", input="x", definition="x"), Trial("a", input="y", definition="y")
    keys = CaseKeys.of([first, second])
    chosen = [keys.choose(each) for each in (first, second)]
    assert [each[:2] for each in chosen] == ["a ", "a "]
    assert len({*chosen}) == 2
    assert all(len(each) == len("a ") + 8 for each in chosen)
    # Equal in all but their own ids.
    third, fourth = (Trial("", input="x", definition="x", own=own) for own in "12")
    keys = CaseKeys.of([third, fourth])
    assert [keys.choose(each)[-2:] for each in (third, fourth)] == [" 1", " 2"]
    # Repeats of one case share its key, and positions of other runs are other cases anyway.
    keys = CaseKeys.of([Trial("a", definition="x", repeat=repeat) for repeat in range(2)])
    assert keys.choose(plain) == "a"
    runs = CaseKeys()
    for run, own in enumerate("12"):
        runs.add(Trial("", input="x", definition="x", own=own), run)
    assert runs.choose(third) == CaseKeys.of([third]).choose(third)


def test_a_case_without_a_name_is_its_input_or_its_definition() -> None:
    by_input, by_definition = Trial("", input="x", definition="x"), Trial("", definition="x")
    assert CaseKeys.of([by_input]).choose(by_input) == CaseKeys.of([by_definition]).choose(by_definition)
    assert CaseKeys().choose(Trial("", own=None)) == ""
