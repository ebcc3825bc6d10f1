"""The user that runs the suites, determined by the workspace."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from scoregate.kernel.host import user_ids
from scoregate.kernel.host.user_ids import (
    NOBODY,
    Identity,
    find_identity,
    give_folder,
    owner_rights,
    process_rights,
    with_home,
)

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to somebody else")


def environ(workspace: Path, **more: str) -> dict[str, str]:
    return {"SCOREGATE_CONTAINER": "1", "GITHUB_WORKSPACE": str(workspace), "HOME": "/github/home", **more}


def test_suites_run_as_workspace_owner(tmp_path: Path) -> None:
    os.chown(tmp_path, 4321, 4322)
    assert find_identity(environ(tmp_path)) == Identity(4321, 4322)
    assert owner_rights(environ(tmp_path)) == {"user": 4321, "group": 4322, "extra_groups": ()}


@pytest.mark.parametrize("mark", ["", "0"])
def test_outside_the_container_no_user_changes(tmp_path: Path, mark: str) -> None:
    os.chown(tmp_path, 4321, 4322)
    assert find_identity(environ(tmp_path, SCOREGATE_CONTAINER=mark)) is None
    assert process_rights(None) == {}


@pytest.mark.parametrize(
    ("owner", "expected"),
    [((4321, 998), Identity(4321, 4321)), ((998, 998), Identity(998, NOBODY)), ((4321, 4322), Identity(4321, 4322))],
)
def test_the_docker_group_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: tuple[int, int], expected: Identity
) -> None:
    workspace, socket = tmp_path / "workspace", tmp_path / "docker.sock"
    workspace.mkdir()
    socket.touch()
    os.chown(workspace, *owner)
    os.chown(socket, 0, 998)
    monkeypatch.setattr(user_ids, "_DOCKER", socket)
    assert find_identity(environ(workspace)) == expected


def test_the_root_group_is_not_used(tmp_path: Path) -> None:
    os.chown(tmp_path, 4321, 0)
    assert find_identity(environ(tmp_path)) == Identity(4321, 4321)


def test_a_workspace_of_root_uses_nobody_and_git_stays_root(tmp_path: Path) -> None:
    identity = find_identity(environ(tmp_path))
    assert identity == Identity(NOBODY, NOBODY, owns=False)
    assert owner_rights(environ(tmp_path)) == {}


def test_suites_get_their_own_home(tmp_path: Path) -> None:
    theirs = with_home(Identity(4321, 4322), environ(tmp_path, PYTHONDONTWRITEBYTECODE="1", KEPT="yes"), tmp_path)
    home = Path(theirs["HOME"]).stat()
    assert (home.st_uid, home.st_gid, home.st_mode & 0o777) == (4321, 4322, 0o700)
    assert theirs["KEPT"] == "yes"
    assert "PYTHONDONTWRITEBYTECODE" not in theirs


def test_a_folder_changes_owner_with_its_content(tmp_path: Path) -> None:
    (tmp_path / "app" / "out" / "run").mkdir(parents=True)
    (tmp_path / "app" / "out" / "run" / "run.json").touch()
    os.chown(tmp_path, 4321, 4322)
    give_folder(tmp_path / "app" / "out", environ(tmp_path))
    owned = [path for path in tmp_path.rglob("*") if (path.stat().st_uid, path.stat().st_gid) == (4321, 4322)]
    assert {path.name for path in owned} == {"out", "run", "run.json"}


@pytest.mark.parametrize("link", ["app", "app/out", "app/out/run"])
def test_no_link_of_a_suite_leaves_it(tmp_path: Path, link: str) -> None:
    workspace, outside = tmp_path / "workspace", tmp_path / "outside"
    (outside / "out" / "run").mkdir(parents=True)
    (outside / "out" / "run" / "file").touch()
    way = workspace / link
    way.parent.mkdir(parents=True)
    way.symlink_to(outside if link == "app" else outside / "out")
    os.chown(workspace, 4321, 4322)
    give_folder(workspace / "app" / "out", environ(workspace))
    assert {path.stat().st_uid for path in (outside, *outside.rglob("*"))} == {0}


def test_files_outside_the_workspace_keep_their_owner(tmp_path: Path) -> None:
    workspace, outside = tmp_path / "workspace", tmp_path / "outside"
    workspace.mkdir()
    outside.mkdir()
    os.chown(workspace, 4321, 4322)
    for way in (outside, workspace / ".." / "outside"):
        give_folder(way, environ(workspace))
    assert outside.stat().st_uid == 0


def test_a_link_changes_owner_without_its_target(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.touch()
    link.symlink_to(target)
    Identity(4321, 4322).give(link)
    assert (target.stat().st_uid, link.lstat().st_uid) == (0, 4321)
