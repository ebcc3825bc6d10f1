"""Requests and the fake's answers are checked against GitHub's description of its API."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from tests.fakes.github import GitHub, Pull, Repository
from tests.fakes.github.api import conformity
from tests.fakes.github.description import HOW_TO_INSTALL, SOURCE
from tests.fakes.github.model import Activity
from tests.fakes.github.routes import ROUTES

pytestmark = pytest.mark.skipif(not SOURCE.is_file(), reason=f"GitHub's description is missing: run {HOW_TO_INSTALL}")


@pytest.mark.parametrize(
    ("method", "path", "query", "body", "complaint"),
    [
        ("POST", "/issues/1/comments", {}, {}, "'body' is a required property"),
        ("POST", "/issues/1/comments", {}, {"body": 1}, "1 is not of type 'string'"),
        ("POST", "/issues/1/comments", {}, {"body": "x", "boddy": "x"}, "'boddy' was unexpected"),
        ("GET", "/issues/one/comments", {}, None, "'one' is not of type 'integer'"),
        ("GET", "/issues/1/comments", {"per_page": "many"}, None, "'many' is not of type 'integer'"),
        ("GET", "/issues/1/comments", {"perpage": "1"}, None, "query parameter 'perpage' is not known"),
        ("GET", "/issues/1/comments", {}, {"body": "x"}, "a body is sent where none is expected"),
        ("GET", "/pulls", {"state": "merged"}, None, "'merged' is not one of"),
        ("POST", "/check-runs", {}, {"name": "x", "head_sha": "y", "started_at": "now"}, "'now' is not a 'date-time'"),
        ("POST", "/check-runs", {}, {"name": "x", "head_sha": "y", "conclusion": "bad"}, "'bad' is not one of"),
        ("POST", "/git/trees", {}, {"tree": [{"path": "x", "mode": "644"}]}, "'644' is not one of"),
        ("GET", "/stargazers", {}, None, "the fake does not serve this"),
    ],
)
@pytest.mark.usefixtures("pull")
def test_an_unknown_request_is_refused_and_recorded(
    github: GitHub, api: httpx.Client, method: str, path: str, query: dict[str, str], body: Any, complaint: str
) -> None:
    answer = api.request(method, path, params=query, json=body)
    assert answer.status_code in (404, 422)
    assert complaint in github.violations.pop()


@pytest.mark.usefixtures("repo")
def test_invalid_json_is_refused(api: httpx.Client) -> None:
    assert api.post("/git/blobs", content=b"{").status_code == 400
    assert api.post("/git/blobs", content=b"[]").status_code == 400
    assert api.get("/pulls", headers={"x-github-api-version": "2020-01-01"}).status_code == 400
    assert api.get("/pulls", headers={"user-agent": ""}).status_code == 403


def test_the_fake_answers_as_described(github: GitHub, api: httpx.Client, repo: Repository, pull: Pull) -> None:
    visit_everything(github, api, repo, pull)
    judge = conformity()
    assert judge is not None
    wrong = {str(one): judge.of_answer(one.operation, one.status or 0, one.answer) for one in github.requests}
    assert {request: complaints for request, complaints in wrong.items() if complaints} == {}
    assert {one.operation for one in github.requests} == {route.operation for route in ROUTES}


def visit_everything(github: GitHub, api: httpx.Client, repo: Repository, pull: Pull) -> None:
    """Call every operation at least once; none is refused."""
    sha, run = repo.branch("main"), repo.workflow_run()
    artifact = run.upload("scores", {"run.json": "{}"})
    pull.label("bug", "octocat")
    repo.activities.append(Activity(1, "refs/heads/main", "0" * 40, sha, "branch_creation"))
    blob = post(api, "/git/blobs", {"content": "x"})["sha"]
    tree = post(api, "/git/trees", {"tree": [{"path": "x", "mode": "100644", "type": "blob", "sha": blob}]})["sha"]
    commit = post(api, "/git/commits", {"message": "x", "tree": tree, "parents": [sha]})["sha"]
    post(api, "/git/refs", {"ref": "refs/heads/data", "sha": sha})
    comment = post(api, f"/issues/{pull.number}/comments", {"body": "x"})["id"]
    level = {"path": "a", "start_line": 1, "end_line": 1, "annotation_level": "notice", "message": "m"}
    output = {"title": "t", "summary": "s", "annotations": [level]}
    check = post(api, "/check-runs", {"name": "gate", "head_sha": sha, "output": output})["id"]
    issue = post(api, "/issues", {"title": "t", "body": "x"})["number"]
    changes = {
        f"/issues/{issue}": {"state": "closed", "state_reason": "completed", "body": "y"},
        f"/issues/comments/{comment}": {"body": "y"},
        f"/check-runs/{check}": {"status": "completed", "conclusion": "success"},
        "/git/refs/heads/data": {"sha": commit},
    }
    for path, body in changes.items():
        assert api.patch(path, json=body).status_code == 200
    post(api, f"/issues/comments/{comment}/reactions", {"content": "eyes"})
    post(api, f"/statuses/{sha}", {"state": "pending", "context": "evals", "description": "d"})
    post(api, f"/actions/runs/{repo.workflow_run(conclusion='failure').id}/rerun-failed-jobs", {})
    addresses = """
        issues issues/{pull}/labels issues/{pull}/events collaborators/octocat/permission activity
        pulls pulls/{pull} commits commits/feature compare/main...feature commits/main/check-runs check-runs/{check}
        check-runs/{check}/annotations issues/{pull}/comments issues/comments/{comment} actions/artifacts
        actions/artifacts/{artifact} actions/runs actions/runs/{run} actions/runs/{run}/artifacts git/ref/heads/data
        git/commits/{commit} git/trees/{tree} git/blobs/{blob}
    """
    ids = {"pull": pull.number, "check": check, "comment": comment, "artifact": artifact.id, "run": run.id}
    for path in addresses.format(**ids, commit=commit, tree=tree, blob=blob).split():
        assert api.get(f"/{path}").status_code == 200, path
    assert api.get(f"{github.url}/repos/acme/shop").status_code == 200
    assert api.get(f"/actions/artifacts/{artifact.id}/zip").status_code == 302
    assert api.delete(f"/issues/{pull.number}/labels/bug").status_code == 200
    for path in (f"/issues/comments/{comment}", "/git/refs/heads/data"):
        assert api.delete(path).status_code == 204
    person = {"authorization": f"Bearer {github.token('octocat')}"}
    assert api.get(f"{github.url}/user", headers=person).status_code == 200


def post(api: httpx.Client, path: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = api.post(path, json=body)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())
