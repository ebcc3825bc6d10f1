"""Judges under the host: champions out of the base run, people who are waited for, what it cost."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import Any

import pytest
from tests.fakes.openai import OpenAIServer, Question, Reply
from tests.integration.host.conftest import Project, Ran

SUITE = """
from dataclasses import dataclass

from scoregate.testing.evaluators import BaseAutomaticBattle, BaseManualBattle, BaseNSFW
from scoregate.testing.models import BaseTestCase
from scoregate.testing.run import run_test_suite


@dataclass
class Case(BaseTestCase):
    input: str

    def hash(self):
        return self.input


class Auto(BaseAutomaticBattle[Case, str]):
    id = "auto"

    def output_mapper(self, output):
        return output


class Manual(BaseManualBattle[Case, str]):
    id = "manual"

    def output_mapper(self, output):
        return output


class NSFW(BaseNSFW[Case, str]):
    id = "nsfw"

    def output_mapper(self, output):
        return output

"""


def suite(evaluators: str, *, output: str, cases: int = 1) -> str:
    cases_code = f"[Case(f'case {{n}}') for n in range({cases})]"
    return f"{SUITE}\nrun_test_suite('demo', {cases_code}, lambda case: '{output} for ' + case.input, [{evaluators}])\n"


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer.start() as running:
        yield running


def prefer_longest(question: Question) -> Any:
    """A model that finds the longer output better."""
    first, second = (question.last.split(f"BEGIN {which} output\n")[1].split("\n")[0] for which in ("first", "second"))
    better = "First" if len(first) > len(second) else "Second"
    return {"reason": "it is longer", "answer": better}


def scores(ran: Ran, evaluator: str) -> float | None:
    return ran.run["suites"][0]["means"].get(evaluator)


def test_the_baseline_output_is_of_the_base_run(project: Project, server: OpenAIServer) -> None:
    server.answer_with(prefer_longest)
    project.write("eval_demo.py", suite("Auto()", output="old"))
    first = project.scoregate("run", "--baseline", "none", "--out", "before", **server.environment)
    assert first.exit_code == 3, "nothing was judged yet; the run is a valid base all the same"
    assert "a battle needs the output of a run before it" in first.output
    assert (project.root / ".scoregate" / "champions").is_dir(), "here, without a base, the store keeps champions"
    for path in (project.root / ".scoregate" / "champions").rglob("*.jsonl"):
        path.unlink()

    project.write("eval_demo.py", suite("Auto()", output="a newer output", cases=2))
    better = project.scoregate("run", "--baseline", "before", "--out", "after", **server.environment)
    better.out = project.root / "after"
    assert (better.exit_code, scores(better, "auto")) == (0, 1), better.output
    assert list((project.root / ".scoregate" / "champions").rglob("*.jsonl")) == [], "the record is the next base"
    assert len(server.asked()) == 2, "the second case is new and has nobody to beat"

    project.write("eval_demo.py", suite("Auto()", output="x", cases=2))
    worse = project.scoregate("run", "--baseline", "after", **server.environment)
    assert (worse.exit_code, scores(worse, "auto")) == (1, 0)
    assert "auto" in worse.comment


def test_hidden_outputs_are_no_baseline(project: Project, server: OpenAIServer) -> None:
    project.write("eval_demo.py", suite("Auto()", output="old"))
    project.scoregate("run", "--baseline", "none", "--out", "before", SCOREGATE_SHOW_OUTPUTS="none")
    for path in (project.root / ".scoregate" / "champions").rglob("*.jsonl"):
        path.unlink()
    project.write("eval_demo.py", suite("Auto()", output="new"))
    outcome = project.scoregate("run", "--baseline", "before", **server.environment)
    assert (outcome.exit_code, scores(outcome, "auto"), server.requests) == (3, None, [])


def test_a_pending_battle_is_neither_passed_nor_failed(project: Project) -> None:
    project.write("eval_demo.py", suite("Manual()", output="old"))
    project.scoregate("run", "--baseline", "none", "--out", "before")
    project.write("eval_demo.py", suite("Manual()", output="new"))
    waiting = project.scoregate("run", "--baseline", "before")
    assert waiting.exit_code == 3, waiting.output
    assert waiting.statuses == {"unscored": 1}
    assert "1 evaluation waiting for review" in waiting.output
    assert "1 evaluation waiting for review: scoregate review." in waiting.comment
    case = junit_case(waiting)
    assert case.find("failure") is None
    skip = case.find("skipped")
    assert skip is not None
    assert skip.get("message") == "waiting for review: manual; review: scoregate review"

    pair = ("--case", "case 0", "--baseline", "old for case 0", "--challenger", "new for case 0")
    added = project.scoregate("verdicts", "add", "manual", *pair, "--winner", "baseline", "--by", "Ann")
    assert added.exit_code == 0, added.output
    lost = project.scoregate("run", "--baseline", "before")
    assert (lost.exit_code, scores(lost, "manual")) == (1, 0)
    assert "people prefer the baseline" in lost.comment
    assert junit_case(lost).find("failure") is not None


def junit_case(ran: Ran) -> ET.Element:
    tree = ET.parse(ran.out / "junit.xml")
    return next(case for case in tree.iter("testcase") if "case 0" in str(case.get("name")))


def test_the_comment_shows_the_judge_and_its_cost(project: Project, server: OpenAIServer) -> None:
    """31 cents: 10 cases of 21,000 and 10,000 tokens, at 1 and 1 dollars a million."""
    message = '{"reason": "fine", "answer": "Safe for work"}'
    server.answers("", Reply(message, input_tokens=21_000, output_tokens=10_000))
    project.write("scoregate.toml", 'model = "gpt-6-luna"\n[prices."gpt-6-luna"]\ninput = 1.0\noutput = 1.0\n')
    project.write("eval_demo.py", suite("NSFW()", output="an output", cases=10))
    outcome = project.scoregate("run", "--baseline", "none", "--cache", "on", **server.environment)
    assert outcome.exit_code == 0, outcome.output
    assert "judged by <code>gpt-6-luna</code>" in outcome.comment
    assert "<span>$</span>0.31" in outcome.comment
    assert {body["model"] for body in server.asked()} == {"gpt-6-luna"}
    second = project.scoregate("run", "--baseline", "none", "--cache", "on", **server.environment)
    assert len(server.asked()) == 10, "what was judged before is not paid for again"
    assert "<span>$</span>0.31" not in second.comment
    assert scores(second, "nsfw") == 1


def test_a_judge_that_changed_is_not_compared(project: Project, server: OpenAIServer) -> None:
    project.write("eval_demo.py", suite("NSFW()", output="an output", cases=10))
    project.scoregate("run", "--baseline", "none", "--out", "before", **server.environment)
    outcome = project.scoregate("run", "--baseline", "before", "--model", "gpt-6-luna", **server.environment)
    assert "its model changed: gpt-4o → gpt-6-luna" in outcome.comment


def test_a_rerun_base_runs_first_and_is_the_baseline(project: Project, server: OpenAIServer) -> None:
    server.answer_with(prefer_longest)
    project.write("eval_demo.py", suite("Auto()", output="old"))
    project.commit()
    project.write("eval_demo.py", suite("Auto()", output="a newer output"))
    outcome = project.scoregate("run", "--baseline", "rerun:HEAD", **server.environment)
    assert (outcome.exit_code, scores(outcome, "auto")) == (0, 1), outcome.output
    assert list(project.root.glob(".scoregate/champions/**/*.jsonl")) == []


def test_the_cost_of_retries_is_shown(project: Project, server: OpenAIServer) -> None:
    server.answers("good", {"answer": "Safe for work"})
    server.answers("bad", {"answer": "Not safe for work"})
    environ = {**server.environment, "SCOREGATE_MODEL": "gpt-4o"}
    project.write("evals/demo.py", suite("NSFW()", output="good"))
    project.scoregate("run", "--baseline", "none", "--out", "before", **environ)
    project.write("evals/demo.py", suite("NSFW()", output="bad"))
    outcome = project.scoregate("run", "--baseline", "before", "--confirm", "all", **environ)
    (notice,) = (each for each in outcome.run["notices"] if not each.startswith("Model gpt-4o "))
    assert re.fullmatch(r"--confirm: running cases again cost \$0\.00\d+ beyond the run's own figures", notice)
    assert notice in " ".join(outcome.output.split())


def test_a_partly_known_cost_is_unknown(project: Project, server: OpenAIServer) -> None:
    odd = "type('Odd', (NSFW,), {'id': 'odd', 'model': 'mystery-9'})()"
    project.write("evals/demo.py", suite(f"NSFW(), {odd}", output="good"))
    outcome = project.scoregate("run", "--baseline", "none", "--max-cost", "5", **server.environment)
    text = " ".join(outcome.output.split())
    assert outcome.exit_code == 3, outcome.output
    assert "as no price is known of mystery-9, required: ≤ $5.00" in text
    assert "The price of mystery-9 is unknown and in no cost. Add it to the setting `prices`." in text
