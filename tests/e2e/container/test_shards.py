"""The workflow of three jobs on the page about scale: a plan, its shards, and the job that merges and judges them."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.e2e.container.test_stories import jobs_of, workflow
from tests.e2e.container.workflow import Workflow
from tests.fakes.fixtures import github
from tests.fakes.github import Run, events

__all__ = ["github", "workflow"]
SUITE = """
from scoregate import evaluate
from scoregate.scorers import equals

rows = [{{"id": f"row {{n}}", "input": f"question {{n}}", "expected": f"QUESTION {{n}}"}} for n in range(40)]
evaluate("answers", data=rows, task=lambda input: {task}, scorers=[equals()])
"""


def test_the_documented_jobs_plan_run_and_merge(workflow: Workflow) -> None:
    jobs = jobs_of("docs/guides/scale.md", "plan")
    workflow.project.write("evals/answers.py", SUITE.format(task="input.upper()"))
    workflow.commit()
    push = events.push(workflow.repo)
    run = workflow.workflow_run(push)
    # Without a baseline no duration is known, and all suites are in one shard.
    (only,) = plan(workflow, jobs, push, run).values()
    assert start(workflow, jobs, "shard", push, run, only).exit_code == 0
    base = start(workflow, jobs, "evals", push, run)
    assert (base.exit_code, base.outputs["conclusion"]) == (0, "passed"), base.log

    workflow.branch()
    workflow.project.write("evals/answers.py", SUITE.format(task='input.upper() if "1" not in input else ""'))
    workflow.commit()
    pull = workflow.open_pull_request()
    event = events.pull_request(pull)
    run = workflow.workflow_run(event)
    jobs["plan"]["steps"][1]["with"] |= {"shards": "2"}
    shards = plan(workflow, jobs, event, run)
    assert start(workflow, jobs, "shard", event, run, shards["evals/demo.py"]).exit_code == 0
    # The machine of one shard was lost. The jobs that failed are run again, with the artifact of the other shard.
    incomplete = start(workflow, jobs, "evals", event, run)
    assert incomplete.exit_code == 3, incomplete.log
    assert "its run is missing" in incomplete.log
    assert start(workflow, jobs, "shard", event, run, shards["evals/answers.py"]).exit_code == 0
    merged = start(workflow, jobs, "evals", event, run)
    assert (merged.exit_code, merged.outputs["conclusion"]) == (1, "failed"), merged.log
    (comment,) = pull.comments
    assert "13 newly failing" in comment.body
    assert "answers" in comment.body
    assert "demo" in comment.body


def plan(workflow: Workflow, jobs: dict[str, Any], event: events.Event, run: Run) -> dict[str, dict[str, str]]:
    """The shards of a plan by what they run."""
    outcome = start(workflow, jobs, "plan", event, run)
    assert outcome.exit_code == 0, outcome.log
    contents = re.findall(r"^\d+/\d+(?: about [^:]*)?: (.*)", outcome.log, re.MULTILINE)
    return dict(zip(contents, json.loads(outcome.outputs["matrix"])["include"], strict=True))


def start(
    workflow: Workflow, jobs: dict[str, Any], name: str, event: events.Event, run: Run, matrix: Any = None
) -> Any:
    """Run a job with the permissions that it has, and leave only the repository's files behind."""
    job = jobs[name]
    workflow.permissions = {key.replace("-", "_"): level for key, level in job["permissions"].items()}
    result = workflow.steps(event, job["steps"], run=run, **{key: str(value) for key, value in (matrix or {}).items()})
    workflow.project.git("clean", "-q", "-d", "-x", "--force")
    return result
