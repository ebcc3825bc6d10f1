"""The lines that a change touches."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.integration.host.conftest import Project

from scoregate.errors import UsageError
from scoregate.features.interventions.edited_trees.changed_lines import list_changed_lines, list_own_changes


@pytest.mark.anyio
async def test_changed_added_and_untracked_files_are_listed(project: Project) -> None:
    project.write("ü b.md", "one\ntwo\nthree\n")
    project.write("same.md", "same\n")
    project.commit()
    project.write("ü b.md", "one\n++ not a header\nthree\nfour\n")
    project.write("added.md", "a\n")
    project.git("add", "added.md")
    project.write("untracked.md", "u\n")
    changed = await list_changed_lines(project.root, "HEAD")
    found = {path: [n for n in range(1, 6) if any(n in each for each in lines)] for path, lines in changed.items()}
    assert found == {
        "ü b.md": [2, 4],
        "added.md": [1],
        "untracked.md": [1, 2, 3, 4, 5],
    }


@pytest.mark.anyio
async def test_the_changes_of_a_branch_are_those_since_it_left_main(project: Project) -> None:
    project.write("prompt.md", "one\ntwo\n")
    project.commit()
    project.git("checkout", "-qb", "topic")
    project.write("prompt.md", "one\nchanged\n")
    project.commit()
    assert await list_own_changes(project.root, None) == {"prompt.md": [range(2, 3)]}
    project.git("checkout", "-q", "main")
    assert await list_own_changes(project.root, None) == {}


@pytest.mark.anyio
async def test_the_changes_of_a_shallow_checkout_are_not_known(project: Project, tmp_path: Path) -> None:
    project.write("prompt.md", "one\n")
    project.commit()
    base = project.git("rev-parse", "HEAD").strip()
    project.write("prompt.md", "two\n")
    project.commit()
    assert await list_own_changes(project.root, "main", base) == {"prompt.md": [range(1, 2)]}
    (tmp_path / "shallow").mkdir()
    shallow = Project(tmp_path / "shallow")
    shallow.git("fetch", "-q", "--depth=1", f"file://{project.root}", "main")
    shallow.git("checkout", "-q", "--detach", "FETCH_HEAD")
    assert await list_own_changes(shallow.root, "main", base) is None


@pytest.mark.anyio
async def test_without_a_commit_there_are_no_changes(project: Project) -> None:
    project.write("prompt.md", "one\n")
    assert await list_own_changes(project.root, None) == {}
    with pytest.raises(UsageError, match="--since 'HEAD' is no commit"):
        await list_changed_lines(project.root, "HEAD")
