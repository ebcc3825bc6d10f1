"""What git is asked, in real repositories."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import anyio
import pytest
from tests.integration.ci.conftest import Repository

from scoregate.errors import GitError
from scoregate.kernel.host import git

pytestmark = pytest.mark.anyio


async def test_a_repository_is_found_from_inside(repository: Repository) -> None:
    repository.write("deep/er/file.txt")
    assert await git.top_level(repository.root / "deep" / "er") == repository.root
    assert await git.head_commit(repository.root) == repository.head
    assert await git.branch(repository.root) == "main"
    assert await git.resolve_commit(repository.root, "main~0") == repository.head
    assert await git.resolve_commit(repository.root, "--all") is None


async def test_outside_a_repository_everything_is_none(tmp_path: Path) -> None:
    assert await git.top_level(tmp_path) is None
    assert await git.head_commit(tmp_path) is None
    assert await git.branch(tmp_path) is None
    assert await git.list_files(tmp_path) is None
    assert await git.default_branch(tmp_path) is None
    assert not await git.is_dirty(tmp_path)


async def test_before_the_first_commit_there_is_no_head(tmp_path: Path) -> None:
    Repository(tmp_path).git("init", "-q", "-b", "start")
    assert await git.head_commit(tmp_path) is None
    assert await git.branch(tmp_path) == "start"
    assert await git.list_files(tmp_path) == ()


async def test_a_detached_head_has_no_branch(repository: Repository) -> None:
    repository.git("checkout", "-q", "--detach")
    assert await git.branch(repository.root) is None
    assert await git.head_commit(repository.root) == repository.head


async def test_without_git_everything_is_none(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert await git.top_level(repository.root) is None
    assert await git.list_files(repository.root) is None
    assert await git.read_work_tree(repository.root) is None
    with pytest.raises(GitError, match="not installed"):
        await git.head_commit(repository.root)


async def test_dirty_counts_tracked_files_only(repository: Repository) -> None:
    repository.write("new.txt")
    assert not await git.is_dirty(repository.root)
    repository.write("README.md", "changed")
    assert await git.is_dirty(repository.root)


async def test_the_work_tree_equals_single_git_calls(repository: Repository, tmp_path: Path) -> None:
    root = repository.root
    tree = await git.read_work_tree(root)
    assert tree == git.WorkTree(repository.head, "main", False, False, ())
    for name in ("sub/new file.py", "? odd", "é.py", "li\nne.py"):
        repository.write(name)
    tree = await git.read_work_tree(root)
    assert tree is not None
    assert (tree.dirty, tree.changed) == (False, False)
    assert sorted(tree.untracked) == sorted(["sub/new file.py", "? odd", "é.py", "li\nne.py"])
    repository.git("mv", "README.md", "? moved.md")
    repository.git("checkout", "-q", "--detach")
    tree = await git.read_work_tree(root)
    assert tree is not None
    assert (tree.commit, tree.branch, tree.dirty, tree.changed) == (repository.head, None, True, True)
    assert "? moved.md" not in tree.untracked
    assert await git.read_work_tree(tmp_path / "..") is None


async def test_untracked_files_of_a_submodule_are_a_change_but_not_dirty(
    repository: Repository, tmp_path: Path
) -> None:
    other = Repository.new(tmp_path / "other")
    repository.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other.root), "inner")
    repository.git("commit", "-qam", "inner")
    (repository.root / "inner" / "new.txt").write_text("", encoding="utf-8")
    tree = await git.read_work_tree(repository.root)
    assert tree is not None
    assert (tree.dirty, tree.changed) == (await git.is_dirty(repository.root), True) == (False, True)


async def test_before_the_first_commit_the_work_tree_has_a_branch(tmp_path: Path) -> None:
    Repository(tmp_path).git("init", "-q", "-b", "start")
    assert await git.read_work_tree(tmp_path) == git.WorkTree(None, "start", False, False, ())


async def test_variables_select_no_other_repository(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, head = Repository.new(tmp_path / "other"), repository.head
    monkeypatch.setenv("GIT_DIR", str(other.root / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.root))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    assert await git.top_level(repository.root) == repository.root
    assert await git.head_commit(repository.root) == head
    assert await git.list_files(repository.root) == ("README.md",)


async def test_files_are_listed_as_in_git(repository: Repository) -> None:
    repository.write(".gitignore", "ignored/\n*.log\n")
    for name in ("ignored/a.py", "b.log", "sub/new.py", "with space.py", 'quo"te\n.py', "é.py"):
        repository.write(name)
    paths = await git.list_files(repository.root)
    assert paths == tuple(sorted([".gitignore", "README.md", "sub/new.py", "with space.py", 'quo"te\n.py', "é.py"]))
    assert await git.list_files(repository.root / "sub") == ("new.py",)


async def test_the_remote_names_the_default_branch(repository: Repository) -> None:
    assert await git.default_branch(repository.root) == "main"
    repository.git("branch", "trunk")
    repository.git("symbolic-ref", "HEAD", "refs/heads/trunk")
    clone = repository.clone("clone").root
    assert await git.default_branch(clone) == "origin/trunk"
    assert await git.default_branch(clone, "main") == "origin/main"
    assert await git.default_branch(clone, "no-such") is None


async def test_the_merge_base_is_found(repository: Repository) -> None:
    first = repository.head
    repository.git("checkout", "-qb", "work")
    repository.commit("work.txt")
    repository.git("checkout", "-q", "main")
    repository.commit("main.txt")
    assert await git.merge_base(repository.root, "main", "work") == first
    repository.git("checkout", "-q", "--orphan", "apart")
    repository.commit("apart.txt")
    assert await git.merge_base(repository.root, "main", "apart") is None


async def test_a_repository_of_another_user_is_explained(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    monkeypatch.setattr(git, "_environment", lambda: {**os.environ, "LC_ALL": "C"})
    with pytest.raises(GitError, match="another user owns it") as caught:
        await git.top_level(repository.root)
    assert caught.value.advice == f"Run: git config --global --add safe.directory {repository.root}"


async def test_a_work_tree_is_another_commit_and_temporary(repository: Repository) -> None:
    first = repository.head
    repository.commit("later.txt")
    repository.write("README.md", "not committed")
    before = repository.state()
    async with git.open_worktree(repository.root, first) as tree:
        assert (tree / "README.md").read_text(encoding="utf-8") == "hello"
        assert not (tree / "later.txt").exists()
        assert not tree.is_relative_to(repository.root)
        assert await git.head_commit(tree) == first
    assert not tree.exists()
    assert repository.state() == before


async def test_no_hook_is_run(repository: Repository) -> None:
    hook = repository.write(".git/hooks/post-checkout", f"#!/bin/sh\ntouch {repository.root}/hooked\n")
    hook.chmod(0o755)
    async with git.open_worktree(repository.root, repository.head):
        pass
    assert not (repository.root / "hooked").exists()


async def test_a_work_tree_is_removed_with_its_changes(repository: Repository) -> None:
    before = repository.state()
    async with git.open_worktree(repository.root, repository.head) as tree:
        (tree / "locked").mkdir()
        (tree / "locked" / "file").touch()
        (tree / "link").symlink_to(repository.root)
        (tree / "locked").chmod(0o500)
        (tree / "README.md").write_text("changed", encoding="utf-8")
    assert repository.state() == before
    assert (repository.root / "README.md").read_text(encoding="utf-8") == "hello"


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
async def test_an_exception_removes_a_work_tree(repository: Repository, error: type[BaseException]) -> None:
    before = repository.state()
    with pytest.raises(error):
        async with git.open_worktree(repository.root, repository.head):
            raise error
    assert repository.state() == before


@pytest.mark.parametrize("after_s", [0.0, 0.002, 0.005, 0.01, 0.03, 0.2])
async def test_cancelling_removes_it(repository: Repository, after_s: float) -> None:
    before = repository.state()
    with anyio.move_on_after(after_s):
        async with git.open_worktree(repository.root, repository.head):
            await anyio.sleep_forever()
    assert repository.state() == before


async def test_an_unknown_commit_is_an_error(repository: Repository) -> None:
    before = repository.state()
    with pytest.raises(GitError, match="could not check out"):
        async with git.open_worktree(repository.root, "0" * 40):
            pass
    assert repository.state() == before


async def test_a_deleted_work_tree_leaves_no_trace(repository: Repository) -> None:
    before = repository.state()
    async with git.open_worktree(repository.root, repository.head) as tree:
        shutil.rmtree(tree)
    assert repository.state() == before
