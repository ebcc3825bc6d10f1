"""APIs for commands in comments: reactions, labels, statuses, and jobs that run again."""

from __future__ import annotations

import httpx
import pytest
from tests.contract.github_fake.conftest import Connect
from tests.fakes.github import GitHub, Pull, Repository, events


def test_a_reaction_is_unique_for_each_user(api: httpx.Client, pull: Pull) -> None:
    comment = pull.comment("/scoregate run", "ana")
    path = f"/issues/comments/{comment.id}/reactions"
    assert [api.post(path, json={"content": kind}).status_code for kind in ("eyes", "eyes", "rocket")] == [
        201,
        200,
        201,
    ]
    assert comment.reactions == [("github-actions[bot]", "eyes"), ("github-actions[bot]", "rocket")]


def test_a_label_is_removed_once(api: httpx.Client, pull: Pull) -> None:
    pull.label("scoregate: run", "ana")
    assert [api.delete("/issues/1/labels/scoregate%3A%20run").status_code for _ in range(2)] == [200, 404]
    assert [(event.event, event.login) for event in pull.events] == [
        ("labeled", "ana"),
        ("unlabeled", "github-actions[bot]"),
    ]


@pytest.mark.usefixtures("pull")
def test_a_status_needs_its_permission_and_a_short_description(connect: Connect, repo: Repository) -> None:
    path, body = f"/statuses/{repo.branch('feature')}", {"state": "success", "context": "evals"}
    assert connect(contents="write").post(path, json=body).status_code == 403
    writer = connect(statuses="write")
    assert writer.post(path, json={**body, "description": "x" * 141}).status_code == 422
    assert writer.post(path, json=body).status_code == 201
    assert [(each.sha, each.state) for each in repo.statuses] == [(repo.branch("feature"), "success")]


def test_failed_jobs_run_again_and_others_do_not(connect: Connect, repo: Repository) -> None:
    failed, green = repo.workflow_run(conclusion="failure"), repo.workflow_run()
    paths = [f"/actions/runs/{run.id}/rerun-failed-jobs" for run in (failed, green)]
    assert connect(actions="read").post(paths[0]).status_code == 403
    client = connect(actions="write")
    assert [client.post(path).status_code for path in (*paths, paths[0])] == [201, 403, 403]
    assert (failed.run_attempt, failed.status) == (2, "queued")
    runs = client.get("/actions/runs", params={"head_sha": repo.branch("main"), "status": "completed"}).json()
    assert [run["id"] for run in runs["workflow_runs"]] == [green.id]


def test_the_event_of_a_comment_has_the_default_branch(github: GitHub, repo: Repository, pull: Pull) -> None:
    event = events.issue_comment(repo, pull.comment("hello", "ana"))
    assert (event.sha, event.actor) == (repo.branch("main"), "ana")
    assert event.payload["issue"]["pull_request"]["url"] == f"{github.url}/repos/acme/shop/pulls/1"
    assert event.payload["comment"]["user"]["login"] == "ana"
