"""Copies of the work tree: what is in them, and that the user's own files stay as they are."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest
from tests.integration.host.conftest import Project

from scoregate.errors import GitError
from scoregate.features.interventions.edited_trees.tree_copy import open_tree_copy
from scoregate.kernel.judge.settings import Settings


def digest_tree(root: Path) -> str:
    """A digest of all files of a project, but for git's own and scoregate's output."""
    digest = sha256()
    for path in sorted(root.rglob("*")):
        if ".git" not in path.parts and "scoregate-out" not in path.parts and path.is_file():
            digest.update(f"{path.relative_to(root)} {path.lstat().st_mode} ".encode() + path.read_bytes())
    return digest.hexdigest()


@pytest.fixture
def changed(project: Project) -> Project:
    """A project with each kind of change that is not committed."""
    project.write(".gitignore", "ignored.txt\n")
    for name in ("same.txt", "edited.txt", "staged.txt", "deleted.txt", "moved.txt", "folder/inner.txt"):
        project.write(name, f"{name} of the commit\n")
    project.commit()
    project.write("edited.txt", "edited\n")
    project.write("staged.txt", "staged\n")
    project.write("new_staged.txt", "new and staged\n")
    project.git("add", "staged.txt", "new_staged.txt")
    (project.root / "deleted.txt").unlink()
    project.git("mv", "moved.txt", "folder/moved.txt")
    project.write("untracked/new.txt", "untracked\n")
    project.write("ignored.txt", "ignored\n")
    return project


@pytest.mark.anyio
async def test_a_copy_has_the_uncommitted_changes_and_no_ignored_file(changed: Project) -> None:
    async with open_tree_copy(changed.root, Settings()) as copy:
        found = {
            path.relative_to(copy.top).as_posix(): path.read_text(encoding="utf-8") for path in copy.top.rglob("*.txt")
        }
    assert found == {
        "same.txt": "same.txt of the commit\n",
        "edited.txt": "edited\n",
        "staged.txt": "staged\n",
        "new_staged.txt": "new and staged\n",
        "folder/inner.txt": "folder/inner.txt of the commit\n",
        "folder/moved.txt": "moved.txt of the commit\n",
        "untracked/new.txt": "untracked\n",
    }


@pytest.mark.anyio
async def test_restore_undoes_edits_and_deletes_what_suites_wrote(changed: Project) -> None:
    before = digest_tree(changed.root)
    async with open_tree_copy(changed.root, Settings()) as copy:
        whole = digest_tree(copy.top)
        times = {path: path.stat().st_mtime_ns for path in copy.top.rglob("*.txt")}
        copy.write({"edited.txt": b"x", "same.txt": None, "created/by_edit.txt": b"y"})
        (copy.top / "folder" / "written.txt").write_text("by a suite")
        (copy.top / "cache" / "deep").mkdir(parents=True)
        (copy.top / "cache" / "deep" / "answer").write_text("by a suite")
        assert digest_tree(copy.top) != whole
        assert copy.restore()
        assert digest_tree(copy.top) == whole
        assert not (copy.top / "cache").exists()
        assert {path: path.stat().st_mtime_ns for path in copy.top.rglob("*.txt")} == times
    assert digest_tree(changed.root) == before
    assert changed.git("worktree", "list").count("\n") == 1


@pytest.mark.anyio
async def test_a_copy_in_which_a_suite_changed_another_file_is_spoiled(changed: Project) -> None:
    async with open_tree_copy(changed.root, Settings()) as copy:
        copy.write({"edited.txt": b"x"})
        (copy.top / "same.txt").write_text("changed by a suite, which must not count for the next edit")
        assert not copy.restore()


@pytest.mark.anyio
async def test_links_are_not_edited(changed: Project, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "secret.txt"
    outside.write_text("outside\n")
    (changed.root / "link.txt").symlink_to(outside)
    (changed.root / "linked").symlink_to(outside.parent)
    changed.commit()
    async with open_tree_copy(changed.root, Settings()) as copy:
        assert copy.read("same.txt") == b"same.txt of the commit\n"
        for path in ("link.txt", "linked/secret.txt", "missing.txt", "folder", "../secret.txt"):
            assert copy.read(path) is None
        assert (copy.top / "link.txt").readlink() == outside
    assert outside.read_text() == "outside\n"


@pytest.mark.anyio
async def test_nothing_is_written_through_links(changed: Project, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.txt").write_text("outside\n")
    (changed.root / "link.txt").symlink_to(outside / "secret.txt")
    (changed.root / "linked").symlink_to(outside)
    changed.commit()
    async with open_tree_copy(changed.root, Settings()) as copy:
        copy.write({"link.txt": b"edited\n"})
        with pytest.raises(GitError, match=r"linked/secret\.txt can't be edited"):
            copy.write({"linked/secret.txt": b"edited\n"})
        assert not copy.restore()  # a link can't be made again
    async with open_tree_copy(changed.root, Settings()) as copy:
        copy.write({"same.txt": b"edited\n"})
        (copy.top / "same.txt").unlink()
        (copy.top / "same.txt").symlink_to(outside / "secret.txt")  # by a suite
        assert copy.restore()
        assert copy.read("same.txt") == b"same.txt of the commit\n"
    assert [(path.name, path.read_text()) for path in outside.iterdir()] == [("secret.txt", "outside\n")]


@pytest.mark.anyio
async def test_whatever_a_suite_leaves_is_deleted_or_spoils_the_copy(changed: Project) -> None:
    async with open_tree_copy(changed.root, Settings()) as copy:
        (copy.top / "made" / ".git" / "objects").mkdir(parents=True)
        (copy.top / "made" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        assert copy.restore()
        assert not (copy.top / "made").exists()
        copy.write({"folder/inner.txt": b"edited\n"})
        (copy.top / "folder" / "inner.txt").unlink()
        (copy.top / "folder" / "moved.txt").unlink()
        (copy.top / "folder").rmdir()
        (copy.top / "folder").write_text("a file now\n")
        assert not copy.restore()


@pytest.mark.anyio
async def test_a_folder_in_the_place_of_a_file_is_copied(changed: Project) -> None:
    (changed.root / "same.txt").unlink()
    changed.write("same.txt/inner.txt", "a folder now\n")
    async with open_tree_copy(changed.root, Settings()) as copy:
        assert copy.read("same.txt/inner.txt") == b"a folder now\n"


@pytest.mark.anyio
async def test_the_state_of_a_copy_changes_with_the_files(changed: Project) -> None:
    states = set()
    for text in ("a", "a", "b"):
        changed.write("untracked/new.txt", text)
        async with open_tree_copy(changed.root, Settings()) as copy:
            states.add(copy.state)
    assert len(states) == 2


@pytest.mark.anyio
async def test_without_a_commit_there_is_no_copy(project: Project) -> None:
    project.write("file.txt", "text\n")
    with pytest.raises(GitError, match="no git repository with a commit"):
        async with open_tree_copy(project.root, Settings()):
            pass
