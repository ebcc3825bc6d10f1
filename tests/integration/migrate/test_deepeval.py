"""From DeepEval: its results, imported, and the suite agree."""

from __future__ import annotations

from tests.integration.migrate.conftest import Reader
from tests.integration.migrate.environments import use_python
from tests.integration.migrate.runs import check_same, failed_cases, scores

REQUIREMENTS = ("deepeval==4.3.1",)


def test_the_page_works(reader: Reader) -> None:
    use_python(reader, "deepeval", REQUIREMENTS)
    reader.environment["DEEPEVAL_TELEMETRY_OPT_OUT"] = "YES"
    steps = {"steps": ["Compare what both outputs say."]}
    reader.models.answers("", {"reason": "It says everything.", "score": 9, **steps})
    reader.models.answers("within 30 days", {"reason": "The receipt is missing.", "score": 5, **steps})
    reader.follow()
    before, after = reader.folder / "before", reader.folder / "scoregate-out"
    check_same(before, after, ["Correctness [GEval]"], failed={"returns"})


TWO_RUNS = """
import sys

from deepeval import evaluate
from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase


class Exact(BaseMetric):
    def __init__(self):
        self.threshold, self.async_mode, self.include_reason = 0.5, False, True

    def measure(self, test_case, *args, **kwargs):
        self.score = float(test_case.actual_output == test_case.expected_output)
        self.success, self.reason = self.score >= self.threshold, test_case.actual_output
        return self.score

    async def a_measure(self, test_case, *args, **kwargs):
        return self.measure(test_case)

    def is_successful(self):
        return self.success

    @property
    def __name__(self):
        return "Exact"


def case(question, output, expected):
    return LLMTestCase(input=question, actual_output=output, expected_output=expected)


evaluate([case("1 + 1", sys.argv[1], "2"), case("2 + 2", "4", "4")], [Exact()])
evaluate([case("capital of France", "Paris", "Paris")], [Exact()])
"""


def test_a_regression_in_the_first_of_two_test_runs_fails(reader: Reader) -> None:
    use_python(reader, "deepeval", REQUIREMENTS)
    reader.environment["DEEPEVAL_TELEMETRY_OPT_OUT"] = "YES"
    reader.write("runs.py", TWO_RUNS)
    imports = ["--import", "deepeval:.deepeval/.latest_run_full.json"]
    for output, exit_code, baseline in (("2", 0, "none"), ("3", 1, "base")):
        out = "base" if baseline == "none" else "head"
        command = ["scoregate", "exec", *imports, "--baseline", baseline, "--out", out, "--", "python", "runs.py"]
        outcome = reader.run([*command, output])
        assert outcome.returncode == exit_code, outcome.stdout
    assert failed_cases(reader.folder / "head") == {"test_case_0: 1 + 1"}
    assert len(scores(reader.folder / "head")) == 3


TESTS = """
import os

import pytest
from deepeval import assert_test
from deepeval.metrics import ExactMatchMetric
from deepeval.test_case import LLMTestCase


def check(output, name=None):
    case = LLMTestCase(name=name, input="1 + 1", actual_output=output, expected_output="2")
    assert_test(case, [ExactMatchMetric()])


@pytest.mark.parametrize("output", ["2", os.environ.get("OUTPUT", "2")], ids=["first", "second"])
def test_metric(output):
    check(output)


def test_a_wrong_answer_is_refused():
    with pytest.raises(AssertionError):
        check("3", name="own name")


def test_plain():
    assert "PLAIN" not in os.environ
"""


def test_outcomes_of_tests_count_and_not_only_their_metrics(reader: Reader) -> None:
    use_python(reader, "deepeval", REQUIREMENTS)
    reader.environment |= {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "PYTEST_PLUGINS": "scoregate.pytest_plugin"}
    reader.write("test_bot.py", TESTS)
    command = ["scoregate", "exec", "--import", "deepeval:.deepeval/.latest_run_full.json", "--baseline", "none"]
    command += ["--min-pass-rate", "0.6", "--", "deepeval", "test", "run", "test_bot.py"]
    for environment, exit_code, passed in (({}, 0, 3), ({"OUTPUT": "3"}, 0, 2), ({"OUTPUT": "3", "PLAIN": "1"}, 3, 2)):
        outcome = reader.run(["env", *(f"{name}={value}" for name, value in environment.items()), *command])
        assert outcome.returncode == exit_code, outcome.stdout
        assert f"3 cases, {passed} passed" in outcome.stdout
    missing = "1 failed test has no metric, so the results of deepeval lack them: test_bot.py::test_plain."
    assert missing in " ".join(outcome.stdout.split())
