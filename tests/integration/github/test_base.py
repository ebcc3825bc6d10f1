"""The commit that a job's scores are compared with, on every event and with whatever history is there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fakes.github import GitHub, Pull, events
from tests.integration.ci.conftest import Repository, repository
from tests.integration.github.place import Place

from scoregate.kernel.job.github.base import BaseCommit, find_base
from scoregate.kernel.job.github.context import head_sha, read_github_job

__all__ = ["repository"]
pytestmark = pytest.mark.anyio


class Setup:
    """A repository of four commits on main, and a branch that left it after the second."""

    def __init__(self, github: GitHub, local: Repository, folder: Path) -> None:
        self.repo, self.local = github.repository("acme/bot"), local
        self.place = Place(self.repo, folder)
        self.main = [local.head, local.commit("a.py")]
        local.git("checkout", "-qb", "change")
        self.head = local.commit("change.py")
        local.git("checkout", "-q", "main")
        self.main += [local.commit("b.py"), local.commit("c.py")]
        self.repo.push(local.root)

    def pull(self, merged_with: str = "main") -> Pull:
        """A pull request; its merge commit is checked out, made on top of any commit of main."""
        git = self.local.git
        git("checkout", "-q", "--detach", merged_with)
        git("merge", "-q", "--no-ff", "-m", "merge", "change")
        git("branch", "merged")
        self.repo.push(self.local.root)
        pull = self.repo.pull_request("change")
        self.repo.refs[f"refs/pull/{pull.number}/merge"] = git("rev-parse", "HEAD")
        return pull

    async def base(
        self, event: events.Event, root: Path | None = None, *, token: bool = True, branch: str = ""
    ) -> BaseCommit:
        github = read_github_job({"GITHUB_ACTIONS": "true", **event.environment(self.place.folder)})
        assert github is not None
        async with self.place.api() as api:
            where = root or self.local.root
            return await find_base(github, where, api if token else None, branch=branch or None)


@pytest.fixture
def setup(github: GitHub, repository: Repository, tmp_path: Path) -> Setup:
    return Setup(github, repository, tmp_path)


async def test_a_pull_request_uses_the_first_parent_of_its_merge_commit(setup: Setup) -> None:
    event = events.pull_request(setup.pull())
    assert await setup.base(event) == BaseCommit("main", setup.main[3])
    assert setup.place.github.requests == []


async def test_a_base_that_moved_changes_nothing(setup: Setup) -> None:
    """The payload has the base of the last push; the merge commit was tested."""
    pull = setup.pull()
    event = events.pull_request(pull)
    event.payload["pull_request"]["base"]["sha"] = setup.main[1]
    assert (await setup.base(event)).commit == setup.main[3]


async def test_a_clone_of_depth_one_has_its_name(setup: Setup) -> None:
    event = events.pull_request(setup.pull())
    shallow = setup.local.clone("shallow", "--depth=1", "--branch=merged")
    assert shallow.git("rev-list", "--count", "HEAD") == "1"
    assert (await setup.base(event, shallow.root)).commit == setup.main[3]


async def test_a_checked_out_head_uses_its_merge_base(setup: Setup) -> None:
    event = events.pull_request(setup.pull())
    setup.local.git("checkout", "-q", "change")
    assert (await setup.base(event, token=False)).commit == setup.main[1]


async def test_in_a_shallow_clone_github_knows_it(setup: Setup) -> None:
    event = events.pull_request(setup.pull())
    shallow = setup.local.clone("shallow", "--depth=1", "--branch=change")
    assert (await setup.base(event, shallow.root)).commit == setup.main[1]
    assert (await setup.base(event, shallow.root, token=False)).commit == setup.main[3]


async def test_without_a_repository_github_has_them(setup: Setup, tmp_path: Path) -> None:
    event = events.pull_request(setup.pull())
    (tmp_path / "exported").mkdir()
    assert (await setup.base(event, tmp_path / "exported")).commit == setup.main[3]
    assert len(setup.place.github.asked("GET", "*/git/commits/*")) == 1


async def test_a_refusal_of_github_selects_the_event(setup: Setup, tmp_path: Path) -> None:
    event = events.pull_request(setup.pull())
    (tmp_path / "exported").mkdir()
    for path in ("*/git/commits/*", "*/compare/*"):
        setup.place.github.fail("GET", path, status=404, body={"message": "Not Found"})
    assert (await setup.base(event, tmp_path / "exported")).commit == setup.main[3]


async def test_the_base_branch_is_of_the_event(setup: Setup) -> None:
    setup.repo.refs["refs/heads/release"] = setup.main[2]
    event = events.pull_request(setup.pull())
    event.payload["pull_request"]["base"]["ref"] = "release"
    assert (await setup.base(event, branch="main")).branch == "release"


async def test_a_merge_group_has_its_own_base(setup: Setup) -> None:
    event = events.merge_group(setup.pull())
    assert await setup.base(event) == BaseCommit("main", setup.main[3])


async def test_a_push_is_compared_with_its_before(setup: Setup) -> None:
    assert await setup.base(events.push(setup.repo, before=setup.main[0])) == BaseCommit("main", setup.main[0])


async def test_a_new_branch_uses_the_default_branch(setup: Setup) -> None:
    event = events.push(setup.repo, "change", before=events.NOWHERE)
    assert await setup.base(event) == BaseCommit("main")
    assert await setup.base(event, branch="develop") == BaseCommit("develop")


@pytest.mark.parametrize("start", [events.schedule, events.workflow_dispatch])
async def test_scheduled_runs_use_the_default_branch(setup: Setup, start: Callable[..., events.Event]) -> None:
    setup.repo.default_branch = "trunk"
    setup.repo.refs["refs/heads/trunk"] = setup.main[3]
    event = start(setup.repo)
    assert await setup.base(event) == BaseCommit("trunk")
    assert await setup.base(event, branch="main") == BaseCommit("main")


async def test_reports_are_on_the_head_and_not_the_merge_commit(setup: Setup) -> None:
    pull = setup.pull()
    for event, commit in (
        (events.pull_request(pull), setup.head),
        (events.merge_group(pull), pull.merge_sha),
        (events.push(setup.repo), setup.main[3]),
    ):
        github = read_github_job({"GITHUB_ACTIONS": "true", **event.environment(setup.place.folder)})
        assert github is not None
        assert head_sha(github) == commit
        assert head_sha(replace(github, event={})) == github.sha
