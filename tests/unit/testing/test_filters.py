"""The environment selects suites and cases: by our globs, or by the filters of Autoblocks' own host."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.testing.builders import cases, echo, run

from scoregate.errors import UsageError
from scoregate.kernel.types.runs.run import SuiteResult
from scoregate.testing.run import run_test_suite

OURS, THEIRS = "SCOREGATE_FILTERS_TEST_SUITES", "AUTOBLOCKS_FILTERS_TEST_SUITES"
HASHES = "OVERRIDES_TESTS_AND_HASHES"


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Any:
    def setenv(name: str, value: object) -> None:
        monkeypatch.setenv(name, value if isinstance(value, str) else json.dumps(value))

    return setenv


def ran(suite: str) -> bool:
    return not run_test_suite(suite, cases(2), echo, []).skipped


def hashes(result: SuiteResult) -> list[str]:
    return sorted(case.hash for case in result.cases)


@pytest.mark.parametrize(
    ("globs", "suite", "expected"),
    [
        (["support-*"], "support-bot", True),
        (["support"], "support-bot", False),
        (["*bot"], "support-bot", True),
        (["router", "support-bot"], "support-bot", True),
        (["Support-bot"], "support-bot", False),
        ([], "support-bot", True),
        ("", "support-bot", True),
    ],
)
def test_our_filter_matches_ids_by_glob(ask: Any, globs: Any, suite: str, expected: bool) -> None:
    ask(OURS, globs)
    assert ran(suite) is expected


@pytest.mark.parametrize(
    ("parts", "expected"),
    [(["port"], True), (["PORT"], False), (["x", "bot"], True), (["support-*"], False), ([], True)],
)
def test_their_filter_matches_parts(ask: Any, parts: list[str], expected: bool) -> None:
    ask(THEIRS, parts)
    assert ran("support-bot") is expected


def test_ours_wins_over_theirs(ask: Any) -> None:
    ask(OURS, ["a*"])
    ask(THEIRS, ["b"])
    assert (ran("abc"), ran("b"), ran("axx")) == (True, False, True)


def test_a_skipped_suite_calls_and_logs_nothing(ask: Any, events: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ask(OURS, ["other"])
    calls: list[Any] = []
    result = run(calls.append, assert_test=True)
    assert (calls, list(events.iterdir()), capsys.readouterr().out) == ([], [], "")
    assert result.skipped
    assert result.passed


@pytest.mark.parametrize("prefix", ["SCOREGATE", "AUTOBLOCKS"])
@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({"demo": ["0", "2"]}, ["0", "2"]),
        ({"demo": []}, ["0", "1", "2"]),
        ({"demo": ["2"], "other": ["0"]}, ["2"]),
        ({"demo": ["gone", "1"]}, ["1"]),
        ({}, ["0", "1", "2"]),
    ],
)
def test_cases_are_chosen_by_hash(ask: Any, prefix: str, chosen: dict[str, list[str]], expected: list[str]) -> None:
    ask(f"{prefix}_{HASHES}", chosen)
    assert hashes(run(test_cases=cases(3))) == expected


def test_a_suite_without_hashes_is_skipped(ask: Any) -> None:
    ask(f"SCOREGATE_{HASHES}", {"other": []})
    assert run().skipped


def test_unknown_hashes_are_an_error(ask: Any) -> None:
    ask(f"SCOREGATE_{HASHES}", {"demo": ["gone"]})
    result = run()
    assert not result.passed
    assert [error.message for error in result.errors] == [
        "suite 'demo': none of its test cases has a hash that was asked for"
    ]


@pytest.mark.parametrize(("most", "expected"), [("1", ["0"]), ("2", ["0", "1"]), ("9", ["0", "1", "2"])])
def test_cases_are_limited(ask: Any, most: str, expected: list[str]) -> None:
    ask("SCOREGATE_MAX_CASES", most)
    assert hashes(run(test_cases=cases(3))) == expected


def test_the_limit_counts_chosen_cases(ask: Any) -> None:
    ask("SCOREGATE_MAX_CASES", "1")
    ask(f"SCOREGATE_{HASHES}", {"demo": ["2", "1"]})
    assert hashes(run(test_cases=cases(3))) == ["1"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (OURS, "support"),
        (OURS, '"support"'),
        (OURS, "[1]"),
        (THEIRS, "{}"),
        (f"SCOREGATE_{HASHES}", "[]"),
        (f"AUTOBLOCKS_{HASHES}", '{"demo": "0"}'),
        ("SCOREGATE_MAX_CASES", "0"),
        ("SCOREGATE_MAX_CASES", "many"),
        ("SCOREGATE_REPEATS", "-1"),
        ("SCOREGATE_REPEATS", "²"),
    ],
)
def test_an_invalid_variable_is_named(ask: Any, name: str, value: str) -> None:
    ask(name, value)
    with pytest.raises(UsageError, match=name):
        run()
