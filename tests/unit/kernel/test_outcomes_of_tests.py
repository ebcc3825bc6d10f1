"""How tests ended: which belong to cases of deepeval, and which failed without one."""

from __future__ import annotations

import pytest

from scoregate.kernel.types.test_outcomes import TestOutcome, TestOutcomes, identify_deepeval_case


def parse(*outcomes: TestOutcome) -> TestOutcomes:
    return TestOutcomes.parse(b"".join(outcome.to_line() for outcome in outcomes))


def test_a_case_belongs_to_the_test_that_recorded_it() -> None:
    case = identify_deepeval_case("own name", "q")
    passed, failed = TestOutcome("a.py::T::test_a", cases=(case,)), TestOutcome("a.py::test_b", "why")
    outcomes = parse(passed, failed)
    assert outcomes.find("own name", "q") == passed
    assert outcomes.find("own name", "other") is None
    assert outcomes.find("test_a", "q") is None, "a test with noted cases has no others"
    assert outcomes.list_missing() == ["a.py::test_b"]
    assert outcomes.find("test_b", "any input") == failed, (
        "without deepeval in the process, the name of the test counts"
    )
    assert outcomes.list_missing() == []


def test_a_verdict_is_unknown_if_tests_of_a_case_ended_differently_or_one_ran_again() -> None:
    case = identify_deepeval_case("a", "q")
    for other in (TestOutcome("y", "why", (case,)), TestOutcome("y", None, (case,), is_clear=False)):
        outcomes = parse(TestOutcome("x", None, (case,)), other)
        assert outcomes.find("a", "q") is None
        assert outcomes.list_missing() == []
    same = parse(TestOutcome("x", "one", (case,)), TestOutcome("y", "two", (case,)))
    assert same.find("a", "q") == TestOutcome("x", "one", (case,))


def test_a_failed_test_that_is_recorded_by_itself_is_not_missing() -> None:
    outcomes = parse(TestOutcome("x", "why", is_recorded=True), TestOutcome("y", "why\n" * 10_000), TestOutcome("z"))
    assert outcomes.list_missing() == ["y"]


@pytest.mark.parametrize("line", ["", "{}", '["x"]', '["x", 1, [], true, false]', '["x", null, [1], true, false]', "["])
def test_a_damaged_file_is_an_error(line: str) -> None:
    with pytest.raises(ValueError, match=r"^(Expecting|it is not the outcome of a test)"):
        TestOutcomes.parse(TestOutcome("x").to_line() + line.encode() + b"\n" + TestOutcome("y").to_line())


def test_a_failed_test_with_cases_is_not_missing_even_if_nobody_asked_for_them() -> None:
    failed = [TestOutcome("f.py::a", "off", cases=("x",)), TestOutcome("f.py::b", "off"), TestOutcome("f.py::c")]
    outcomes = TestOutcomes.parse(b"".join(each.to_line() for each in failed))
    assert outcomes.list_missing() == ["f.py::b"]
    assert outcomes.find("b", None) == failed[1]
    assert outcomes.list_missing() == []
