"""The workflow for commands that `init --commands` writes, its jobs run as steps of a runner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import yaml
from tests.fakes.github import Comment, Pull, events
from tests.integration.jobs.world import Job, World

WORKFLOW: Mapping[str, Any] = yaml.safe_load(
    (files("scoregate.cli") / "starter" / "commands_workflow.yml.txt").read_text(encoding="utf-8")
)
KEY = "evals-evals"


def permissions_of(job: str) -> dict[str, str]:
    return {name.replace("-", "_"): level for name, level in WORKFLOW["jobs"][job]["permissions"].items()}


@dataclass
class Commands:
    """A repository whose people write commands."""

    world: World

    def say(self, pull: Pull, text: str, login: str = "ana", **environment: str) -> Job:
        """Add a comment on a pull request."""
        return self.answer(pull.comment(text, login), **environment)

    def answer(self, comment: Comment, *arguments: str, **environment: str) -> Job:
        """The first job of the workflow."""
        event = events.issue_comment(self.world.repo, comment)
        return self.answer_event(event, *arguments, **environment)

    def answer_event(self, event: events.Event, *arguments: str, **environment: str) -> Job:
        self.world.permissions = permissions_of("answer")
        return self.world.job(event, "answer", "--key", KEY, *arguments, **environment)

    def run(self, answered: Job, event: events.Event, *arguments: str, **environment: str) -> Job:
        """The second job: the approved commit is checked out, and what it leaves is uploaded."""
        outputs = answered.outputs
        self.world.project.git("checkout", "-q", "--detach", outputs["commit"])
        self.world.permissions = permissions_of("run")
        inputs = {"INPUT_APPROVED": outputs["approved"], "INPUT_SUITE": outputs["suite"], "INPUT_GATEWAY": "on"}
        inputs |= {"INPUT_REPEATS": outputs["repeats"], "INPUT_POLICY-FROM": "base", "INPUT_KEY": KEY}
        outcome = self.world.job(event, "run", *arguments, run=answered.ran, **inputs, **environment)
        if (outcome.out / "run").exists():
            outcome.ran.upload("command-run", outcome.out / "run", overwrite=True)
        return outcome

    def publish(self, answered: Job, event: events.Event, result: str, **environment: str) -> Job:
        """The third job, on the default branch."""
        self.world.project.git("checkout", "-q", "main")
        self.world.permissions = permissions_of("publish")
        arguments = ("--approved", answered.outputs["approved"], "--run-result", result)
        inputs = {"INPUT_SUITE": answered.outputs["suite"], "INPUT_KEY": KEY}
        return self.world.job(event, "publish", *arguments, run=answered.ran, **inputs, **environment)

    def carry_out(self, pull: Pull, text: str, login: str = "ana") -> tuple[Job, Job, Job]:
        """All jobs that a command starts."""
        comment = pull.comment(text, login)
        event = events.issue_comment(self.world.repo, comment)
        answer = self.answer(comment)
        assert answer.exit_code == 0, answer.output
        outcome = self.run(answer, event)
        published = self.publish(answer, event, "success" if outcome.exit_code == 0 else "failure")
        return answer, outcome, published
