"""What the action counts over the life of a pull request: further trials, attempts, and legs of a matrix."""

from __future__ import annotations

from typing import Any

from tests.e2e.container.test_commands import CommandRun
from tests.e2e.container.test_stories import jobs_of, workflow
from tests.e2e.container.workflow import Workflow
from tests.fakes.fixtures import github, openai_server
from tests.fakes.github import events
from tests.fakes.openai import OpenAIServer

__all__ = ["github", "openai_server", "workflow"]
FAQ = "lambda case: case.input if case.input in open('faq.txt').read().splitlines() else 'no'"
PROVIDER = "lambda case: 'no' if os.environ.get('PROVIDER') == 'down' and '1' in case.input else case.input"


def with_provider_down(steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**each, "env": {**each.get("env", {}), "PROVIDER": "down"}} for each in steps]


def test_one_broken_case_of_twenty_fails_a_pull_request(workflow: Workflow) -> None:
    steps = jobs_of("README.md")["evals"]["steps"]
    entries = [f"good {number}\n" for number in range(20)]
    workflow.project.write("scoregate.toml", "min_pass_rate = 0.9\nfail_on_regression = true\n")
    workflow.project.write("faq.txt", "".join(entries))
    workflow.commit_suite(fn=FAQ, good=20)
    assert workflow.steps(events.push(workflow.repo), steps).exit_code == 0
    workflow.branch()
    workflow.project.write("faq.txt", "".join(each for each in entries if each != "good 7\n"))
    workflow.commit()
    pull = workflow.open_pull_request()
    outcome = workflow.steps(events.pull_request(pull), steps)
    assert outcome.exit_code == 1, outcome.log
    (comment,) = pull.comments
    assert "good 7 (failed 5 of 5 further trials, the baseline 0 of 5)" in comment.body


def test_a_red_leg_that_runs_again_counts_both_attempts(workflow: Workflow) -> None:
    """ "Re-run failed jobs": the red leg, and the job that merges the legs."""
    jobs = jobs_of("docs/guides/pull_requests.md", "leg")
    leg, evals = jobs["leg"]["steps"], jobs["evals"]["steps"]
    workflow.branch()
    workflow.commit_suite("import os", fn=PROVIDER, good=20)
    pull = workflow.open_pull_request()
    event = events.pull_request(pull)
    run = workflow.workflow_run(event)
    assert workflow.steps(event, leg, run=run, model="small").exit_code == 0
    assert workflow.steps(event, with_provider_down(leg), run=run, model="large").exit_code == 1
    assert workflow.steps(event, evals, run=run).exit_code == 1
    run.run_attempt = 2
    workflow.project.git("clean", "-qfdx")  # each job has a machine of its own
    again = workflow.steps(event, leg, run=run, model="large")
    assert again.exit_code == 1, again.log
    assert "29 of 40 trials (72.5%)" in again.summary
    merged = workflow.steps(event, evals, run=run)
    assert merged.exit_code == 1, merged.log
    (comment,) = pull.comments
    assert "attempt 2, pooled with 1 earlier" in comment.body
    assert "scoregate-leg-large" in comment.body


def test_a_command_that_runs_failed_jobs_again_is_no_fresh_chance(
    workflow: Workflow, openai_server: OpenAIServer
) -> None:
    steps = jobs_of("README.md")["evals"]["steps"]
    workflow.repo.roles["ana"] = "write"
    workflow.branch()
    workflow.commit_suite("import os", fn=PROVIDER, good=20)
    pull = workflow.open_pull_request()
    event = events.pull_request(pull)
    run = workflow.workflow_run(event)
    assert workflow.steps(event, with_provider_down(steps), run=run).exit_code == 1
    run.conclusion = "failure"
    command = CommandRun(workflow, pull.comment("/scoregate rerun-failed", "ana"), openai_server)
    answer = command.answer()
    assert (answer.exit_code, run.run_attempt) == (0, 2), answer.log
    workflow.permissions = {
        name.replace("-", "_"): level for name, level in jobs_of("README.md")["evals"]["permissions"].items()
    }
    again = workflow.steps(event, steps, run=run)
    assert again.exit_code == 1, again.log
    report = next(each for each in pull.comments if "pooled with 1 earlier" in each.body)
    assert "29 of 40 trials (72.5%)" in report.body
