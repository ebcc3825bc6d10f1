"""A maintainer's command runs a fork's commit with a key: the jobs of the workflow that `init --commands` writes."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

import yaml
from tests.e2e.container.test_stories import workflow
from tests.e2e.container.workflow import OURS, Workflow
from tests.fakes.fixtures import github, openai_server
from tests.fakes.github import Comment, Pull, Run, events
from tests.fakes.openai import OpenAIServer
from tests.integration.host.conftest import Project
from tests.integration.jobs.commands import KEY as COMMENT_KEY
from tests.integration.jobs.test_gateway import KEY, SUITE

__all__ = ["github", "openai_server", "workflow"]
TEXT = (files("scoregate.cli") / "starter" / "commands_workflow.yml.txt").read_text(encoding="utf-8")
EXPRESSION = re.compile(r"\$\{\{ ((?:needs|secrets|github)\.[\w.-]+) \}\}")
SETTINGS = 'paths = ["evals/ask.py"]\ncache = "off"\nfail_on_regression = true\n'
# The author of the fork turns the gateway off and drops the limit in its own file.
OTHER_SETTINGS = 'gateway = "off"\npaths = ["evals/ask.py"]\ncache = "off"\n'


@dataclass
class CommandRun:
    """A run of the workflow for a comment; `known` has the values of its expressions."""

    workflow: Workflow
    comment: Comment
    server: OpenAIServer
    known: dict[str, str] = field(default_factory=dict)
    run: Run = field(init=False)

    def __post_init__(self) -> None:
        self.event = events.issue_comment(self.workflow.repo, self.comment)
        self.run = self.workflow.workflow_run(self.event)

    def job(self, name: str) -> Any:
        """A job of the workflow; the repository is checked out already."""
        text = EXPRESSION.sub(lambda found: json.dumps(self.known.get(found[1], "")), TEXT)
        job = yaml.safe_load(text)["jobs"][name]
        self.workflow.permissions = {area.replace("-", "_"): level for area, level in job["permissions"].items()}
        steps = [step for step in job["steps"] if not step["uses"].startswith("actions/checkout")]
        if name == "run":
            steps[0]["env"]["OPENAI_BASE_URL"] = self.server.url
        return self.workflow.steps(self.event, steps, run=self.run)

    def answer(self) -> Any:
        """The first job, in an empty workspace; what it leaves is known afterwards."""
        checkout, empty = self.workflow.project, self.workflow.folder / "empty"
        empty.mkdir()
        self.workflow.project = Project(empty)
        answer = self.job("answer")
        self.workflow.project = checkout
        self.known |= {f"needs.answer.outputs.{name}": value for name, value in answer.outputs.items()}
        return answer


def open_fork(workflow: Workflow, server: OpenAIServer) -> Pull:
    """A pull request of a fork, after a run of main."""
    server.answers(r"question (\d+)", lambda question: "answer " + question.last.rpartition(" ")[2])
    workflow.project.write("scoregate.toml", SETTINGS)
    workflow.project.write("evals/ask.py", SUITE.format(cases=12, prompt='"Please: "', key=KEY))
    workflow.commit()
    env = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": server.url}
    upload = {"name": "${{ steps.evals.outputs.artifact-name }}", "path": "${{ steps.evals.outputs.run-path }}"}
    evals = {"uses": OURS, "id": "evals", "with": {"key": COMMENT_KEY, "gateway": "on"}, "env": env}
    pushed = workflow.steps(events.push(workflow.repo), [evals, {"uses": "actions/upload-artifact", "with": upload}])
    assert pushed.exit_code == 0, pushed.log
    fork = workflow.github.repository("mallory/bot", fork_of=workflow.repo)
    workflow.branch()
    workflow.project.write("scoregate.toml", OTHER_SETTINGS)
    workflow.project.write("evals/ask.py", SUITE.format(cases=12, prompt='"Kindly: "', key=KEY))
    workflow.commit()
    return workflow.open_pull_request(fork=fork)


def test_a_forks_commit_runs_with_the_key_of_the_environment(workflow: Workflow, openai_server: OpenAIServer) -> None:
    pull = open_fork(workflow, openai_server)
    workflow.repo.roles["ana"] = "write"
    head = pull.head_sha
    command = CommandRun(workflow, pull.comment(f"/scoregate run @{head[:10]}", "ana"), openai_server)
    answer = command.answer()
    assert (answer.exit_code, answer.outputs["commit"]) == (0, head), answer.log
    assert [kind for _, kind in command.comment.reactions] == ["eyes", "rocket"]

    command.known["secrets.OPENAI_API_KEY"] = KEY
    workflow.project.git("checkout", "-q", "--detach", head)
    outcome = command.job("run")
    assert (outcome.exit_code, outcome.outputs["conclusion"]) == (0, "passed"), outcome.log
    assert "seen: []" in outcome.log
    assert len(openai_server.asked()) == 24
    assert {each.headers["authorization"] for each in openai_server.requests} == {f"Bearer {KEY}"}
    (artifact,) = [each for each in command.run.artifacts if each.name == "command-run"]
    assert KEY.encode() not in artifact.content

    workflow.project.git("checkout", "-q", "main")
    command.known["needs.run.result"] = "success"
    published = command.job("publish")
    assert published.exit_code == 0, published.log
    assert [(each.sha, each.state) for each in workflow.repo.statuses] == [(head, "pending"), (head, "success")]
    (report,) = [each for each in pull.comments if each.login == "github-actions[bot]"]
    assert report.body.startswith(f"<!-- scoregate:v1 key={COMMENT_KEY} sha={head}")
    assert "12 of 12" in report.body
    assert "exact" in report.body

    workflow.project.git("checkout", "-q", "--detach", head)
    pull.head_repository.commit("change", files={"more.txt": "pushed after the approval"})
    moved = command.job("run")
    assert moved.exit_code == 3, moved.log
    assert "has moved" in moved.log
    assert len(openai_server.asked()) == 24
