"""Private copies of the gateway's folders in the container, also of the cassettes of a base that runs again."""

from __future__ import annotations

from pathlib import Path

import pytest

from scoregate.features.gateway import folders
from scoregate.features.gateway.declare import GatewayMode
from scoregate.features.gateway.proxy import GatewayOptions


def test_cassettes_of_the_run_and_of_its_base_are_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "in_container", lambda _: True)
    project, folder = tmp_path / "project", tmp_path / "project" / "tapes"
    project.mkdir()
    environ = {"GITHUB_WORKSPACE": str(project)}

    def make(mode: GatewayMode, **folders: object) -> GatewayOptions:
        scratch = tmp_path / mode
        scratch.mkdir()
        return GatewayOptions(mode, {}, scratch, str, **folders)  # type: ignore[arg-type]

    with folders.copy_folders(make(GatewayMode.RECORD, record_to=folder), environ) as options:
        assert options.record_to is not None
        assert not options.record_to.is_relative_to(project)
        (options.record_to / "suite.jsonl.gz").write_bytes(b"of the run")
        (options.record_to / "base" / "suite.jsonl.gz").write_bytes(b"of the base")
        assert not folder.exists()
    kept = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.gz")}
    assert kept == {"suite.jsonl.gz": b"of the run", "base/suite.jsonl.gz": b"of the base"}
    with folders.copy_folders(make(GatewayMode.REPLAY, replay_from=(folder,)), environ) as options:
        (copied,) = options.replay_from
        assert not copied.is_relative_to(project)
        assert {str(path.relative_to(copied)) for path in copied.rglob("*.gz")} == set(kept)
    (folder / "base" / "suite.jsonl.gz").unlink()
    again = make(GatewayMode.ON, replay_from=(folder,))
    with folders.copy_folders(again, environ) as options:  # an empty folder of the base is none
        assert not (options.replay_from[0] / "base").exists()
