"""Events are GitHub's examples, filled with the data of the fake."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.github import GitHub, Pull, Repository, events


@pytest.fixture(params=["with examples", "without"])
def _examples(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run with npm's examples and with our own short payloads."""
    if request.param == "without":
        monkeypatch.setattr(events, "example", lambda *_: "{}")
    elif not events.EXAMPLES.is_file():
        pytest.skip("npm has not brought the examples")


@pytest.mark.usefixtures("_examples")
def test_a_pull_request_runs_on_its_merge_commit(github: GitHub, pull: Pull, tmp_path: Path) -> None:
    event = events.pull_request(pull)
    parents = pull.repository.objects.commits[event.sha].parents
    assert parents == (pull.repository.branch("main"), pull.head_sha)
    payload = event.payload["pull_request"]
    assert (event.payload["number"], payload["number"], payload["head"]["sha"]) == (1, 1, pull.head_sha)
    assert event.payload["repository"]["full_name"] == "acme/shop"
    environment = event.environment(tmp_path, pull.repository.workflow_run(event="pull_request", head_branch="feature"))
    assert (environment["GITHUB_REF"], environment["GITHUB_HEAD_REF"]) == ("refs/pull/1/merge", "feature")
    assert (environment["GITHUB_SHA"], environment["GITHUB_API_URL"]) == (event.sha, github.url)
    assert json.loads(Path(environment["GITHUB_EVENT_PATH"]).read_text()) == event.payload
    assert environment["GITHUB_RUN_ATTEMPT"] == "1"


@pytest.mark.usefixtures("_examples")
def test_a_fork_is_marked(github: GitHub, repo: Repository) -> None:
    fork = github.repository("eve/shop", fork_of=repo)
    fork.commit("patch")
    pull = repo.pull_request("patch", head_repository=fork)
    payload = events.pull_request(pull).payload["pull_request"]
    assert (payload["head"]["repo"]["full_name"], payload["base"]["repo"]["full_name"]) == ("eve/shop", "acme/shop")
    run = repo.workflow_run(event="pull_request", head_branch="patch", head_repository=fork)
    second = events.workflow_run(run)
    assert second.payload["workflow_run"]["pull_requests"] == []
    assert second.payload["workflow_run"]["head_repository"]["owner"]["login"] == "eve"
    assert (second.sha, second.ref) == (repo.branch("main"), "refs/heads/main")
    own = repo.workflow_run(event="pull_request", head_branch="feature")
    repo.pull_request("feature")
    assert [one["number"] for one in events.workflow_run(own).payload["workflow_run"]["pull_requests"]] == [2]


@pytest.mark.usefixtures("_examples")
def test_a_push_has_the_parent(repo: Repository) -> None:
    first = events.push(repo)
    assert (first.payload["before"], first.payload["created"]) == ("0" * 40, True)
    old, new = repo.branch("main"), repo.commit("main")
    second = events.push(repo)
    assert (second.payload["before"], second.payload["after"], second.ref) == (old, new, "refs/heads/main")


@pytest.mark.usefixtures("_examples")
def test_a_merge_group_has_its_own_branch(pull: Pull) -> None:
    event = events.merge_group(pull)
    group = event.payload["merge_group"]
    assert group["head_sha"] == event.sha == pull.merge_sha
    assert group["head_ref"].startswith("refs/heads/gh-readonly-queue/main/pr-1-")
    assert group["base_sha"] == pull.repository.branch("main")


@pytest.mark.usefixtures("_examples")
def test_others_use_the_default_branch(pull: Pull) -> None:
    repo = pull.repository
    started = [
        events.schedule(repo),
        events.workflow_dispatch(repo),
        events.pull_request(pull, name="pull_request_target"),
    ]
    assert {(event.sha, event.ref) for event in started} == {(repo.branch("main"), "refs/heads/main")}


def test_the_repository_of_examples_is_replaced(pull: Pull) -> None:
    def strings(node: Any) -> list[str]:
        if isinstance(node, dict):
            return [text for value in node.values() for text in strings(value)]
        return [text for value in node for text in strings(value)] if isinstance(node, list) else [str(node)]

    run = pull.repository.workflow_run()
    payloads = [
        events.pull_request(pull),
        events.push(pull.repository),
        events.merge_group(pull),
        events.workflow_run(run),
    ]
    texts = [text for event in payloads for text in strings(event.payload)]
    assert [text for text in texts if "Hello-World" in text or "//api.github.com" in text] == []
