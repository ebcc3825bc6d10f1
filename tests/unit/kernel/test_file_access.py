"""Files of a project are read without leaving it, and created without following links."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from scoregate.errors import InstallError, SettingsError
from scoregate.features.setup.environment import VenvSpec
from scoregate.features.setup.install.plans import find_install_plan
from scoregate.features.setup.javascript.project_files import WorkspaceFiles
from scoregate.kernel.host.file_access import create_file, read_project_file
from scoregate.kernel.host.secrets import Redactor
from scoregate.kernel.host.user_ids import Identity
from scoregate.kernel.judge.settings import Settings, load_settings


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "repository" / "services" / "bot"
    root.mkdir(parents=True)
    (tmp_path / "repository" / ".git").mkdir()
    return root


def test_links_are_followed_only_in_the_repository(project: Path, tmp_path: Path) -> None:
    (project.parent / "shared.toml").write_text("shared")
    (tmp_path / "secret").write_text("secret")
    (project / "inside").symlink_to("../shared.toml")
    assert read_project_file(project / "inside", 3) == b"sha"
    os.mkfifo(project / "pipe")
    links = {"outside": tmp_path / "secret", "environ": "/proc/self/environ", "terminal": "/dev/ptmx", "self": "self"}
    for name, target in {**links, "up": "../../../secret"}.items():
        (project / name).symlink_to(target)
    for name in (*links, "up", "pipe", "."):
        with pytest.raises(OSError, match=r"outside of the project|not a regular file|symbolic links"):
            read_project_file(project / name, 10)
    (project / "dangling").symlink_to("nothing")
    for name in ("dangling", "nothing"):
        with pytest.raises(FileNotFoundError):
            read_project_file(project / name, 10)


def test_devices_and_foreign_files_are_no_settings_or_metadata(project: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("TOKEN")
    for target in ("/dev/ptmx", "/proc/self/environ", str(tmp_path / "secret"), "scoregate.toml"):
        (project / "scoregate.toml").symlink_to(target)
        with pytest.raises(SettingsError, match=r"scoregate\.toml can't be read: ") as exc_info:
            load_settings(project, {})
        assert "TOKEN" not in str(exc_info.value)
        (project / "scoregate.toml").unlink()
        for name in ("pyproject.toml", "setup.cfg", "Pipfile.lock"):
            (project / name).symlink_to(target)
            if (project / name).exists() and (name != "Pipfile.lock" or (project / name).is_file()):
                with pytest.raises(InstallError, match="can't be read: "):
                    find_install_plan(project, Settings())
            (project / name).unlink()


def test_a_link_to_itself_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".nvmrc").symlink_to(".nvmrc")
    files = WorkspaceFiles(tmp_path)
    assert not files.has(tmp_path / ".nvmrc")
    assert files.read(tmp_path / ".nvmrc") is None


def test_files_are_created_before_others_can_place_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "victim")
    with pytest.raises(FileExistsError):
        create_file(tmp_path / "link", "text")
    assert not (tmp_path / "victim").exists()
    shared: list[tuple[str, bool]] = []

    def share(_: Identity, path: Path) -> None:
        shared.append((path.name, path.is_file() or (path / "requirements.txt").is_file()))

    monkeypatch.setattr(Identity, "share", share)
    VenvSpec(tmp_path, tmp_path, {}, Redactor(()), print, Identity(1, 1)).open("a==1\n")
    assert shared == [("requirements.txt", True), ("suites", True)]
    assert (tmp_path / "suites" / "requirements.txt").read_text() == "a==1\n"
