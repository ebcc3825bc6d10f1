"""Workflow runs and artifacts: listed newest first, their bytes at another host."""

from __future__ import annotations

import io
import zipfile
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import httpx
import pytest
from tests.contract.github_fake.conftest import Connect
from tests.fakes.github import GitHub, Repository, Run, bomb


@pytest.fixture
def run(repo: Repository) -> Run:
    return repo.workflow_run(conclusion="failure")


def test_a_run_has_its_commit(api: httpx.Client, repo: Repository, run: Run) -> None:
    shown = api.get(f"/actions/runs/{run.id}").json()
    assert (shown["event"], shown["conclusion"], shown["head_branch"]) == ("push", "failure", "main")
    assert (shown["head_sha"], shown["run_attempt"]) == (repo.branch("main"), 1)
    assert api.get("/actions/runs/1").status_code == 404


def test_artifacts_are_listed_newest_first_and_by_name(api: httpx.Client, repo: Repository, run: Run) -> None:
    old = run.upload("scores", {"run.json": "{}"}, created_at=datetime.now(UTC) - timedelta(days=3))
    other = run.upload("logs", {"log": "x"})
    later = repo.workflow_run(head_branch="feature", event="pull_request").upload("scores", {"run.json": "{}"})
    every = api.get("/actions/artifacts", params={"per_page": 2})
    assert every.json()["total_count"] == 3
    assert [item["id"] for item in every.json()["artifacts"]] == [later.id, other.id]
    assert [item["id"] for item in api.get(every.links["next"]["url"]).json()["artifacts"]] == [old.id]
    named = api.get("/actions/artifacts", params={"name": "scores"}).json()["artifacts"]
    assert [(item["id"], item["workflow_run"]["head_branch"]) for item in named] == [
        (later.id, "feature"),
        (old.id, "main"),
    ]
    assert api.get(f"/actions/runs/{run.id}/artifacts").json()["total_count"] == 2


def test_an_artifact_names_a_fork(api: httpx.Client, github: GitHub, repo: Repository) -> None:
    fork = github.repository("eve/shop", fork_of=repo)
    repo.workflow_run(event="pull_request", head_repository=fork).upload("scores", {"run.json": "{}"})
    of = api.get("/actions/artifacts").json()["artifacts"][0]["workflow_run"]
    assert (of["repository_id"], of["head_repository_id"]) == (repo.id, fork.id)


def test_the_bytes_are_behind_a_redirect(api: httpx.Client, github: GitHub, run: Run, tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "run.json").write_text("{}")
    artifact = run.upload("scores", tmp_path)
    answer = api.get(f"/actions/artifacts/{artifact.id}/zip", follow_redirects=True)
    assert [step.status_code for step in answer.history] == [302]
    assert f"sha256:{sha256(answer.content).hexdigest()}" == artifact.digest
    assert zipfile.ZipFile(io.BytesIO(answer.content)).namelist() == ["deep/run.json"]
    assert "authorization" not in github.storage.requests[0].headers


def test_tokens_must_not_reach_the_blob_host(api: httpx.Client, github: GitHub, run: Run) -> None:
    location = api.get(f"/actions/artifacts/{run.upload('scores', b'zip').id}/zip").headers["location"]
    assert httpx.get(location, headers={"authorization": "Bearer x"}, timeout=60).status_code == 400
    assert len(github.violations) == 1
    github.violations.clear()


def test_a_signed_address_is_for_one_artifact_and_one_minute(github: GitHub, run: Run) -> None:
    one, two = run.upload("one", b"1"), run.upload("two", b"2")
    assert httpx.get(github.storage.sign(one), timeout=60).content == b"1"
    assert httpx.get(github.storage.sign(one, valid=-1), timeout=60).status_code == 403
    assert httpx.get(github.storage.sign(one).replace(str(one.id), str(two.id)), timeout=60).status_code == 403


def test_an_expired_one_is_gone(api: httpx.Client, run: Run) -> None:
    artifact = run.upload("scores", b"zip", expired=True)
    assert api.get(f"/actions/artifacts/{artifact.id}").json()["expired"] is True
    assert api.get(f"/actions/artifacts/{artifact.id}/zip").status_code == 410


@pytest.mark.usefixtures("repo")
def test_public_downloads_need_a_permission(connect: Connect, run: Run) -> None:
    path = f"/actions/artifacts/{run.upload('scores', b'zip').id}"
    assert connect(contents="read").get(path).status_code == 200
    assert connect(contents="read").get(f"{path}/zip").status_code == 403


def test_bytes_can_be_tampered_with(api: httpx.Client, run: Run) -> None:
    artifact = run.upload("scores", b"x" * 100_000)
    path = f"/actions/artifacts/{artifact.id}/zip"
    artifact.serve(b"other")
    assert api.get(path, follow_redirects=True).content == b"other"
    artifact.serve(b"y" * 100_000)
    artifact.truncate(1000)
    with pytest.raises(httpx.RemoteProtocolError):
        api.get(path, follow_redirects=True)


def test_a_zip_bomb_expands() -> None:
    data = bomb(size=32 << 20)
    assert len(data) < 100_000
    assert zipfile.ZipFile(io.BytesIO(data)).getinfo("run.json").file_size == 32 << 20


def test_a_name_is_unique(run: Run) -> None:
    run.upload("scores", b"1")
    with pytest.raises(ValueError, match="already"):
        run.upload("scores", b"2")
    assert run.upload("scores", b"2", overwrite=True) in run.artifacts
    assert len(run.artifacts) == 1
