"""A fork's pull request behind the model gateway, in the container: it replays the base's answers without a key."""

from __future__ import annotations

from typing import Any

from tests.e2e.container.test_stories import UPLOADED, jobs_of, workflow
from tests.e2e.container.workflow import OURS, Workflow
from tests.fakes.fixtures import github, openai_server
from tests.fakes.github import events
from tests.fakes.openai import OpenAIServer
from tests.integration.jobs.test_gateway import KEY, SUITE
from tests.integration.jobs.world import READ

__all__ = ["github", "openai_server", "workflow"]
SETTINGS = 'gateway = "record"\ncassettes = "artifact"\npaths = ["evals/ask.py"]\n'


def steps(server: OpenAIServer, key: str) -> list[dict[str, Any]]:
    """The steps of a job; a fork's has an empty key, as GitHub gives it no secrets."""
    env = {"OPENAI_API_KEY": key, "OPENAI_BASE_URL": server.url}
    return [{"uses": OURS, "id": "evals", "env": env}, *UPLOADED]


def write_suite(workflow: Workflow, cases: int) -> None:
    workflow.project.write("evals/ask.py", SUITE.format(cases=cases, prompt='"Please: "', key=KEY))
    workflow.commit()


def test_a_fork_is_measured_as_far_as_the_base_recorded_it(workflow: Workflow, openai_server: OpenAIServer) -> None:
    openai_server.answers(r"question (\d+)", lambda question: "answer " + question.last.rpartition(" ")[2])
    workflow.project.write("scoregate.toml", SETTINGS)
    write_suite(workflow, 12)
    first = workflow.steps(events.push(workflow.repo), steps(openai_server, KEY))
    assert first.exit_code == 0, first.log
    assert "seen: []" in first.log
    assert len(openai_server.asked()) == 12
    (artifact,) = [each for run in workflow.repo.runs.values() for each in run.artifacts]
    assert KEY.encode() not in artifact.content

    fork = workflow.github.repository("mallory/bot", fork_of=workflow.repo)
    workflow.branch()
    workflow.project.write("README.md", "a change that no suite depends on\n")
    workflow.commit()
    pull = workflow.open_pull_request(fork=fork)
    workflow.permissions = READ
    same = workflow.steps(events.pull_request(pull), steps(openai_server, ""))
    assert same.exit_code == 0, same.log
    assert "calls of models are answered from recordings: those of main@" in same.summary

    workflow.project.git("checkout", "-q", "change")
    write_suite(workflow, 13)
    workflow.check_out_merge(pull)
    more = workflow.steps(events.pull_request(pull), steps(openai_server, ""))
    assert (more.exit_code, more.outputs["conclusion"]) == (3, "unmeasurable"), more.log
    assert "no recorded answer to a call of openai/gpt-4o" in more.summary
    assert "need a key" in more.summary
    assert len(openai_server.asked()) == 12
    assert pull.comments == []

    workflow.project.git("checkout", "-q", "main")
    second = jobs_of("docs/guides/pull_requests.md", "comment")["comment"]
    workflow.permissions = {name.replace("-", "_"): level for name, level in second["permissions"].items()}
    run = [each for each in workflow.repo.runs.values() if each.event == "pull_request"][-1]
    assert workflow.steps(events.workflow_run(run), second["steps"]).exit_code == 0
    (comment,) = pull.comments
    assert "calls of models need a key, which this job does not have" in comment.body
