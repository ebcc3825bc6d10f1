"""Runs of a part of the cases, from the command line to the record."""

from __future__ import annotations

import gzip
import json
import sys
from typing import Any

from tests.integration.host.conftest import Project, Ran

SUITES = """
from dataclasses import dataclass

from scoregate.testing import BaseTestCase, BaseTestEvaluator, Evaluation, Threshold, run_test_suite
from scoregate.testing.models import TestCaseConfig


@dataclass
class Case(BaseTestCase):
    name: str
    test_case_config: TestCaseConfig

    def hash(self):
        return self.name


class Good(BaseTestEvaluator):
    id = "good"

    def evaluate_test_case(self, test_case, output):
        return Evaluation(score=float("bad" not in output), threshold=Threshold(gte=1))


DAYS = {"mon": "week", "tue": "week", "bad-wed": "week", "sat": "weekend", "bad-sun": "weekend"}
for suite in ("hours", "days"):
    run_test_suite(
        id=suite,
        test_cases=[Case(name, TestCaseConfig(tags=(tag,))) for name, tag in DAYS.items()],
        fn=lambda test_case: test_case.name.replace("bad", FIX),
        evaluators=[Good()],
        max_test_case_concurrency=1,
    )
"""
FOREIGN = """
import json, os, pathlib
lines = [{"type": "suite_started", "suite": "log", "cases": 3}]
for case in ("one", "two", "three"):
    lines += [
        {"type": "case_started", "suite": "log", "case": case, "input": {}},
        {"type": "case_output", "suite": "log", "case": case, "output": case},
        {"type": "scored", "suite": "log", "case": case, "evaluator": "e", "score": 1},
        {"type": "case_finished", "suite": "log", "case": case},
    ]
lines.append({"type": "suite_finished", "suite": "log"})
path = pathlib.Path(os.environ["SCOREGATE_EVENTS"], "log.jsonl")
path.write_text("".join(json.dumps({"v": 1, **line}) + "\\n" for line in lines))
"""


def cases_of(ran: Ran) -> list[tuple[str, str]]:
    suites = [suite["id"] for suite in ran.run["suites"]]
    lines = gzip.decompress((ran.out / "run" / "cases.jsonl.gz").read_bytes()).splitlines()
    content: list[dict[str, Any]] = [json.loads(line) for line in lines]
    return sorted((suites[case["suite"]], case["hash"]) for case in content)


def write_suites(project: Project, *, fix: str = "bad") -> None:
    project.write("evals/demo.py", f"FIX = {fix!r}\n{SUITES}")


def test_names_and_expressions_select_cases(project: Project) -> None:
    write_suites(project)
    project.write("evals/other.py", f"FIX = 'good'\n{SUITES.replace('hours', 'more').replace('days', 'others')}")
    expected = {
        ("evals/demo.py::hours::mon",): [("hours", "mon")],
        ("evals/demo.py::hours::mon", "evals/demo.py::days::sat"): [("days", "sat"), ("hours", "mon")],
        ("-k", "weekend and not bad and (hours or others)"): [("hours", "sat"), ("others", "sat")],
    }
    for arguments, cases in expected.items():
        outcome = project.scoregate("run", *arguments)
        assert outcome.exit_code == 0, outcome.output
        assert cases_of(outcome) == cases
        assert outcome.run["complete"]
        assert outcome.run["selection"] == outcome.result["run"]["selection"] != ""
        assert "Only a part of the project ran" in outcome.output


VARIANTS = """
from scoregate import evaluate
from scoregate.testing.models import BaseTestEvaluator, Evaluation
from scoregate.testing.run import run_test_suite

evaluate(
    "bot",
    data=[{"id": "open", "input": 1}, {"id": "close", "input": 2}],
    task={"small": lambda input: input, "large": lambda input: input},
    scorers=[lambda output: output > 0],
)


class Any(BaseTestEvaluator):
    id = "any"

    def evaluate_test_case(self, test_case, output):
        return Evaluation(score=1)


run_test_suite("grid", [{"n": 1}], len, [Any()], test_case_hash=["n"], grid_search_params={"k": [1, 2]})
"""


def test_expressions_select_variants_by_their_label(project: Project) -> None:
    project.write("evals/variants.py", VARIANTS)
    expected = {
        "'bot [task=small]'": {("bot [task=small]", 2)},
        "task=large and open": {("bot [task=large]", 1)},
        "open and not 'task=large'": {("bot [task=small]", 1)},
        "k=2": {("grid [k=2]", 1)},
        "bot": {("bot [task=small]", 2), ("bot [task=large]", 2)},
    }
    for keyword, suites in expected.items():
        outcome = project.scoregate("run", "-k", keyword, "--baseline", "none")
        assert outcome.exit_code == 0, outcome.output
        assert {(each["label"], each["cases"]) for each in outcome.run["suites"]} == suites


def test_a_variant_in_which_only_a_passing_case_is_selected_does_not_run_again(project: Project) -> None:
    project.write("evals/variants.py", VARIANTS.replace("output > 0", "output == 1"))
    project.scoregate("run")
    outcome = project.scoregate("run", "--last-failed", "-k", "(open and task=small) or (close and task=large)")
    assert [(each["label"], each["cases"]) for each in outcome.run["suites"]] == [("bot [task=large]", 1)]


def test_unselected_cases_are_no_lost_scores(project: Project) -> None:
    write_suites(project)
    project.scoregate("run", "--out", "before")
    outcome = project.scoregate("run", "-k", "mon", "--baseline", "before")
    assert "lost scores" not in outcome.output + outcome.comment
    (row,) = (each for each in outcome.result["rows"] if each["suite"] == "hours")
    assert row["lost"] == {"removed": 4}


def test_a_selection_that_matches_nothing_is_unmeasurable(project: Project) -> None:
    write_suites(project, fix="good")
    problems = {
        ("evals/demo.py::hours::never",): "evals/demo.py::hours::never: no suite or case of this name ran",
        ("evals/demo.py::never",): "evals/demo.py::never: no suite or case of this name ran",
        ("evals/demo.py::hours::mon", "evals/demo.py::hours::x"): "evals/demo.py::hours::x: no suite or case",
        ("-k", "never"): "no case matches -k never",
    }
    for arguments, problem in problems.items():
        outcome = project.scoregate("run", *arguments)
        assert outcome.exit_code == 3, outcome.output
        assert problem in outcome.output
    assert project.scoregate("run", "-k", "a and").exit_code == 2
    assert project.scoregate("run", "evals/demo.py::").exit_code == 2


def test_failed_cases_run_alone_or_first(project: Project) -> None:
    write_suites(project)
    failing = [("days", "bad-sun"), ("days", "bad-wed"), ("hours", "bad-sun"), ("hours", "bad-wed")]
    first = project.scoregate("run", "--last-failed")
    assert "There is no earlier run in scoregate-out, so all cases run." in first.output
    assert first.run["selection"] == ""
    project.scoregate("run", "-k", "mon")  # these cases pass; the failures of the whole run are still known
    assert cases_of(project.scoregate("run", "--last-failed")) == failing
    project.scoregate("run", "--failed-first")
    complete = project.scoregate("run", "--failed-first")
    assert len(cases_of(complete)) == 10
    lines = gzip.decompress((complete.out / "run" / "cases.jsonl.gz").read_bytes()).splitlines()
    assert {json.loads(line)["hash"] for line in lines[:2]} == {"bad-wed", "bad-sun"}
    write_suites(project, fix="good")
    fixed = project.scoregate("run", "--last-failed")
    assert (fixed.exit_code, cases_of(fixed)) == (0, failing)
    repeated = project.scoregate("run", "--last-failed")
    assert "No failing case is known in scoregate-out, so all cases run." in repeated.output
    assert (repeated.exit_code, repeated.run["selection"], len(cases_of(repeated))) == (0, "", 10)


def test_a_run_stops_at_its_first_failing_cases(project: Project) -> None:
    # The case after the first that fails lasts until the run ends it.
    source = SUITES.replace("lambda test_case:", "lambda test_case: test_case.name == 'sat' and sleep(600) or")
    source = f"from time import sleep\n{source}"
    project.write("evals/demo.py", f"FIX = 'bad'\n{source}")
    outcome = project.scoregate("run", "-x", "--min-pass-rate", "0")
    assert outcome.exit_code == 1, outcome.output
    assert len(cases_of(outcome)) < 10
    assert not outcome.run["complete"]
    assert "1 case failed; cases that had not started did not run" in outcome.output
    assert "could not be measured" not in outcome.output
    assert [finding["rule"] for finding in outcome.result["findings"] if finding["conclusion"] != "passed"] == [
        "stopped early"
    ]


QUARANTINE = '[[quarantine]]\ncase = "bad-*"\nowner = "bo"\nreason = "the clock"\nuntil = 2999-12-31\n'


def test_a_failing_case_in_quarantine_stops_no_run(project: Project) -> None:
    slow = "lambda test_case: sleep(600 * (os.path.exists('hold') and suite == 'days') or 0.1) or"
    source = SUITES.replace("lambda test_case:", slow)
    project.write("evals/demo.py", f"import os\nfrom time import sleep\nFIX = 'bad'\n{source}")
    project.write(".scoregate/quarantine.toml", QUARANTINE)
    for options in (("-x",), ("--max-failures", "2"), ("-x", "--repeats", "3")):
        outcome = project.scoregate("run", *options, "--baseline", "none")
        assert outcome.exit_code == 0, outcome.output
        assert len(set(cases_of(outcome))) == 10
        assert "4 cases in quarantine" in outcome.output
    project.write(".scoregate/quarantine.toml", QUARANTINE.replace("bad-*", "bad-wed"))
    project.write("hold", "")  # the suite after the first failure lasts until the run ends it
    outcome = project.scoregate("run", "-x", "--baseline", "none")
    assert outcome.exit_code == 1
    assert outcome.run["stopped"].startswith("1 case failed")
    assert ("hours", "bad-sun") in cases_of(outcome)


def test_last_failed_leaves_out_cases_in_quarantine(project: Project) -> None:
    write_suites(project)
    project.write(".scoregate/quarantine.toml", QUARANTINE.replace("bad-*", "bad-wed"))
    project.scoregate("run")
    outcome = project.scoregate("run", "--last-failed")
    assert cases_of(outcome) == [("days", "bad-sun"), ("hours", "bad-sun")]
    project.write(".scoregate/quarantine.toml", QUARANTINE)
    outcome = project.scoregate("run", "--last-failed")
    assert (outcome.exit_code, len(cases_of(outcome))) == (0, 10)
    assert "No failing case is known in scoregate-out, so all cases run." in outcome.output


def test_a_sample_has_its_share_of_tags(project: Project) -> None:
    write_suites(project, fix="good")
    samples = []
    for seed in ("1", "1", "2", "3", "4"):
        outcome = project.scoregate("run", "--sample", "3", "--seed", seed)
        assert outcome.exit_code == 0, outcome.output
        assert outcome.run["selection"] == f"--sample 3 --seed {seed}"
        samples.append(cases_of(outcome))
    assert samples[0] == samples[1]
    assert len(set(map(str, samples))) > 1
    assert {sum(case in ("sat", "bad-sun") for _, case in sample) for sample in samples} == {2}


def test_the_host_selects_events_of_other_programs(project: Project) -> None:
    project.write("log.py", FOREIGN)
    command = f'[[commands]]\nname = "log"\nrun = ["{sys.executable}", "log.py"]\n'
    project.write("scoregate.toml", command)
    outcome = project.scoregate("run", "-k", "two or three")
    assert cases_of(outcome) == [("log", "three"), ("log", "two")]
    assert outcome.exit_code == 0, outcome.output
    assert project.scoregate("run", "-k", "never").exit_code == 3
    sampled = project.scoregate("run", "--sample", "1")
    assert "can't be sampled, so all its cases ran" in sampled.output
    assert len(cases_of(sampled)) == 3


def test_a_partial_run_misses_no_suite_of_its_baseline(project: Project) -> None:
    write_suites(project, fix="good")
    complete = project.scoregate("run")
    complete.out.joinpath("run").rename(project.root / "base")
    outcome = project.scoregate("run", "--baseline", "base", "evals/demo.py::hours")
    assert outcome.exit_code == 0, outcome.output
    assert project.scoregate("run", "--baseline", "base").exit_code == 0
    # A limit for a suite that did not run is no mistake.
    project.write("scoregate.toml", "[suites.days]\nmin_score = {good = 0.5}\n")
    assert project.scoregate("run", "--baseline", "base", "-k", "hours and mon").exit_code == 0
