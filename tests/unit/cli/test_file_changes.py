"""The changes of files that are reported, and those that are not."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Awaitable, Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import anyio
import pytest

from scoregate.cli.file_changes import FileChanges, is_changed_between

pytestmark = pytest.mark.skipif(find_spec("watchfiles") is None, reason="NOT TESTED, --watch: watchfiles is missing")

Check = Callable[[FileChanges], Awaitable[None]]


def watching(root: Path, check: Check) -> None:
    async def main() -> None:
        async with anyio.create_task_group() as tasks:
            changes = FileChanges(root, (root / "scoregate-out",), tasks)
            await changes.watch_project()
            await assert_none(changes)  # its own change shows that the watcher has started
            await check(changes)
            tasks.cancel_scope.cancel()

    anyio.run(main)


async def assert_next(changes: FileChanges, expected: dict[str, bool]) -> None:
    """The next changes, with whether each file is new. On a busy machine several watchers report them one by one."""
    found: dict[str, bool] = {}
    with anyio.move_on_after(60):
        while not found.keys() >= expected.keys():
            await changes.wait()
            await anyio.sleep(0.1)
            found |= {str(Path(each.path).relative_to(changes.root)): each.is_new for each in changes.take()}
    assert found == expected


async def assert_none(changes: FileChanges) -> None:
    """The next change is that of a file that is written now, so no change was reported before it."""
    (changes.root / "evals/last.py").touch()
    await assert_next(changes, {"evals/last.py": False})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / ".gitignore").write_text("ignored/\n*.log\n.env\n", encoding="utf-8")
    for name in ("evals/a.py", "evals/last.py", "ignored/data.csv", "debug.log", ".env"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("1", encoding="utf-8")
    return tmp_path


def test_every_way_to_save_is_a_change(root: Path) -> None:
    path = root / "evals/a.py"

    def replace_file() -> None:
        partial_file = path.with_name(".a.py.swp")
        partial_file.write_text("2", encoding="utf-8")
        partial_file.replace(path)

    def keep_backup() -> None:  # as vim does with `backupcopy=no`
        backup = path.with_name("a.py~")
        path.rename(backup)
        path.write_text("333", encoding="utf-8")
        backup.unlink()

    async def check(changes: FileChanges) -> None:
        for save in (partial(path.write_text, "22"), replace_file, keep_backup, path.touch):
            save()
            await assert_next(changes, {"evals/a.py": False})
        path.unlink()
        await assert_next(changes, {"evals/a.py": False})
        path.write_text("4", encoding="utf-8")
        await assert_next(changes, {"evals/a.py": True})

    watching(root, check)


def test_a_change_belongs_to_the_period_of_its_time(tmp_path: Path) -> None:
    path = tmp_path / "stamp.json"
    path.touch()
    os.utime(path, (50, 50))
    found = [is_changed_between(str(path), start, end) for start, end in ((40, 60), (50, 51), (40, 50), (51, 60))]
    assert found == [True, True, False, False]
    path.unlink()
    assert not is_changed_between(str(path), 40, 60)


def test_new_folders_are_watched(root: Path) -> None:
    async def check(changes: FileChanges) -> None:
        folder = root / "evals/more/deep"
        folder.mkdir(parents=True)
        (folder / "b.py").write_text("1", encoding="utf-8")
        await assert_next(changes, {"evals/more/deep/b.py": True})
        (folder / "b.py").write_text("22", encoding="utf-8")
        await assert_next(changes, {"evals/more/deep/b.py": False})

    watching(root, check)


def test_temporary_and_ignored_files_are_no_changes(root: Path) -> None:
    async def check(changes: FileChanges) -> None:
        names = ("evals/4913", "evals/.a.py.swp", "evals/a.py~", "evals/.#a.py", "evals/a.py___jb_tmp___", "other.log")
        names += ("debug.log", "ignored/data.csv", "evals/__pycache__/a.cpython-311.pyc", "scoregate-out/report.html")
        for name in names:
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_text("changed", encoding="utf-8")
        (root / "evals/a.py").chmod(0o600)
        await assert_none(changes)
        changes.watch_files(map(str, (root / ".env", root / "ignored/data.csv")))
        (root / ".env").write_text("A=1", encoding="utf-8")
        (root / "ignored/data.csv").write_text("22", encoding="utf-8")
        await assert_next(changes, {".env": False, "ignored/data.csv": False})
        (root / "debug.log").write_text("again", encoding="utf-8")
        await assert_none(changes)

    watching(root, check)
