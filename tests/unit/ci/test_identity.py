"""Who the user's code runs as, by what is found of the workspace."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from scoregate.ci import user_ids
from scoregate.ci.user_ids import (
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


def test_it_is_the_owner_of_the_workspace(tmp_path: Path) -> None:
    os.chown(tmp_path, 4321, 4322)
    assert find_identity(environ(tmp_path)) == Identity(4321, 4322)
    assert owner_rights(environ(tmp_path)) == {"user": 4321, "group": 4322, "extra_groups": ()}


@pytest.mark.parametrize("mark", ["", "0"])
def test_outside_the_container_we_stay_who_we_are(tmp_path: Path, mark: str) -> None:
    os.chown(tmp_path, 4321, 4322)
    assert find_identity(environ(tmp_path, SCOREGATE_CONTAINER=mark)) is None
    assert process_rights(None) == {}


@pytest.mark.parametrize(
    ("owner", "expected"),
    [((4321, 998), Identity(4321, 4321)), ((998, 998), Identity(998, NOBODY)), ((4321, 4322), Identity(4321, 4322))],
)
def test_the_group_of_the_docker_socket_is_nobodys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: tuple[int, int], expected: Identity
) -> None:
    workspace, socket = tmp_path / "workspace", tmp_path / "docker.sock"
    workspace.mkdir()
    socket.touch()
    os.chown(workspace, *owner)
    os.chown(socket, 0, 998)
    monkeypatch.setattr(user_ids, "_DOCKER", socket)
    assert find_identity(environ(workspace)) == expected


def test_the_group_of_root_is_nobodys(tmp_path: Path) -> None:
    os.chown(tmp_path, 4321, 0)
    assert find_identity(environ(tmp_path)) == Identity(4321, 4321)


def test_where_root_owns_the_workspace_it_is_nobody_and_git_stays_root(tmp_path: Path) -> None:
    found = find_identity(environ(tmp_path))
    assert found == Identity(NOBODY, NOBODY, owns=False)
    assert owner_rights(environ(tmp_path)) == {}


def test_they_get_a_home_of_their_own(tmp_path: Path) -> None:
    theirs = with_home(Identity(4321, 4322), environ(tmp_path, PYTHONDONTWRITEBYTECODE="1", KEPT="yes"), tmp_path)
    home = Path(theirs["HOME"]).stat()
    assert (home.st_uid, home.st_gid, home.st_mode & 0o777) == (4321, 4322, 0o700)
    assert theirs["KEPT"] == "yes"
    assert "PYTHONDONTWRITEBYTECODE" not in theirs


def test_a_folder_is_given_with_all_that_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "app" / "out" / "run").mkdir(parents=True)
    (tmp_path / "app" / "out" / "run" / "run.json").touch()
    os.chown(tmp_path, 4321, 4322)
    give_folder(tmp_path / "app" / "out", environ(tmp_path))
    owned = [path for path in tmp_path.rglob("*") if (path.stat().st_uid, path.stat().st_gid) == (4321, 4322)]
    assert {path.name for path in owned} == {"out", "run", "run.json"}


@pytest.mark.parametrize("link", ["app", "app/out", "app/out/run"])
def test_no_link_of_a_suites_leads_out_of_it(tmp_path: Path, link: str) -> None:
    workspace, outside = tmp_path / "workspace", tmp_path / "outside"
    (outside / "out" / "run").mkdir(parents=True)
    (outside / "out" / "run" / "file").touch()
    way = workspace / link
    way.parent.mkdir(parents=True)
    way.symlink_to(outside if link == "app" else outside / "out")
    os.chown(workspace, 4321, 4322)
    give_folder(workspace / "app" / "out", environ(workspace))
    assert {path.stat().st_uid for path in (outside, *outside.rglob("*"))} == {0}


def test_what_is_not_in_the_workspace_stays_whose_it_is(tmp_path: Path) -> None:
    workspace, outside = tmp_path / "workspace", tmp_path / "outside"
    workspace.mkdir()
    outside.mkdir()
    os.chown(workspace, 4321, 4322)
    for way in (outside, workspace / ".." / "outside"):
        give_folder(way, environ(workspace))
    assert outside.stat().st_uid == 0


def test_a_link_is_given_without_what_it_points_to(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.touch()
    link.symlink_to(target)
    Identity(4321, 4322).give(link)
    assert (target.stat().st_uid, link.lstat().st_uid) == (0, 4321)
