"""Media of a case are files next to its events, and written before them."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path

import pytest
from tests.fakes.media import BEEP, GREEN, RED

from scoregate import Media
from scoregate.engine import media_files
from scoregate.engine.event_log import EventLog
from scoregate.engine.own_events import reduce_log
from scoregate.errors import MediaError

KEY = {"case": "a"}


def read_events(folder: Path) -> list[dict[str, object]]:
    (path,) = folder.glob("*.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


def read_media(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "media").glob("*")}


def test_the_event_has_the_reference_and_the_folder_the_bytes(tmp_path: Path) -> None:
    log, media = EventLog("demo", tmp_path), Media.from_bytes(RED, name="cat.png")
    log.emit("case_started", name="a", input={"input": media}, **KEY)
    log.emit("case_output", output=[media, {"say": Media.from_bytes(BEEP)}], **KEY)
    started, output = read_events(tmp_path)
    assert started["input"] == {"input": media.reference()}
    assert output["output"] == [media.reference(), {"say": Media.from_bytes(BEEP).reference()}]
    assert sorted(read_media(tmp_path).values()) == sorted([RED, BEEP])
    assert f"{media.digest}.png" in read_media(tmp_path)


def test_data_urls_of_messages_are_files_too(tmp_path: Path) -> None:
    log = EventLog("demo", tmp_path)
    log.emit("case_output", output={"url": f"data:image/png;base64,{b64encode(GREEN).decode()}"}, **KEY)
    (event,) = read_events(tmp_path)
    assert event["output"] == {"url": Media.from_bytes(GREEN).reference()}
    assert list(read_media(tmp_path).values()) == [GREEN]


def test_a_log_of_this_process_keeps_references_only() -> None:
    log, media = EventLog("demo", None), Media.from_bytes(RED)
    log.emit("suite_started", cases=1)
    log.emit("case_started", name="a", input={}, **KEY)
    log.emit("case_output", output=media, **KEY)
    log.emit("case_finished", **KEY)
    assert next(iter(reduce_log(log).cases)).output == media.reference()


def test_ten_thousand_media_in_one_case_are_an_error(tmp_path: Path) -> None:
    log, media = EventLog("demo", tmp_path), [Media.from_bytes(RED + number.to_bytes(4)) for number in range(10_000)]
    with pytest.raises(MediaError, match="has 10,000 images and recordings, and 100 are the most"):
        log.emit("case_output", output=media, **KEY)
    assert not (tmp_path / "media").exists()
    assert read_events(tmp_path) == []


def test_a_case_has_at_most_a_hundred_media(tmp_path: Path) -> None:
    media = [Media.from_bytes(RED + bytes([number])) for number in range(101)]
    EventLog("demo", tmp_path).emit("case_output", output=media[:100], **KEY)
    assert len(read_media(tmp_path)) == 100
    with pytest.raises(MediaError, match="has 101 images and recordings, and 100 are the most"):
        EventLog("demo", tmp_path).emit("case_output", output=media, **KEY)


def test_the_limit_of_a_script_is_exact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(media_files, "MOST_IN_PROCESS", len(RED) + len(GREEN) - 1)
    log = EventLog("demo", tmp_path)
    log.emit("case_output", output=Media.from_bytes(RED), **KEY)
    with pytest.raises(MediaError, match="of this script have more than"):
        log.emit("case_output", output=Media.from_bytes(GREEN), **KEY)


def test_a_reference_of_an_earlier_run_needs_no_file(tmp_path: Path) -> None:
    reference = {**Media.from_bytes(RED).reference(), "media": f"sha256:{'0' * 64}"}
    EventLog("demo", tmp_path).emit("case_output", output=[reference], **KEY)
    (event,) = read_events(tmp_path)
    assert (event["output"], read_media(tmp_path)) == ([reference], {})


def test_audio_in_a_message_is_a_file_too(tmp_path: Path) -> None:
    audio = {"data": b64encode(BEEP).decode(), "format": "wav"}
    log = EventLog("demo", tmp_path)
    log.emit("case_output", output=[{"type": "input_audio", "input_audio": audio}], **KEY)
    assert list(read_media(tmp_path).values()) == [BEEP]


def test_a_script_cannot_fill_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(media_files, "MOST_IN_PROCESS", len(RED) + len(GREEN))
    log, media = EventLog("demo", tmp_path), [Media.from_bytes(data) for data in (RED, RED, GREEN, BEEP)]
    log.emit("case_output", output=media[:3], **KEY)
    with pytest.raises(MediaError, match="of this script have more than"):
        log.emit("case_output", output=media[3], **KEY)
    assert len(read_media(tmp_path)) == 2


def test_an_unwritable_folder_is_an_error_of_the_case(tmp_path: Path) -> None:
    (tmp_path / "media").write_text("a file in its place")
    with pytest.raises(MediaError, match="can't be written: "):
        EventLog("demo", tmp_path).emit("case_output", output=Media.from_bytes(RED), **KEY)
