"""Commits, comparisons and pull requests."""

from __future__ import annotations

import httpx
import pytest
from tests.fakes.github import GitHub, Pull, Repository


def test_history_is_listed_newest_first(api: httpx.Client, repo: Repository) -> None:
    shas = [repo.branch("main"), *(repo.commit("main") for _ in range(4))]
    page = api.get("/commits", params={"sha": "main", "per_page": 3})
    assert [commit["sha"] for commit in page.json()] == shas[:1:-1]
    assert [commit["sha"] for commit in api.get(page.links["next"]["url"]).json()] == shas[1::-1]
    assert [commit["sha"] for commit in api.get("/commits", params={"sha": shas[1]}).json()] == shas[1::-1]
    assert api.get("/commits", params={"sha": "none"}).status_code == 404


def test_branches_are_commits(api: httpx.Client, repo: Repository) -> None:
    sha = repo.branch("feature")
    assert api.get("/commits/feature").json()["sha"] == api.get(f"/commits/{sha[:10]}").json()["sha"] == sha
    unknown = api.get(f"/commits/{'e' * 40}")
    assert (unknown.status_code, unknown.json()["message"]) == (422, f"No commit found for SHA: {'e' * 40}")


def test_branches_are_compared_at_the_merge_base(api: httpx.Client, repo: Repository) -> None:
    parted = repo.branch("main")
    new = [repo.commit("main"), repo.commit("main")]
    shown = api.get("/compare/main...feature").json()
    assert (shown["merge_base_commit"]["sha"], shown["ahead_by"], shown["behind_by"]) == (parted, 1, 2)
    assert (shown["status"], shown["base_commit"]["sha"]) == ("diverged", new[-1])
    assert [commit["sha"] for commit in shown["commits"]] == [repo.branch("feature")]
    assert api.get(f"/compare/{parted}...main").json()["status"] == "ahead"
    assert api.get("/compare/main...main").json()["status"] == "identical"
    assert api.get("/compare/main...none").status_code == 404


def test_a_merge_makes_the_newer_commit_the_base(api: httpx.Client, repo: Repository) -> None:
    tip = repo.commit("main")
    repo.commit("feature", parents=[repo.branch("feature"), tip])
    shown = api.get("/compare/main...feature").json()
    assert (shown["merge_base_commit"]["sha"], shown["behind_by"]) == (tip, 0)


def test_unrelated_branches_do_not_compare(api: httpx.Client, repo: Repository) -> None:
    repo.commit("orphan", parents=[])
    answer = api.get("/compare/main...orphan")
    assert (answer.status_code, "No common ancestor" in answer.text) == (404, True)


@pytest.fixture
def foreign(github: GitHub, repo: Repository) -> Pull:
    fork = github.repository("eve/shop", fork_of=repo)
    fork.commit("patch", parents=[repo.branch("main")])
    return repo.pull_request("patch", head_repository=fork, login="eve")


def test_a_pull_request_is_found_by_its_branch(api: httpx.Client, repo: Repository, pull: Pull, foreign: Pull) -> None:
    def numbers(**query: str) -> list[int]:
        return [shown["number"] for shown in api.get("/pulls", params=query).json()]

    assert numbers() == [foreign.number, pull.number]
    assert numbers(head="eve:patch") == [foreign.number]
    assert numbers(head="acme:patch") == []
    foreign.state = "closed"
    assert (numbers(head="eve:patch"), numbers(head="eve:patch", state="all")) == ([], [foreign.number])
    assert repo.pulls.keys() == {1, 2}


def test_a_head_follows_its_branch_and_a_base_does_not(api: httpx.Client, repo: Repository, foreign: Pull) -> None:
    base, head = repo.commit("main"), foreign.head_repository.commit("patch")
    shown = api.get(f"/pulls/{foreign.number}").json()
    assert (shown["head"]["sha"], shown["head"]["repo"]["fork"]) == (head, True)
    assert shown["base"]["sha"] != base
    merged = api.get(f"/git/commits/{shown['merge_commit_sha']}").json()
    assert [parent["sha"] for parent in merged["parents"]] == [base, head]
    assert api.get(f"/compare/{base}...eve:patch").json()["ahead_by"] == 2


def test_a_merge_commit_has_both_changes(api: httpx.Client, repo: Repository, pull: Pull) -> None:
    repo.commit("main", files={"README.md": "changed", "new.txt": "of the base"})
    repo.commit("feature", files={"src/shop.py": None, "more.txt": "of the head"})
    sha = api.get(f"/pulls/{pull.number}").json()["merge_commit_sha"]
    assert repo.files(sha) == {"README.md": b"changed", "new.txt": b"of the base", "more.txt": b"of the head"}
    assert api.get(f"/git/ref/pull/{pull.number}/merge").json()["object"]["sha"] == sha == pull.merge_sha


def test_the_repository(github: GitHub, api: httpx.Client, repo: Repository) -> None:
    address = f"{github.url}/repos/acme/shop"
    shown = api.get(address).json()
    assert (shown["id"], shown["default_branch"], shown["private"], shown["fork"]) == (repo.id, "main", False, False)
    assert [api.get(address + wrong).status_code for wrong in ("s", "/")] == [404, 404]
    github.violations.remove("GET /repos/acme/shop/: the fake does not serve this")
