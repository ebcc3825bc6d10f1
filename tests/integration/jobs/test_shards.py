"""Shards: a run that several jobs make has the verdict of one machine, and no part is lost or counted twice."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.github import events
from tests.integration.host.conftest import Project, Ran, suite
from tests.integration.jobs.test_lifecycle import WORSE
from tests.integration.jobs.world import World

from scoregate import __version__

# Outputs depend on the case and on QUALITY only. Some cases get worse in the change, in clusters of five.
QUALITY_SUITE = """
import os
from dataclasses import dataclass

from scoregate.kernel.types.evaluation import Evaluation
from scoregate.testing.evaluators.battles import BaseBattle
from scoregate.testing.models import BaseTestCase, BaseTestEvaluator, TestCaseConfig, Threshold
from scoregate.testing.run import run_test_suite

QUALITY = os.environ["QUALITY"]


@dataclass
class Case(BaseTestCase):
    number: int
    text: str
    test_case_config = TestCaseConfig()

    def hash(self):
        return f"case {self.number}"


def answer(case):
    if case.number == 13:
        raise RuntimeError("no answer")
    if QUALITY == "change" and case.number % 11 == 0:
        return "bad"
    return case.text * (1 + case.number % 3 if QUALITY == "change" else 2)


class Good(BaseTestEvaluator):
    id = "good"

    def evaluate_test_case(self, test_case, output):
        return Evaluation(float(output != "bad"), Threshold(gte=1))


class Length(BaseTestEvaluator):
    id = "length"

    def evaluate_test_case(self, test_case, output):
        return Evaluation(min(1.0, len(output) / 30), metadata={"length": len(output)})


class Longer(BaseBattle):
    id = "longer"

    def output_mapper(self, output):
        return output

    async def _judge(self, trial, test_case, baseline, *, challenger):
        return Evaluation(0.5 + 0.5 * ((len(challenger) > len(baseline)) - (len(challenger) < len(baseline))))


def cases(number):
    found = []
    for at in range(number):
        case = Case(at, "word " * (1 + at % 4))
        case.test_case_config = TestCaseConfig(
            repeat_num_times=3 if at % 9 == 0 else None,  # a case counts once, however often it runs
            tags=["critical"] if at % 22 == 0 else ["plain"],
            cluster=f"group {at // 5}",
        )
        found.append(case)
    return found


run_test_suite(id="quality", test_cases=cases(60), fn=answer, evaluators=[Good(), Length(), Longer()])
run_test_suite(
    id="grid", test_cases=cases(12), fn=answer, evaluators=[Good()], grid_search_params={"style": ["a", "b"]}
)
run_test_suite(id="short", test_cases=cases(4), fn=answer, evaluators=[Length()])
"""
PLAIN_SUITE = """
from scoregate import evaluate

evaluate(
    "greeting", data=[{"id": "a", "input": "hi", "expected": "hi"}], task=lambda input: input,
    scorers=[lambda output, expected: float(output == expected)],
)
"""
COMMON = ("--repeats", "2", "--confirm", "all", "--max-drop", "0.02")
DURATIONS = {"quality": 600.0, "grid": 200.0, "short": 20.0, "greeting": 60.0}


def plant(project: Project, *, suite: str = QUALITY_SUITE) -> None:
    """A project with a base run whose suites took long, and a change."""
    project.write("evals/eval_quality.py", suite)
    project.write("evals/eval_greeting.py", PLAIN_SUITE)
    project.write(".gitignore", "scoregate-out\nbase\nshards\nwhole\n.scoregate*\n")
    project.commit()
    base = project.scoregate("run", "--repeats", "2", "--baseline", "none", "--out", "base", QUALITY="base")
    assert (project.root / "base/run/run.json").exists(), base.output
    plan_durations(project.root / "base/run/run.json", DURATIONS)


def plan_durations(path: Path, seconds: dict[str, float]) -> None:
    head = json.loads(path.read_text(encoding="utf-8"))
    for each in head["suites"]:
        each["duration_s"] = seconds[each["id"]]
    for script in head["scripts"]:
        of_script = {each["id"] for each in head["suites"] if each["script"] == script["name"]}
        script["duration_s"] = sum(seconds[name] for name in of_script) + 2
    path.write_text(json.dumps(head), encoding="utf-8")


def plan(project: Project, *words: str) -> dict[str, Any]:
    planned = project.scoregate(
        "plan",
        *COMMON[:4],
        "--baseline",
        "base",
        "--format",
        "json",
        "--output",
        "scoregate-out/partition.json",
        *words,
    )
    assert planned.exit_code == 0, planned.output
    return json.loads((project.root / "scoregate-out/partition.json").read_text(encoding="utf-8"))


def run_shard(project: Project, number: int, of: int, *words: str, out: str = "", quality: str = "base") -> Ran:
    return project.scoregate(
        "run", *COMMON[:4], "--baseline", "base", "--shard", f"{number}/{of}",
        "--partition", "scoregate-out/partition.json", "--out", out or f"shards/{number}", *words, QUALITY=quality,
    )  # fmt: skip


def merge(project: Project, *folders: str, out: str = "scoregate-out") -> Ran:
    outcome = project.scoregate("merge", *COMMON[4:], "--baseline", "base", "--out", out, *(folders or ("shards/*",)))
    return Ran(outcome.exit_code, outcome.output, project.root / out)


# `repeat`: of several failing trials of a case, the one that ended first is named.
VARYING = {
    "repeat",
    "id",
    "started",
    "finished",
    "generated_at",
    "history",
    "notices",
    "note",
    "past",
    "run",
    "seconds",
    "quantities",
}


def comparable(value: Any) -> Any:
    """A result without times, ids and notices, its lists in an order that doesn't depend on the end of trials.

    Sums of floats depend on the order of trials in the last two digits.
    """
    if isinstance(value, dict):
        dropped = {
            name for name in value if name in VARYING or name.endswith(("_ms", "_s")) or "p50" in name or "p95" in name
        }
        if "base_tries" in value:  # each shard tests its own cases together, so they run less often
            dropped |= {"tries", "base_tries", "level"}
        return {name: comparable(part) for name, part in value.items() if name not in dropped}
    if isinstance(value, list):
        return sorted(map(comparable, value), key=lambda each: json.dumps(each, sort_keys=True))
    return round(value, 12) if isinstance(value, float) else value


def read_record(out: Path) -> dict[str, Any]:
    head = json.loads((out / "run/run.json").read_text(encoding="utf-8"))
    head.pop("shard_runs", None)
    ids = {"suites": [{**suite, "name": suite["id"]} for suite in head["suites"]]}
    return comparable({**head, **ids, "scripts": [{**each, "command": ""} for each in head["scripts"]], "crc32": 0})


def test_shards_have_the_verdict_of_one_machine(project: Project) -> None:
    plant(project)
    partition = plan(project, "--target", "3m")
    of = len(partition["shards"])
    work = [each for shard in partition["shards"] for each in shard["assignments"]]
    assert of == 6
    assert {each["suite"] for each in work if each["parts"] > 1} == {"quality", "grid"}
    assert max(shard["seconds"] for shard in partition["shards"]) < 200
    complete = project.scoregate("run", *COMMON, "--baseline", "base", "--out", "whole", QUALITY="change")
    for number in range(of, 0, -1):
        shard = run_shard(project, number, of, quality="change")
        assert shard.exit_code == 0, shard.output
    merged = merge(project)
    assert merged.exit_code == complete.exit_code == 1, merged.output
    assert "merged from 6 of 6 shards" in merged.output
    expected = json.loads((project.root / "whole/result.json").read_text(encoding="utf-8"))
    assert comparable(merged.result) == comparable(expected)
    assert read_record(merged.out) == read_record(project.root / "whole")
    assert len(merged.run["confirmations"]) == 10
    assert {suite["id"]: suite["cases"] for suite in merged.run["suites"]}["quality"] == 120 + 7
    assert {row["evaluator"] for row in merged.result["rows"]} >= {"good", "length", "longer"}

    # Without the shard of one part, the suite has as many cases as all of its parts.
    number = next(
        shard["number"]
        for shard in partition["shards"]
        if any(each["suite"] == "quality" and each["parts"] > 1 for each in shard["assignments"])
    )
    shutil.rmtree(project.root / f"shards/{number}")
    text = " ".join(merge(project).output.split())
    assert f"shard {number} of 6: its run is missing; it runs evals/eval_quality.py" in text
    assert "of 180 planned cases finished" in text  # as if each ran as often as the case that ran most


@pytest.fixture
def sharded(project: Project) -> tuple[Project, int]:
    """A change without effects whose three shards have run, without parts."""
    plant(project, suite=QUALITY_SUITE.replace("cases(60)", "cases(6)"))
    of = len(plan(project, "--shards", "3", "--no-split")["shards"])
    for number in range(1, of + 1):
        assert run_shard(project, number, of).exit_code == 0
    return project, of


def test_missing_shards_or_cases_are_never_green(sharded: tuple[Project, int]) -> None:
    project, of = sharded
    complete = merge(project)
    trials = sum(suite["cases"] for suite in complete.run["suites"])
    labels = {suite["label"] for suite in complete.run["suites"]}
    assert complete.run["complete"]

    # A shard that ran again is the same shard: nothing runs, and a copy of its run counts once.
    second = run_shard(project, 1, of)
    assert "it was complete before, so nothing ran" in second.output
    assert second.exit_code == 0
    shutil.copytree(project.root / "shards/1", project.root / "shards/1-again")
    twice = merge(project)
    assert sum(suite["cases"] for suite in twice.run["suites"]) == trials
    assert comparable(twice.result) == comparable(complete.result)

    shutil.rmtree(project.root / "shards/1")
    shutil.rmtree(project.root / "shards/1-again")
    missing = merge(project)
    assert missing.exit_code == 3
    lacking = labels - {suite["label"] for suite in missing.run["suites"]}
    text = " ".join(missing.output.split())
    assert lacking, text
    assert "shard 1 of 3: its run is missing; it runs evals/eval_quality.py" in text
    assert f"Suites of the baseline that may be in a missing shard: {', '.join(sorted(lacking))}." in text
    assert "is gone" not in text
    assert "didn't report" not in text
    assert missing.result["gone"] == []

    # The others' runs are reused.
    assert run_shard(project, 1, of).exit_code == 0
    assert comparable(merge(project).result) == comparable(complete.result)

    alone = project.scoregate("gate", "shards/2/run")
    assert alone.exit_code == 3
    assert "shard 2 of 3" in alone.output


def test_shards_of_different_versions_are_refused(sharded: tuple[Project, int]) -> None:
    project, of = sharded
    head = project.root / "shards/1/run/run.json"
    made = head.read_text(encoding="utf-8")
    head.write_text(made.replace(f'"version": "{__version__}"', '"version": "0.0.1"', 1), encoding="utf-8")
    refusal = merge(project)
    assert refusal.exit_code == 2
    text = " ".join(refusal.output.split())
    assert f"different versions of scoregate: 0.0.1 (shard 1); {__version__} (shard 2" in text
    # A run of another version is no run of this shard.
    assert "it was complete before" not in run_shard(project, 1, of).output
    assert merge(project).run["complete"]


def test_runs_of_other_partitions_and_commits_are_refused(sharded: tuple[Project, int]) -> None:
    project, of = sharded
    first = project.root / "scoregate-out/partition.json"
    stored = first.read_text(encoding="utf-8")
    plan(project, "--shards", "2", "--no-split")
    assert run_shard(project, 1, 2, out="shards/other").exit_code == 0
    refusal = merge(project)
    assert refusal.exit_code == 2
    assert "different partitions" in refusal.output
    shutil.rmtree(project.root / "shards/other")

    invalid = run_shard(project, 1, 8)
    assert invalid.exit_code == 2
    assert "has 2 shards" in invalid.output
    first.write_text(stored, encoding="utf-8")
    repeats = run_shard(project, 1, of, "--repeats", "3")
    assert repeats.exit_code == 2
    assert "other settings: repeats" in repeats.output
    project.write("evals/eval_greeting.py", PLAIN_SUITE + "\n")
    changed = run_shard(project, 1, of)
    assert changed.exit_code == 2
    assert "other uncommitted changes" in changed.output
    project.commit()
    committed = run_shard(project, 1, of)
    assert committed.exit_code == 2
    assert "the partition is of commit" in committed.output

    first.write_text(stored.replace('"number": 2', '"number": 3'), encoding="utf-8")
    assert "not numbered" in run_shard(project, 1, of).output
    first.write_text(stored.replace('eval_greeting.py"', 'eval_other.py"'), encoding="utf-8")
    assert "does not match its fingerprint" in run_shard(project, 1, of).output
    first.write_text("{", encoding="utf-8")
    assert "is not JSON" in run_shard(project, 1, of).output


def test_a_suite_whose_cases_differ_between_processes_is_unmeasurable(project: Project) -> None:
    unstable = QUALITY_SUITE.replace(
        'return f"case {self.number}"', "return f\"case {self.number} {os.environ.get('SALT', '')}\""
    )
    plant(project, suite=unstable)
    partition = plan(project, "--shards", "5")
    assert any(each["parts"] > 1 for shard in partition["shards"] for each in shard["assignments"])
    for number in range(1, 6):
        shard = project.scoregate(
            "run", *COMMON[:4], "--baseline", "base", "--shard", f"{number}/5", "--partition",
            "scoregate-out/partition.json", "--out", f"shards/{number}", QUALITY="base", SALT=str(number),
        )  # fmt: skip
        assert shard.exit_code == 0, shard.output
    merged = merge(project)
    assert merged.exit_code == 3
    assert "its cases differ between shards" in merged.output


def test_a_suite_with_fewer_cases_than_shards_has_empty_parts(project: Project) -> None:
    """Its base was long, and the change leaves two cases: a part without a case neither fails nor is missed."""
    plant(project)
    few = QUALITY_SUITE.replace("cases(60)", "cases(2)").replace(
        "evaluators=[Good(), Length(), Longer()]", "evaluators=[Good(), Length(), Longer()], assert_test=True"
    )
    project.write("evals/eval_quality.py", few)
    project.commit()
    assert len(plan(project, "--shards", "4")["shards"]) == 4
    for number in range(1, 5):
        shard = run_shard(project, number, 4)
        assert shard.exit_code == 0, shard.output
    complete = project.scoregate("run", *COMMON, "--baseline", "base", "--out", "whole", QUALITY="base")
    merged = merge(project)
    assert merged.exit_code == complete.exit_code, merged.output
    assert read_record(merged.out)["suites"] == read_record(project.root / "whole")["suites"]


def test_a_matrix_that_github_refuses_is_not_planned(project: Project) -> None:
    arguments = ("plan", "--baseline", "none", "--format", "github", "--shards")
    refusal = project.scoregate(*arguments, "257")
    assert refusal.exit_code == 2
    assert "a matrix of GitHub has at most 256 jobs" in refusal.output


def test_impossible_numbers_in_a_record_are_refused(sharded: tuple[Project, int]) -> None:
    project, _ = sharded
    for number in range(1, 4):
        path = project.root / f"shards/{number}/run/run.json"
        head = json.loads(path.read_text(encoding="utf-8"))
        head["shard"]["of"] = 10**15
        path.write_text(json.dumps(head), encoding="utf-8")
    refusal = merge(project)
    assert refusal.exit_code == 2
    assert "do not agree on their number" in refusal.output
    for number in range(1, 4):
        path = project.root / f"shards/{number}/run/run.json"
        head = json.loads(path.read_text(encoding="utf-8"))
        head["shard"]["of"] = 3
        for each in head["suites"]:
            each["part"] = {"numbers": [1, -5], "of": 10**15, "cases": 1, "digest": "x"}
        path.write_text(json.dumps(head), encoding="utf-8")
    merged = merge(project)
    assert merged.exit_code == 3
    assert not any(each["complete"] for each in merged.run["suites"])


def test_three_jobs_of_a_workflow_are_one_gate(world: World) -> None:
    """Plan, shards and merge as jobs of the action, with the base's artifact; only the merge comments."""
    world.project.write("evals/greeting.py", suite(good=4).replace("id='demo'", "id='greeting'"))
    world.commit()
    base = world.push(INPUT_KEY="evals")
    assert base.exit_code == 0, base.output
    world.branch()
    world.commit_suite(**WORSE)
    pull = world.open_pull_request()
    event = events.pull_request(pull)
    workflow_run = world.workflow_run(event)
    planned = world.job(event, "action", run=workflow_run, INPUT_COMMAND="plan", INPUT_SHARDS="2", INPUT_KEY="evals")
    assert planned.exit_code == 0, planned.output
    jobs = json.loads(planned.outputs["matrix"])["include"]
    assert [job["shard"] for job in jobs] == ["1/2", "2/2"]
    partition = world.folder / "partition.json"
    shutil.copy(world.project.root / planned.outputs["partition-path"], partition)
    for job in jobs:
        inputs = {"INPUT_SHARD": job["shard"], "INPUT_PARTITION": str(partition), "INPUT_KEY": "evals"}
        shard = world.job(event, "action", run=workflow_run, **inputs)
        assert shard.exit_code == 0, shard.output
        assert pull.comments == []
        shutil.copytree(world.project.root / shard.outputs["run-path"], world.folder / f"shards/{job['number']}")
    inputs = {"INPUT_COMMAND": "merge", "INPUT_RUNS": f"{world.folder}/shards/1 {world.folder}/shards/2"}
    merged = world.job(event, "action", run=workflow_run, INPUT_KEY="evals", **inputs)
    assert merged.exit_code == 1, merged.output
    (comment,) = pull.comments
    assert "11 newly failing" in comment.body
    assert sorted(suite["label"] for suite in merged.run["suites"]) == ["demo", "greeting"]
