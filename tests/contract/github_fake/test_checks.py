"""Check runs: from in progress to completed, annotated fifty at a time."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from tests.fakes.github import GitHub, Repository


@pytest.fixture
def start(api: httpx.Client, repo: Repository) -> dict[str, Any]:
    body = {"name": "gate", "head_sha": repo.branch("feature"), "status": "in_progress"}
    answer = api.post("/check-runs", json=body)
    assert answer.status_code == 201
    return dict(answer.json())


def annotation(line: int) -> dict[str, Any]:
    return {"path": "a.py", "start_line": line, "end_line": line, "annotation_level": "failure", "message": "worse"}


def test_a_conclusion_completes_it(api: httpx.Client, start: dict[str, Any]) -> None:
    assert (start["status"], start["conclusion"]) == ("in_progress", None)
    done = api.patch(f"/check-runs/{start['id']}", json={"conclusion": "failure"}).json()
    assert (done["status"], done["conclusion"], done["completed_at"] is None) == ("completed", "failure", False)
    listed = api.get("/commits/feature/check-runs", params={"check_name": "gate"}).json()
    assert (listed["total_count"], listed["check_runs"][0]["id"]) == (1, start["id"])


def test_an_output_replaces_the_last_but_annotations_are_added(api: httpx.Client, start: dict[str, Any]) -> None:
    path = f"/check-runs/{start['id']}"
    output = {"title": "t", "summary": "s", "text": "long", "annotations": [annotation(n) for n in range(50)]}
    api.patch(path, json={"output": output})
    api.patch(path, json={"output": {"title": "u", "summary": "v", "annotations": [annotation(50)]}})
    shown = api.get(path).json()["output"]
    assert (shown["title"], shown["summary"], shown["text"], shown["annotations_count"]) == ("u", "v", None, 51)
    assert len(api.get(shown["annotations_url"], params={"per_page": 100}).json()) == 51


@pytest.mark.parametrize(
    "body",
    [
        {"status": "completed"},
        {"output": {"title": "t", "summary": "x" * 65_536}},
        {"output": {"title": "t", "summary": "é" * 32_768}},
        {"output": {"title": "t", "summary": "s", "annotations": [annotation(n) for n in range(51)]}},
    ],
    ids=["no conclusion", "characters", "bytes", "51 annotations"],
)
def test_github_refusals(github: GitHub, api: httpx.Client, start: dict[str, Any], body: dict[str, Any]) -> None:
    assert api.patch(f"/check-runs/{start['id']}", json=body).status_code == 422
    github.violations.clear()


def test_creation_without_a_conclusion_is_refused_too(api: httpx.Client, repo: Repository) -> None:
    body = {"name": "gate", "head_sha": repo.branch("main"), "status": "completed"}
    assert api.post("/check-runs", json=body).status_code == 422


@pytest.mark.usefixtures("repo")
def test_an_unknown_commit_has_no_checks(api: httpx.Client) -> None:
    created = api.post("/check-runs", json={"name": "gate", "head_sha": "f" * 40})
    assert (created.status_code, "No commit found for SHA" in created.text) == (422, True)
    assert api.get(f"/commits/{'f' * 40}/check-runs").status_code == 422


def test_a_second_run_of_a_name_hides_the_first(api: httpx.Client, repo: Repository, start: dict[str, Any]) -> None:
    again = api.post("/check-runs", json={"name": "gate", "head_sha": repo.branch("feature")}).json()
    latest = api.get("/commits/feature/check-runs").json()["check_runs"]
    every = api.get("/commits/feature/check-runs", params={"filter": "all"}).json()["check_runs"]
    assert [run["id"] for run in latest] == [again["id"]]
    assert [run["id"] for run in every] == [again["id"], start["id"]]
