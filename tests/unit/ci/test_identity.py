"""Who the user's code runs as, by what is found of the workspace."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from scoregate.ci import identity
from scoregate.ci.identity import NOBODY, Identity, as_owner, at_home, find_identity, rights

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to somebody else")


def environ(workspace: Path, **more: str) -> dict[str, str]:
    return {"SCOREGATE_CONTAINER": "1", "GITHUB_WORKSPACE": str(workspace), "HOME": "/github/home", **more}


def test_it_is_the_owner_of_the_workspace(tmp_path: Path) -> None:
    os.chown(tmp_path, 4321, 4322)
    assert find_identity(environ(tmp_path)) == Identity(4321, 4322)
    assert as_owner(environ(tmp_path)) == {"user": 4321, "group": 4322, "extra_groups": ()}


@pytest.mark.parametrize("mark", ["", "0"])
def test_outside_the_container_we_stay_who_we_are(tmp_path: Path, mark: str) -> None:
    os.chown(tmp_path, 4321, 4322)
    assert find_identity(environ(tmp_path, SCOREGATE_CONTAINER=mark)) is None
    assert rights(None) == {}


def test_the_group_of_the_docker_socket_is_nobodys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace, socket = tmp_path / "workspace", tmp_path / "docker.sock"
    workspace.mkdir()
    socket.touch()
    os.chown(workspace, 4321, 998)
    os.chown(socket, 0, 998)
    monkeypatch.setattr(identity, "_DOCKER", socket)
    assert find_identity(environ(workspace)) == Identity(4321, 4321)


def test_the_group_of_root_is_nobodys(tmp_path: Path) -> None:
    os.chown(tmp_path, 4321, 0)
    assert find_identity(environ(tmp_path)) == Identity(4321, 4321)


def test_where_root_owns_the_workspace_it_is_nobody_and_git_stays_root(tmp_path: Path) -> None:
    found = find_identity(environ(tmp_path))
    assert found == Identity(NOBODY, NOBODY, owns=False)
    assert "cannot write" in found.notice
    assert as_owner(environ(tmp_path)) == {}


def test_they_get_a_home_of_their_own(tmp_path: Path) -> None:
    theirs = at_home(Identity(4321, 4322), environ(tmp_path, PYTHONDONTWRITEBYTECODE="1", KEPT="yes"), tmp_path)
    home = Path(theirs["HOME"]).stat()
    assert (home.st_uid, home.st_gid, home.st_mode & 0o777) == (4321, 4322, 0o700)
    assert theirs["KEPT"] == "yes"
    assert "PYTHONDONTWRITEBYTECODE" not in theirs


def test_a_link_is_given_without_what_it_points_to(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.touch()
    link.symlink_to(target)
    Identity(4321, 4322).give(link)
    assert (target.stat().st_uid, link.lstat().st_uid) == (0, 4321)
