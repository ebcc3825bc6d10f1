"""The folder of a run keeps the media that its cases refer to, and trusts none of its files."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from tests.fakes.media import BEEP, GREEN, RED

from scoregate import Media
from scoregate.features.cluster.wire import decode_event, encode_event
from scoregate.kernel.job.baseline.unpack import OWN_BOUNDS, UNTRUSTED_BOUNDS, unpack, unpack_run
from scoregate.kernel.judge.archive import RunWriter, read_run
from scoregate.kernel.judge.archive import media as media_module
from scoregate.kernel.judge.archive.media import MediaFolder
from scoregate.kernel.run.launch.layer import Failed, MediaReceived
from scoregate.kernel.run.launch.tail import MediaReader
from scoregate.kernel.types.media import MOST_BYTES, MediaFile
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.evidence import Trials
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd, SuiteResult


def write_run(folder: Path, output: object, *files: bytes, of: Run | None = None, keep: int = 0) -> Run:
    with RunWriter(folder, keep=keep) as writer:
        for data in files:
            writer.add_media(MediaFile(Media.from_bytes(data).type, data))
        if of is not None:
            writer.add_media_of(of)
        writer.add(case := CaseResult(0, "a", output=output))
        columns = Columns()
        columns.add(case)
        return writer.finish(
            Run("id", 1.0, RunEnd(2.0), RunCode("1"), suites=(SuiteResult("s", "s", trials=Trials(columns)),))
        )


def read(run: Run, data: bytes) -> MediaFile | None:
    assert run.read_media is not None
    return run.read_media(sha256(data).hexdigest())


def test_only_media_of_cases_are_kept(tmp_path: Path) -> None:
    run = write_run(tmp_path, [Media.from_bytes(RED).reference()], RED, GREEN)
    assert [path.read_bytes() for path in (tmp_path / "media").iterdir()] == [RED]
    for each in (run, read_run(tmp_path)):
        assert read(each, RED) == MediaFile("image/png", RED)
        assert read(each, GREEN) is None
        assert not [notice for notice in each.notices if "kept" in notice]


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    references = [Media.from_bytes(RED).reference(), Media.from_bytes(BEEP).reference()]
    assert write_run(tmp_path, references, RED).notices[-1].startswith("1 image or recording is not kept:")


def test_the_next_run_replaces_media_except_of_reused_cases(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    write_run(folder, Media.from_bytes(RED).reference(), RED, keep=2)
    reused = write_run(folder, [Media.from_bytes(RED).reference(), Media.from_bytes(GREEN).reference()], GREEN, keep=2)
    assert not [notice for notice in reused.notices if "kept" in notice]
    assert len(list((folder / "media").iterdir())) == 2
    (earlier,) = (tmp_path / "earlier").iterdir()
    assert read(read_run(earlier), RED) is not None
    last = write_run(folder, "text")
    assert not (folder / "media").exists()
    assert read(last, RED) is None


def test_merged_cases_bring_their_media(tmp_path: Path) -> None:
    base = write_run(tmp_path / "base", Media.from_bytes(RED).reference(), RED)
    assert read(write_run(tmp_path / "run", Media.from_bytes(RED).reference(), of=base), RED) is not None


def test_a_limit_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(media_module, "MOST_ALL_BYTES", len(RED))
    run = write_run(tmp_path, [Media.from_bytes(RED).reference(), Media.from_bytes(GREEN).reference()], RED, GREEN)
    assert "the most are 10,000 with" in run.notices[-1]
    assert len(list((tmp_path / "media").iterdir())) == 1


def test_no_file_with_other_content_is_read(tmp_path: Path) -> None:
    digest = sha256(RED).hexdigest()
    secret = tmp_path / "secret.png"
    secret.write_bytes(RED)
    folder = tmp_path / "media"
    folder.mkdir()
    (folder / f"{digest}.png").symlink_to(secret)
    assert MediaFolder(folder).read(digest) is None
    (folder / f"{digest}.png").unlink()
    for data in (GREEN, b"<script>", RED + b"x", b"fLaC" + bytes(20_000_000)):
        (folder / f"{digest}.png").write_bytes(data)
        assert MediaFolder(folder).read(digest) is None
    (folder / f"{digest}.wav").write_bytes(RED)
    (folder / f"{digest}.png").write_bytes(RED)
    assert MediaFolder(folder).read(digest) == MediaFile("image/png", RED)
    for name in ("../secret", "../../etc/passwd", "a" * 64, ""):
        assert MediaFolder(folder).read(name) is None
    (tmp_path / "link").symlink_to(folder)
    assert MediaFolder(tmp_path / "link").read(digest) is None


def test_the_host_takes_valid_files_once_and_reports_others(tmp_path: Path) -> None:
    reader, folder = MediaReader("eval.py", tmp_path), tmp_path / "media"
    assert list(reader.read()) == []
    folder.mkdir()
    (folder / f"{sha256(RED).hexdigest()}.png").write_bytes(RED)
    (folder / f".1.{sha256(RED).hexdigest()}.png").write_bytes(RED[:5])
    (folder / "notes.txt").write_text("nothing")
    assert list(reader.read()) == [MediaReceived("eval.py", MediaFile("image/png", RED))]
    assert list(reader.read()) == []
    (folder / f"{'0' * 64}.png").write_bytes(RED)
    (failed,) = reader.read()
    assert isinstance(failed, Failed)
    assert "its file 000000….png" in failed.error.message


def test_the_host_takes_a_limited_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scoregate.kernel.run.launch.tail.MOST_FILES", 2)
    (tmp_path / "media").mkdir()
    for number in range(5):
        data = RED + bytes([number])
        (tmp_path / "media" / f"{sha256(data).hexdigest()}.png").write_bytes(data)
    *taken, failed = MediaReader("eval.py", tmp_path).read()
    assert len(taken) == 2
    assert isinstance(failed, Failed)
    assert "more than 2 images" in failed.error.message


def zip_folder(folder: Path, **more: bytes) -> io.BytesIO:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder.parent))
        for name, data in more.items():
            archive.writestr(name, data)
    return file


def test_an_artifact_brings_its_media(tmp_path: Path) -> None:
    write_run(tmp_path / "run", [Media.from_bytes(data).reference() for data in (RED, BEEP)], RED, BEEP)
    packed = zip_folder(tmp_path / "run")
    run = unpack_run(packed)
    assert read(run, RED) == MediaFile("image/png", RED)
    assert read(run, BEEP) is not None
    assert read(run, GREEN) is None
    assert read(unpack_run(packed, UNTRUSTED_BOUNDS), RED) is None
    assert read(unpack_run(packed, replace(OWN_BOUNDS, media=len(RED))), BEEP) is None


def test_a_hostile_artifact_writes_and_shows_no_file(tmp_path: Path) -> None:
    write_run(tmp_path / "run", "text")
    digest = sha256(RED).hexdigest()
    names = {
        f"run/media/../../{digest}.png": RED,
        f"run/media/{digest}.svg": b"<svg/>",
        f"run/media/x/{digest}.png": RED,
        f"run/media/{digest}.png": b"<script>alert(1)</script>",
        f"run/media/{'0' * 64}.flac": b"fLaC" + bytes(MOST_BYTES),
    }
    unpack(zip_folder(tmp_path / "run", **names), tmp_path / "unpacked")
    assert {path.name for path in (tmp_path / "unpacked" / "media").iterdir()} == {f"{digest}.png"}
    assert read(unpack_run(zip_folder(tmp_path / "run", **names)), RED) is None


def test_a_worker_of_a_cluster_sends_checked_media() -> None:
    received = MediaReceived("eval.py", MediaFile("audio/wav", BEEP))
    assert decode_event(encode_event(received)) == received
    wrong: list[list[object]] = [
        ["MediaReceived", "eval.py", b"<script>"],
        ["MediaReceived", "eval.py", "text"],
        ["MediaReceived", 3, BEEP],
        ["MediaReceived", "eval.py", b"fLaC" + bytes(MOST_BYTES)],
        ["MediaReceived"],
    ]
    for values in wrong:
        with pytest.raises(ValueError, match="its image or recording"):
            decode_event(values)
