"""Git data: objects under their true names, refs that move forwards."""

from __future__ import annotations

import base64
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.fakes.github import GitHub, Repository


def commit(api: httpx.Client, files: dict[str, str | None], *, parent: str | None = None) -> str:
    """Write a commit with the API, as for a data branch."""
    lines: list[dict[str, Any]] = [{"path": path, "mode": "100644", "type": "blob"} for path in files]
    for line, content in zip(lines, files.values(), strict=True):
        line["sha"] = content and api.post("/git/blobs", json={"content": content}).json()["sha"]
    base = {"base_tree": api.get(f"/git/commits/{parent}").json()["tree"]["sha"]} if parent else {}
    tree = api.post("/git/trees", json={"tree": lines, **base})
    assert tree.status_code == 201, tree.text
    parents = [parent] if parent else []
    created = api.post("/git/commits", json={"message": "data", "tree": tree.json()["sha"], "parents": parents})
    assert created.status_code == 201
    return str(created.json()["sha"])


def test_a_branch_is_written_without_a_clone(api: httpx.Client, repo: Repository) -> None:
    first = commit(api, {"a/one.json": "1", "two.json": "2"})
    assert api.post("/git/refs", json={"ref": "refs/heads/data", "sha": first}).status_code == 201
    second = commit(api, {"a/one.json": None, "three.json": "3"}, parent=first)
    assert api.patch("/git/refs/heads/data", json={"sha": second}).json()["object"]["sha"] == second
    assert repo.files("data") == {"two.json": b"2", "three.json": b"3"}
    assert api.get("/git/ref/heads/data").json()["object"]["sha"] == second


def test_a_tree_can_be_recursive(api: httpx.Client, repo: Repository) -> None:
    flat = [line["path"] for line in api.get("/git/trees/main").json()["tree"]]
    deep = {line["path"]: line for line in api.get("/git/trees/main", params={"recursive": "1"}).json()["tree"]}
    assert (flat, list(deep)) == (["README.md", "src"], ["README.md", "src", "src/shop.py"])
    blob = f"/git/blobs/{deep['src/shop.py']['sha']}"
    assert base64.b64decode(api.get(blob).json()["content"]) == b"print()"
    assert api.get(blob, headers={"accept": "application/vnd.github.raw+json"}).content == b"print()"
    assert repo.files("main")["src/shop.py"] == b"print()"


def test_base64_content_is_decoded(api: httpx.Client, repo: Repository) -> None:
    created = api.post("/git/blobs", json={"content": base64.b64encode(b"\xff\0").decode(), "encoding": "base64"})
    assert repo.objects.blobs[created.json()["sha"]] == b"\xff\0"


def test_a_ref_only_moves_forwards_unless_forced(api: httpx.Client, repo: Repository) -> None:
    old, new = repo.branch("main"), repo.commit("main")
    refused = api.patch("/git/refs/heads/main", json={"sha": old})
    assert (refused.status_code, refused.json()["message"]) == (422, "Update is not a fast forward")
    assert repo.branch("main") == new
    assert api.patch("/git/refs/heads/main", json={"sha": old, "force": True}).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "body", "message"),
    [
        ("POST", "/git/refs", {"ref": "refs/heads/main"}, "Reference already exists"),
        ("POST", "/git/refs", {"ref": "main"}, "must start with 'refs/'"),
        ("POST", "/git/refs", {"ref": "refs/heads/new", "sha": "e" * 40}, "Object does not exist"),
        ("PATCH", "/git/refs/heads/new", {}, "Reference does not exist"),
        ("POST", "/git/trees", {"tree": [], "base_tree": "e" * 40}, "base_tree is not a valid tree oid"),
        ("POST", "/git/trees", {"tree": [{"path": "x", "mode": "100644", "sha": "e" * 40}]}, "is not a valid blob"),
        ("POST", "/git/trees", {"tree": [{"path": "../x", "mode": "100644", "content": ""}]}, "malformed path"),
        ("POST", "/git/trees", {"tree": [{"path": "x", "mode": "100644", "sha": None}]}, "BadObjectState"),
        ("POST", "/git/commits", {"message": "x", "tree": "e" * 40}, "Tree SHA does not exist"),
    ],
)
def test_git_refusals(
    api: httpx.Client, repo: Repository, method: str, path: str, body: dict[str, Any], message: str
) -> None:
    sha = {"sha": repo.branch("main")} if "/refs" in path else {}
    answer = api.request(method, path, json=sha | body)
    assert (answer.status_code, message in answer.text) == (422, True), answer.text


@pytest.mark.usefixtures("repo")
def test_missing_objects(api: httpx.Client) -> None:
    for path in ("ref/heads/none", f"commits/{'e' * 40}", f"trees/{'e' * 40}", f"blobs/{'e' * 40}"):
        assert api.get(f"/git/{path}").status_code == 404


def test_an_empty_repository_refuses_git(api: httpx.Client, github: GitHub) -> None:
    github.repository("acme/empty")
    assert api.get(f"{github.url}/repos/acme/empty/git/ref/heads/main").status_code == 409


def test_a_real_repository_keeps_its_names(api: httpx.Client, github: GitHub, tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        identity = ("-c", "user.name=Dev", "-c", "user.email=dev@example.com")
        return subprocess.run(
            ["git", *identity, *arguments], cwd=tmp_path, check=True, capture_output=True, text=True
        ).stdout

    git("init", "-q", "-b", "main")
    for number in range(3):
        (tmp_path / "folder").mkdir(exist_ok=True)
        (tmp_path / "folder" / "file.txt").write_text(str(number))
        git("add", "-A")
        git("commit", "-q", "-m", f"Number {number}\n\nWith a body.")
    git("checkout", "-q", "-b", "feature", "HEAD~1")
    git("commit", "-q", "--allow-empty", "-m", "Feature")
    git("checkout", "-q", "main")
    git("checkout", "-q", "--detach")
    git("merge", "-q", "--no-ff", "-m", "Merge", "feature")
    git("update-ref", "refs/pull/1/merge", "HEAD")
    git("checkout", "-q", "main")
    repo = github.repository("acme/real")
    repo.push(tmp_path)
    assert repo.pull_request("feature").merge_sha == git("rev-parse", "refs/pull/1/merge").strip()
    assert repo.branch("main") == git("rev-parse", "HEAD").strip()
    assert repo.files("main") == {"folder/file.txt": b"2"}
    listed = api.get(f"{github.url}/repos/acme/real/commits").json()
    assert [one["sha"] for one in listed] == git("rev-list", "HEAD").split()
    tree = repo.objects.add_tree(repo.objects.files(repo.objects.commits[repo.branch("main")].tree))
    assert tree == git("rev-parse", "HEAD^{tree}").strip()
