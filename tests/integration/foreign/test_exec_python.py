"""Suites of Autoblocks' SDK for Python, unmodified, under `scoregate exec` and `scoregate run`."""

from __future__ import annotations

from collections import defaultdict
from html import unescape
from pathlib import Path
from statistics import mean

import pytest
from tests.contract.examples import examples
from tests.fakes.openai import OpenAIServer
from tests.integration.foreign import suites
from tests.integration.foreign.bench import DOCUMENTS, Bench, junit_scores, means, rows
from tests.integration.foreign.conftest import Place
from tests.integration.host.conftest import Ran

EXAMPLES = {example.name: example.source for example in examples(DOCUMENTS / "evaluators.txt")}
SUITE = """
import os, sys, threading
from dataclasses import dataclass

from autoblocks.testing.models import BaseTestCase, BaseTestEvaluator, Evaluation, TestCaseConfig, Threshold
from autoblocks.testing.run import run_test_suite


@dataclass
class Case(BaseTestCase):
    n: int

    def hash(self):
        return f"case {self.n}"


class Good(BaseTestEvaluator):
    id = "good"

    def evaluate_test_case(self, test_case, output):
        return Evaluation(score=1, threshold=Threshold(gte=1))


def fn(test_case):
    if test_case.n == 20:
        pass  # HERE
    return "fine"


def run(cases=40):
    run_test_suite(id="demo", test_cases=[Case(n) for n in range(cases)], fn=fn, evaluators=[Good()],
                   max_test_case_concurrency=1)

"""


def run(bench: Bench, python: Path, here: str = "pass", *, words: tuple[str, ...] = (), end: str = "run()") -> Ran:
    """A suite of 40 cases that does something in one of them."""
    bench.project.write("run.py", f"{SUITE.replace('pass  # HERE', here)}\n{end}\n")
    return bench.exec(*words, "--", python, "run.py")


@pytest.mark.parametrize("example", ["BaseIsEquals", "BaseIsValidJSON", "BaseHasAllSubstrings", "BaseAssertions"])
def test_the_documented_examples_run(bench: Bench, place: Place, python: Path, example: str) -> None:
    place.run(python, place.write("run.py", EXAMPLES[example]))
    alone: defaultdict[str, list[float]] = defaultdict(list)
    for call in place.platform.said("/evals"):
        alone[call["evaluatorExternalId"]].append(call["score"])
    (scores,) = alone.values()
    bench.project.write("run.py", EXAMPLES[example])
    outcome = bench.exec("--", python, "run.py")
    assert outcome.exit_code == (1 if 0 in scores else 0), outcome.output
    assert junit_scores(outcome) == {evaluator: sorted(scores) for evaluator in alone}
    assert {name: row["mean"] for name, row in rows(outcome).items()} == {name: mean(scores) for name in alone}
    assert means(outcome) == {name: pytest.approx(mean(scores), abs=6e-4) for name in alone}


def test_a_run_like_its_base_is_green(bench: Bench, python: Path) -> None:
    assert run(bench, python, words=("--out", "before")).exit_code == 0
    outcome = run(bench, python, words=("--baseline", "before"))
    assert outcome.exit_code == 0, outcome.output
    assert rows(outcome)["good"]["delta"] == 0


@pytest.mark.parametrize(
    ("here", "end", "message"),
    [
        ("os._exit(0)", "run()", "didn't finish"),
        ("os._exit(5)", "run()", "exit code 5"),
        ("os.kill(os.getpid(), 9)", "run()", "SIGKILL"),
        ("pass", "run(); raise RuntimeError('afterwards')", "afterwards"),
        ("pass", "run(cases=0)", "No test cases provided"),
        ("pass", "fn = lambda case: 1 / 0; run()", "every case has an error"),
        ("os.environ['AUTOBLOCKS_CLI_SERVER_ADDRESS'] = 'http://127.0.0.1:9'", "run(cases=22)", "didn't finish"),
    ],
    ids=["leaves", "leaves with a code", "killed", "dies", "no cases", "raises", "loses the server"],
)
def test_failures_are_never_green(bench: Bench, python: Path, here: str, *, end: str, message: str) -> None:
    outcome = run(bench, python, here, end=end)
    assert outcome.exit_code == 3, outcome.output
    assert message in outcome.output


def test_a_filter_that_matches_nothing_is_never_green(bench: Bench, python: Path) -> None:
    outcome = run(bench, python, words=("--suite", "other*"))
    assert outcome.exit_code == 3
    assert "A filter matches no suite" in outcome.output


def test_repeats_are_separate(bench: Bench, python: Path) -> None:
    second = "Case.test_case_config = TestCaseConfig(repeat_num_times=3); run(cases=4)"
    outcome = run(bench, python, end=second)
    assert outcome.exit_code == 0, outcome.output
    assert (outcome.result["totals"]["cases"], outcome.result["totals"]["trials"]) == (4, 12)


def test_platform_data_is_stored_locally(bench: Bench, python: Path, server: OpenAIServer) -> None:
    server.answers(r"\[Challenger\]", {"reason": "so", "result": "2"})
    server.answers(r"^judge", {"reason": "so", "answer": "Good"})
    bench.project.write("run.py", suites.PYTHON)
    first = bench.exec("--", python, "run.py", AUTOBLOCKS_API_KEY="real-key-of-ours")
    assert first.exit_code == 0, first.output
    assert first.run["suites"][0]["reviews"] == ["look"]
    assert "battle" not in rows(first)
    second = bench.exec("--", python, "run.py")
    assert rows(second)["battle"]["mean"] == 1, second.output
    assert bench.hosts <= {"127.0.0.1", "localhost", "::1"}


def test_battles_use_the_base_run(bench: Bench, python: Path, server: OpenAIServer) -> None:
    server.answers(r"\[Challenger\]", {"reason": "so", "result": "0"})
    server.answers(r"^judge", {"reason": "so", "answer": "Good"})
    bench.project.write("run.py", suites.PYTHON.replace("new {", "of the base {"))
    bench.exec("--out", "before", "--", python, "run.py")
    bench.project.write("run.py", suites.PYTHON)
    server.requests.clear()
    outcome = bench.exec("--baseline", "before", "--", python, "run.py")
    assert rows(outcome)["battle"]["mean"] == 0.5, outcome.output
    questions = [question["messages"][-1]["content"] for question in server.asked() if "tools" not in question]
    assert sum("of the base first case" in text and "new first case" in text for text in questions) == 1


def test_a_failed_judge_has_advice(bench: Bench, python: Path) -> None:
    bench.project.write("run.py", f"import sys; sys.modules['openai'] = None\n{EXAMPLES['BaseToxicity']}")
    outcome = bench.exec("--", python, "run.py")
    assert outcome.exit_code == 3
    assert "openai>=1,<2" in unescape(outcome.comment)
    bench.project.write("run.py", EXAMPLES["BaseToxicity"])
    assert "secrets.OPENAI_API_KEY" in unescape(bench.exec("--", python, "run.py", OPENAI_API_KEY="").comment)


def test_suites_in_a_framework_are_recorded(bench: Bench, python: Path) -> None:
    bench.project.write("evals/test_demo.py", f"{SUITE}\ndef test_demo():\n    run()\n")
    outcome = bench.exec("--", python, "-m", "pytest", "-q", "evals/")
    assert outcome.exit_code == 0, outcome.output
    assert outcome.statuses == {"passed": 40}


def test_run_finds_them(bench: Bench, python: Path) -> None:
    bench.project.write("scoregate.toml", f'python = "{python}"\n')
    bench.project.write("evals/demo.py", f"{SUITE}\nrun()\n")
    outcome = bench.scoregate("run")
    assert outcome.exit_code == 0, outcome.output
    assert outcome.statuses == {"passed": 40}
