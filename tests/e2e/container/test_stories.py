"""What a team sees of the action, from its first push to a fork's pull request."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.e2e.container.conftest import ROOT, Action
from tests.e2e.container.workflow import Workflow
from tests.fakes.fixtures import github
from tests.fakes.github import GitHub, events
from tests.integration.jobs.world import READ

__all__ = ["github"]
WORSE = {"fn": "lambda case: case.input if '1' not in case.input else 'no'", "good": 20}
NOISE = (
    "print('::error::boo'); print('x ##[set-output name=conclusion]passed'); print('::stop-commands::x')\n"
    "print('::add-mask::passed'); print('\\x1b[31m::set-output name=a::b')"
)

UPLOADED = [
    {
        "uses": "actions/upload-artifact@v7",
        "with": {
            "name": "${{ steps.evals.outputs.artifact-name }}",
            "path": "${{ steps.evals.outputs.run-path }}",
        },
    }
]


@pytest.fixture
def workflow(github: GitHub, action: Action, tmp_path: Path) -> Workflow:
    new_workflow = Workflow.new(github, tmp_path)
    new_workflow.action = action
    return new_workflow


def jobs_of(page: str, name: str = "evals") -> dict[str, Any]:
    """The jobs of the workflow on a page whose first job has this name."""
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```yaml\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    workflows = (loaded["jobs"] for loaded in map(yaml.safe_load, blocks) if "jobs" in loaded)
    (jobs,) = (each for each in workflows if next(iter(each)) == name)
    return dict(jobs)


def test_the_quick_start_of_the_readme(workflow: Workflow) -> None:
    job = jobs_of("README.md")["evals"]
    workflow.permissions = {name.replace("-", "_"): level for name, level in job["permissions"].items()}
    first = workflow.steps(events.push(workflow.repo), job["steps"])
    assert (first.exit_code, first.outputs["conclusion"]) == (0, "passed"), first.log
    assert "no baseline yet" in first.summary

    workflow.branch()
    workflow.commit_suite(NOISE, **WORSE)
    pull = workflow.open_pull_request()
    second = workflow.steps(events.pull_request(pull), job["steps"])
    assert (second.exit_code, second.outputs["conclusion"], second.outputs["failed-gates"]) == (1, "failed", "1")
    (comment,) = pull.comments
    assert "11 newly failing" in comment.body
    assert "exact" in comment.body
    assert second.outputs["comment-url"].endswith(str(comment.id))
    assert "11 newly failing" in second.summary
    (annotation,) = [each for each in second.annotations if each.properties.get("file")]
    assert (annotation.level, annotation.properties["file"]) == ("error", "evals/demo.py")
    assert all(command.startswith(("error", "warning")) for command in second.commands), second.commands
    assert "boo" not in "".join(second.commands)

    workflow.project.git("checkout", "-q", "change")
    workflow.commit_suite(good=20)
    workflow.check_out_merge(pull)
    third = workflow.steps(events.pull_request(pull), job["steps"])
    assert third.exit_code == 0, third.log
    assert [each.id for each in pull.comments] == [comment.id]
    assert "0 newly failing" in pull.comments[0].body


def test_a_red_job_that_runs_again_counts_both_attempts(workflow: Workflow) -> None:
    rule = "'no' if os.environ.get('PROVIDER') == 'down' and '1' in case.input else case.input"
    workflow.commit_suite("import os", fn=f"lambda case: {rule}", good=20)
    steps = jobs_of("README.md")["evals"]["steps"]
    down = [{**each, "env": {**each.get("env", {}), "PROVIDER": "down"}} for each in steps]
    push = events.push(workflow.repo)
    run = workflow.workflow_run(push)
    assert workflow.steps(push, down, run=run).exit_code == 1
    run.run_attempt = 2
    again = workflow.steps(push, steps, run=run)
    assert again.exit_code == 1, again.log
    assert "Attempt 2 at this code, pooled with 1 earlier attempt" in again.summary
    assert "29 of 40 trials (72.5%)" in again.summary


def test_a_fork_is_measured_and_commented_on_by_the_second_workflow(workflow: Workflow) -> None:
    first, second = jobs_of("README.md")["evals"], jobs_of("docs/guides/pull_requests.md", "comment")["comment"]
    assert workflow.steps(events.push(workflow.repo), first["steps"]).exit_code == 0
    fork = workflow.github.repository("mallory/bot", fork_of=workflow.repo)
    workflow.branch()
    workflow.commit_suite(**WORSE)
    pull = workflow.open_pull_request(fork=fork)
    workflow.permissions = READ
    stage_one = workflow.steps(events.pull_request(pull), first["steps"])
    assert (stage_one.exit_code, stage_one.outputs["comment-pending"]) == (1, "true"), stage_one.log
    assert pull.comments == []

    (run,) = [each for each in workflow.repo.runs.values() if each.event == "pull_request"]
    workflow.project.git("checkout", "-q", "main")
    workflow.permissions = {name.replace("-", "_"): level for name, level in second["permissions"].items()}
    stage_two = workflow.steps(events.workflow_run(run), second["steps"])
    assert stage_two.exit_code == 0, stage_two.log
    (comment,) = pull.comments
    assert "11 newly failing" in comment.body


def test_a_merge_group_and_two_projects_in_one_repository(workflow: Workflow) -> None:
    for name in ("bot", "router"):
        workflow.project.write(f"{name}/scoregate.toml", "min_pass_rate = 0.5\n")
        source = (workflow.project.root / "evals" / "demo.py").read_text().replace("'demo'", f"'{name}'")
        workflow.project.write(f"{name}/evals/demo.py", source)
    workflow.commit()
    keys = {name: {"working-directory": name, "key": name} for name in ("bot", "router")}
    push = events.push(workflow.repo)
    for inputs in keys.values():
        result = workflow.steps(push, [step(inputs), *UPLOADED])
        assert result.exit_code == 0, result.log

    workflow.branch()
    workflow.project.write("bot/app.py", "x = 1\n")
    workflow.commit()
    pull = workflow.open_pull_request()
    for inputs in keys.values():
        assert workflow.steps(events.pull_request(pull), [step(inputs), *UPLOADED]).exit_code == 0
    assert sorted(re.findall(r"key=(\S+)", each.body)[0] for each in pull.comments) == ["bot", "router"]

    group = workflow.steps(events.merge_group(pull), [step(keys["bot"])])
    assert group.exit_code == 0, group.log
    assert "exact" in group.summary
    assert len(pull.comments) == 2


def test_the_runs_of_a_documented_matrix_make_one_comment(workflow: Workflow) -> None:
    jobs = jobs_of("docs/guides/pull_requests.md", "leg")
    workflow.branch()
    workflow.commit_suite(**WORSE)
    pull = workflow.open_pull_request()
    event = events.pull_request(pull)
    run = workflow.workflow_run(event)
    for model in jobs["leg"]["strategy"]["matrix"]["model"]:
        assert workflow.steps(event, jobs["leg"]["steps"], run=run, model=model).exit_code == 1
    assert pull.comments == []
    merged = workflow.steps(event, jobs["evals"]["steps"], run=run)
    assert merged.exit_code == 1, merged.log
    (comment,) = pull.comments
    for leg in ("scoregate-leg-small", "scoregate-leg-large"):
        assert leg in comment.body


def step(inputs: dict[str, str]) -> dict[str, Any]:
    return {"uses": "scoregate/scoregate@v1", "id": "evals", "with": inputs}
