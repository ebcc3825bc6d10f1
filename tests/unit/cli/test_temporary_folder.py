"""The temporary folder stays only if the container is removed with it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from scoregate.cli import run_gate


def test_only_the_containers_folder_is_not_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setattr(run_gate, "in_container", lambda _: True)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    kept = []
    for container in (tmp_path, Path("/proc")):
        monkeypatch.setattr(run_gate, "_CONTAINER", container)
        with run_gate.temporary_folder() as folder:
            (folder / "node").mkdir()
        kept.append(folder.exists())
    assert kept == [True, False], "/proc is another device, as a mounted folder is"
