"""Tests become cases: with scores, outcomes and identities; plain pytest stays plain."""

from __future__ import annotations

import json

from tests.integration.pytest_plugin.conftest import Bench

OUTCOMES = """
import pytest

@pytest.mark.scoregate(suite="hours", repeats=2)
@pytest.mark.parametrize("question", ["When do you open?", "Until when?"])
def test_answer(scoregate, question):
    scoregate.case(expected="9")
    scoregate.output("At nine.")
    scoregate.score("polite", 0.8, threshold=0.5, reason="it says please")
    assert question

def test_low(scoregate):
    scoregate.score("polite", 0.2, threshold=0.5, reason="it is rude")
    scoregate.score("short", True)

def test_assertion(scoregate):
    scoregate.score("short", 0.1, threshold=0.5)
    assert "9" in "at ten"

@pytest.mark.scoregate
def test_exception():
    raise ConnectionError("no network")

@pytest.fixture
def database():
    raise RuntimeError("no database")

def test_setup(scoregate, database): ...

@pytest.fixture
def server():
    yield
    raise RuntimeError("it does not stop")

def test_teardown(scoregate, server): ...

@pytest.mark.skip(reason="later")
def test_skipped(scoregate): ...

@pytest.mark.xfail(reason="known")
def test_expected(scoregate):
    scoregate.score("polite", 0.1, threshold=0.5)
    assert False

@pytest.mark.xfail(reason="known", strict=True)
def test_strict(scoregate): ...

def test_ordinary(): ...
"""


def test_every_outcome_is_recorded(bench: Bench) -> None:
    bench.write(OUTCOMES)
    outcome = bench.run()
    assert (outcome.code, sorted(outcome.suites)) == (1, ["hours", "test_bot"]), outcome.output
    assert all(suite.complete and not suite.errors for suite in outcome.suites.values())
    hours = outcome.suites["hours"]
    assert (hours.planned, len(hours.columns), hours.columns.case_count) == (4, 4, 2)
    case = outcome.cases["test_answer[Until when?]", 1]
    assert case.input == {"input": {"question": "Until when?"}, "expected": "9"}
    assert (case.output, case.scores) == ("At nine.", {"passed": 1.0, "polite": 0.8})
    assert case.reasons == {"polite": "it says please"}
    assert case.origin is not None
    assert (case.origin.file, case.origin.line) == ("test_bot.py", 4)
    assert outcome.statuses() == {
        "test_answer[When do you open?]": "passed",
        "test_answer[Until when?]": "passed",
        "test_low": "failed",
        "test_assertion": "failed",
        "test_exception": "errored",
        "test_setup": "errored",
        "test_teardown": "errored",
        "test_skipped": "unscored",
        "test_expected": "scored",
        "test_strict": "failed",
    }
    assert outcome.cases["test_low", 0].scores == {"passed": 1.0, "polite": 0.2, "short": 1.0}
    assert outcome.cases["test_assertion", 0].reasons["passed"].startswith("assert '9' in 'at ten'")
    assert outcome.cases["test_skipped", 0].tags == ("skipped",)
    assert outcome.cases["test_expected", 0].tags == ("xfail",)
    [error] = outcome.cases["test_exception", 0].errors
    assert (error.error.type, error.error.message) == ("ConnectionError", "no network")
    assert "pluggy" not in error.error.traceback
    assert outcome.tests_failed, "every failure is in the record"


def test_plain_pytest_fails_low_scores_and_records_nothing(bench: Bench) -> None:
    bench.write(OUTCOMES)
    plain = bench.run(record=False)
    assert (plain.code, plain.suites) == (1, {})
    assert "4 failed, 4 passed, 1 skipped, 1 xfailed, 2 errors" in plain.output, "each test runs once"
    assert "polite 0.2, required: ≥ 0.5 (it is rude)" in plain.output
    assert "short 0.1, required: ≥ 0.5" in plain.output, "next to the failed assertion"
    assert "eval_case.py" not in plain.output
    collected = bench.run("--collect-only")
    assert (collected.code, collected.suites) == (0, {})
    assert bench.run("--fixtures").suites == {}


def test_an_inserted_row_leaves_the_other_cases_as_they_are(bench: Bench) -> None:
    source = """
import pytest
class Plain: ...
@pytest.mark.parametrize("row", [{rows}])
def test_rows(scoregate, row): ...
@pytest.mark.parametrize("text", [{texts}])
def test_texts(scoregate, text): ...
@pytest.mark.parametrize("number, row", [{pairs}], ids=[{ids}])
def test_ids(scoregate, number, row): ...
@pytest.mark.parametrize("made", [Plain(), Plain()])
def test_made(scoregate, made): ...
"""

    def cases(*words: str) -> set[str]:
        rows = ", ".join(f"{{'q': '{word}'}}" for word in words)
        pairs = ", ".join(f"(1, ['{word}'])" for word in words)
        ids = ", ".join(f"'case{number}'" for number, _ in enumerate(words))
        texts = ", ".join(map(repr, words))
        bench.write(source.format(rows=rows, texts=texts, pairs=pairs, ids=ids))
        outcome = bench.run()
        assert outcome.code == 0, outcome.output
        assert outcome.suites["test_bot"].columns.case_count == 3 * len(words) + 2
        return {name for name, _ in outcome.cases}

    before, after = cases("b", "c"), cases("a", "b", "c")
    assert before < after
    assert len(after - before) == 3
    assert {"test_texts[a]", "test_made[made0]"} <= after


def test_hostile_names_and_values_are_cut(bench: Bench) -> None:
    bench.write("""
import pytest
deep = []
for _ in range(300):
    deep = [deep]

long, odd = pytest.param(1, id="y" * 10_000), pytest.param(2, id="\\ud800")
@pytest.mark.parametrize("p", ["x" * 10_000, "a\\nb::c", long, odd])
def test_it(scoregate, p): ...

def test_big(scoregate):
    scoregate.output("z" * 9_000_000)

def test_deep(scoregate):
    scoregate.output(deep)

def test_object(scoregate):
    scoregate.output(object())
    scoregate.case(input={1, 2})
""")
    outcome = bench.run()
    assert outcome.code == 0, outcome.output
    assert len(outcome.cases) == 7
    assert all(len(name) <= 200 and name.isprintable() for name, _ in outcome.cases)
    assert outcome.cases["test_big", 0].truncated
    assert outcome.cases["test_object", 0].output == "<object>"
    statuses = outcome.statuses()
    assert {name for name, status in statuses.items() if status != "passed"} == {"test_deep"}
    assert statuses["test_deep"] == "errored"


def test_wrong_marks_and_equal_cases_are_errors(bench: Bench) -> None:
    invalid = {
        'suit="x"': "takes suite=…, repeats=…, tags=… and cluster=…, not suit=…",
        "tags=[1]": "tags must be a list of texts, not [1]",
        "cluster=5": "cluster must be a text, not 5",
        "repeats=0": "repeats must be a whole number from 1 to 1,000, not 0",
        'suite="a\\nb"': "suite must be a text",
    }
    for number, mark in enumerate(invalid):
        bench.write(f"import pytest\n@pytest.mark.scoregate({mark})\ndef test_it(): ...\n", f"test_{number}.py")
    outcome = bench.run()
    assert (outcome.code, outcome.suites) == (2, {})
    assert [message for message in invalid.values() if message not in outcome.output] == []
    for name in ("test_a.py", "test_b.py"):
        bench.write("import pytest\n@pytest.mark.scoregate(suite='s')\ndef test_it(): ...\n", name)
    outcome = bench.run("test_a.py", "test_b.py")
    [*errors] = outcome.suites["s"].errors
    assert any("test_a.py::test_it and test_b.py::test_it are one case" in error.message for error in errors)


def test_marks_give_tags_and_a_cluster(bench: Bench) -> None:
    bench.write("""
import pytest
pytestmark = pytest.mark.scoregate(tags="slow", cluster="all")

@pytest.mark.scoregate(tags=["critical", "slow"], cluster="policy.md")
def test_own(): ...

@pytest.mark.scoregate(tags=("critical",))
@pytest.mark.skip
def test_skipped(): ...
""")
    outcome = bench.run()
    assert {name: (case.tags, case.cluster) for (name, _), case in outcome.cases.items()} == {
        "test_own": (("critical", "slow"), "policy.md"),
        "test_skipped": (("critical", "slow", "skipped"), "all"),
    }
    selected = bench.run(SCOREGATE_SELECTION='{"keyword": "critical and not skipped and own"}')
    assert [name for name, _ in selected.cases] == ["test_own"]


def test_another_fixture_of_this_name_is_not_recorded(bench: Bench) -> None:
    bench.write(
        "import pytest\n@pytest.fixture\ndef scoregate(): return 3\ndef test_it(scoregate): assert scoregate == 3\n"
    )
    outcome = bench.run()
    assert (outcome.code, outcome.suites) == (0, {})


def test_failures_outside_of_the_record_are_not_explained(bench: Bench) -> None:
    recorded = "def test_bad(scoregate): assert 0\n"
    bench.write(recorded + "def test_other(): assert 0\n")
    outcome = bench.run()
    assert (outcome.code, outcome.tests_failed) == (1, False)
    bench.write(recorded)
    bench.write("import nothing_of_this_name\n", "test_broken.py")
    outcome = bench.run("--continue-on-collection-errors")
    assert (outcome.code, outcome.tests_failed) == (1, False)


def test_tests_that_do_not_run_leave_the_suite_incomplete(bench: Bench) -> None:
    bench.write("def test_a(scoregate): assert 0\ndef test_b(scoregate): ...\n")
    suite = bench.run("-x").suites["test_bot"]
    assert not suite.complete
    assert [error.message for error in suite.errors] == ["1 test of 2 did not run, such as test_bot.py::test_b"]
    bench.write("import os\ndef test_a(scoregate): ...\ndef test_b(scoregate): os._exit(0)\n")
    outcome = bench.run()
    assert (outcome.code, outcome.suites["test_bot"].complete) == (0, False)


def test_a_host_selects_cases_and_repeats_them(bench: Bench) -> None:
    bench.write("""
import pytest
pytestmark = pytest.mark.scoregate(suite="numbers")

@pytest.mark.parametrize("n", range(4))
def test_n(n): ...

@pytest.mark.scoregate(repeats=3)
def test_own(): ...
""")
    cases = {"numbers": ["test_n[2]", "test_own"]}
    outcome = bench.run(SCOREGATE_OVERRIDES_TESTS_AND_HASHES=json.dumps(cases), SCOREGATE_REPEATS="2")
    assert (outcome.code, sorted(outcome.cases)) == (
        0,
        [("test_n[2]", 0), ("test_n[2]", 1), *(("test_own", n) for n in range(3))],
    )
    assert outcome.suites["numbers"].complete
    sample = bench.run(SCOREGATE_SELECTION='{"sample": 2, "seed": 1, "first": {"numbers": ["test_own"]}}')
    assert len(sample.cases) in (2, 4)
    nothing = bench.run(SCOREGATE_FILTERS_TEST_SUITES='["other"]')
    assert (nothing.code, nothing.suites) == (0, {})
    invalid = bench.run(SCOREGATE_REPEATS="many")
    assert invalid.code == 4
    assert "SCOREGATE_REPEATS must be a whole number" in invalid.output


FAILURES = """
import pytest

@pytest.mark.scoregate
@pytest.mark.parametrize("city", ["Oslo", "Rome"])
def test_short(city):
    assert city == "Paris"

def test_low(scoregate):
    scoregate.score("polite", 0.2, threshold=0.5)

def test_long(scoregate):
    assert list(range(100)) == list(range(99))

def test_talking(scoregate):
    print("what was asked")
    assert not "answered"

def test_raising(scoregate):
    raise ConnectionError("no network")

def test_of_no_suite():
    assert "ordinary" == "extraordinary"
"""


def test_a_failure_with_a_complete_reason_is_printed_by_scoregate_alone(bench: Bench) -> None:
    bench.write(FAILURES)
    ran = bench.run()
    shown = {line.strip("_ ") for line in ran.output.splitlines() if line.startswith("____")}
    assert shown == {"test_long", "test_talking", "test_raising", "test_of_no_suite"}, ran.output
    failed = {line.split()[1].partition("::")[2] for line in ran.output.splitlines() if line.startswith("FAILED ")}
    assert failed == shown, ran.output
    assert "what was asked" in ran.output
    assert "3 failures are in scoregate's list of failing cases" in ran.output
    assert "7 failed" in ran.output
    assert ran.cases["test_short[Oslo]", 0].reasons["passed"].startswith("assert 'Oslo' == 'Paris'")
    for others in (bench.run("-vv"), bench.run(record=False)):
        assert "test_short[Rome] _" in others.output, others.output
        assert "list of failing cases" not in others.output
