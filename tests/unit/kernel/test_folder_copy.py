"""Private copies of folders that suites can write to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from scoregate.errors import UsageError
from scoregate.kernel.host.isolation.folder_copy import FolderCopy


def make_copy(tmp_path: Path, folder: str = "tapes/here") -> FolderCopy:
    (tmp_path / "work").mkdir(exist_ok=True)
    return FolderCopy(tmp_path / "work" / folder, tmp_path / "work", tmp_path / "copy", suffix=".gz")


def test_files_are_copied_both_ways(tmp_path: Path) -> None:
    copy = make_copy(tmp_path)
    folder = tmp_path / "work/tapes/here"
    folder.mkdir(parents=True)
    (folder / "a.gz").write_bytes(b"old")
    (folder / "b.txt").write_bytes(b"not wanted")
    (folder / "c.gz").mkdir()
    copy.load()
    assert [path.name for path in copy.path.iterdir()] == ["a.gz"]
    (copy.path / "a.gz").write_bytes(b"new")
    (copy.path / "d.gz").write_bytes(b"more")
    copy.store()
    assert (folder / "a.gz").read_bytes() == b"new"
    assert (folder / "d.gz").read_bytes() == b"more"
    assert (folder / "d.gz").stat().st_uid == (tmp_path / "work").stat().st_uid
    assert sorted(path.name for path in folder.iterdir()) == ["a.gz", "b.txt", "c.gz", "d.gz"]


def test_missing_folders_are_created_for_files(tmp_path: Path) -> None:
    copy = make_copy(tmp_path)
    copy.load()
    copy.store()
    assert list((tmp_path / "work").iterdir()) == []
    (copy.path / "a.gz").write_bytes(b"x")
    copy.store()
    assert (tmp_path / "work/tapes/here/a.gz").read_bytes() == b"x"


def test_links_are_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    (target / "secret.gz").write_bytes(b"secret")
    for number, place in enumerate(("tapes", "tapes/here")):
        root = tmp_path / str(number)
        root.mkdir()
        copy = make_copy(root)
        path = root / "work" / place
        path.parent.mkdir(exist_ok=True)
        path.symlink_to(target if place != "tapes" else tmp_path)
        (copy.path / "a.gz").write_bytes(b"x")
        for act in (copy.load, copy.store):
            with pytest.raises(UsageError, match="can't be") as exc_info:
                act()
            assert "no link" in str(exc_info.value.advice)
    assert [path.name for path in target.iterdir()] == ["secret.gz"]


def test_a_link_is_skipped_and_replaced(tmp_path: Path) -> None:
    copy = make_copy(tmp_path)
    folder = tmp_path / "work/tapes/here"
    folder.mkdir(parents=True)
    (tmp_path / "secret").write_bytes(b"secret")
    (folder / "a.gz").symlink_to(tmp_path / "secret")
    os.mkfifo(folder / "b.gz")
    copy.load()
    assert list(copy.path.iterdir()) == []
    (copy.path / "a.gz").write_bytes(b"x")
    copy.store()
    assert (tmp_path / "secret").read_bytes() == b"secret"
    assert not (folder / "a.gz").is_symlink()
    assert (folder / "a.gz").read_bytes() == b"x"
