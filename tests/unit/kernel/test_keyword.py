"""Expressions of -k, and the choice of cases."""

from __future__ import annotations

import random

import pytest

from scoregate.errors import UsageError
from scoregate.kernel.types.selection import CaseChoice, CaseLabels, parse_keywords

NAMES = ("hours", "Opening on Monday", "case[1-a]", "week")


def test_expressions_match_as_in_pytest() -> None:
    expected = {
        "hours": True,
        "MONDAY": True,
        "hours and week": True,
        "hours and not week": False,
        "nope or week": True,
        "nope or week and nope": False,
        "(nope or week) and hours": True,
        "not (nope or week)": False,
        "not not week": True,
        "case[1-a]": True,
        "'opening on'": True,
        '"not" or "monday"': True,
        "'and'": False,
        "notes": False,
        "order": False,
    }
    assert {text: parse_keywords(text)(NAMES) for text in expected} == expected


def test_invalid_and_hostile_expressions_are_refused() -> None:
    texts = ["and", "a and", "a b", "(a", "a)", "not", "()", "'a", "''", "", "a or or b", "(" * 500 + "a" + ")" * 500]
    texts += ["not " * 400 + "a", "a or " * 1_000 + "a"]
    for text in texts:
        with pytest.raises(UsageError, match="-k"):
            parse_keywords(text)


def test_the_error_for_a_name_without_quotes_says_how_to_write_it() -> None:
    with pytest.raises(UsageError, match=r"""needs quotes of its own: -k '"opening night"'"""):
        parse_keywords("bot [task=small]")
    assert parse_keywords("'bot [task=small]'")(("bot [task=small]",))


def test_random_expressions_mean_the_same_in_python() -> None:
    chosen = random.Random(3)

    def make(depth: int) -> str:
        kind = chosen.randrange(4) if depth else 0
        if kind == 0:
            return chosen.choice(["aa", "bb", "cc"])
        if kind == 1:
            return f"not {make(depth - 1)}"
        return f"({make(depth - 1)} {('and', 'or')[kind - 2]} {make(depth - 1)})"

    for _ in range(300):
        text = make(4)
        names = [word for word in ("aa", "bb", "cc") if chosen.random() < 0.5]
        values = {word: word in names for word in ("aa", "bb", "cc")}
        assert parse_keywords(text)(names) is bool(eval(text, {}, values)), text


def test_a_sample_is_stratified_stable_and_repeatable() -> None:
    cases = [CaseLabels(f"c{number}", tags=("rare",) if number % 10 == 0 else ()) for number in range(100)]
    sample = CaseChoice(sample=20, seed=7).draw_sample(cases)
    assert len(sample) == 20
    assert sum(case.hash in sample for case in cases if case.tags) == 2
    assert sample == CaseChoice(sample=20, seed=7).draw_sample(list(reversed(cases)))
    assert sample != CaseChoice(sample=20, seed=8).draw_sample(cases)
    assert len(sample - CaseChoice(sample=20, seed=7).draw_sample([*cases, CaseLabels("new")])) <= 1
    assert CaseChoice(sample=200).draw_sample(cases) == {case.hash for case in cases}
    for number in range(1, 30):
        assert len(CaseChoice(sample=number).draw_sample(cases)) == number


def test_named_cases_are_found_by_hash_or_name() -> None:
    choice = CaseChoice(named=(("one", ""), ("two", "h1"), ("two", "second")))
    taken = [
        (suite, case.hash)
        for suite in ("one", "two", "three")
        for case in (CaseLabels("h1", "first"), CaseLabels("h2", "second"), CaseLabels("h3", "third"))
        if choice.takes_case(suite, case)
    ]
    assert taken == [("one", "h1"), ("one", "h2"), ("one", "h3"), ("two", "h1"), ("two", "h2")]
    assert not choice.takes_suite("three")
