"""Images and audio are known by their content, and recorded by their digest."""

from __future__ import annotations

import json
import os
import pickle
from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict
from tests.fakes.media import BEEP, GREEN, RED

from scoregate import Media
from scoregate.errors import MediaError
from scoregate.kernel.types.inline_media import has_inline_media, replace_inline_media
from scoregate.kernel.types.json_io import dump, to_plain
from scoregate.kernel.types.media import (
    MOST_BYTES,
    describe,
    find_type,
    list_digests,
    read_reference,
    show_references,
    without_names,
)

STARTS = {
    "image/png": RED,
    "image/jpeg": b"\xff\xd8\xff\xe0\x00\x10JFIF\x00",
    "image/gif": b"GIF89a\x01\x00\x01\x00",
    "image/webp": b"RIFF\x1a\x00\x00\x00WEBPVP8L",
    "audio/wav": BEEP,
    "audio/mpeg": b"\xff\xfb\x90\x64\x00\x0f\xf0",
    "audio/ogg": b"OggS\x00\x02OpusHead",
    "audio/mp4": b"\x00\x00\x00\x1cftypM4A \x00\x00",
    "audio/flac": b"fLaC\x00\x00\x00\x22",
}
OTHERS = {
    "html": b"<!doctype html><script>alert(1)</script>",
    "svg": b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>',
    "video": b"\x00\x00\x00\x1cftypisom\x00\x00",
    "utf-16": b"\xff\xfea\x00b\x00",
    "aac": b"\xff\xf1\x50\x80\x00",
    "empty": b"",
    "avi": b"RIFF\x1a\x00\x00\x00AVI LIST",
}


def test_the_content_determines_the_type() -> None:
    assert {kind: find_type(data) for kind, data in STARTS.items()} == {kind: kind for kind in STARTS}
    assert find_type(b"ID3\x04\x00") == "audio/mpeg"
    for name, data in OTHERS.items():
        assert find_type(data) is None, name


def test_other_content_is_refused_with_its_name_and_start(tmp_path: Path) -> None:
    page = tmp_path / "cat.png"
    page.write_bytes(OTHERS["html"])
    with pytest.raises(
        MediaError, match=r"'cat\.png' is not an image or audio of a known type; it starts with b'<!doctype"
    ):
        Media.from_path(page)
    for name, data in OTHERS.items():
        with pytest.raises(MediaError, match="of a known type"):
            Media.from_bytes(data, name=name)
    with pytest.raises(MediaError, match="needs bytes, not str"):
        Media.from_bytes("cat.png")  # type: ignore[arg-type]
    with pytest.raises(MediaError, match=r"missing\.png' can't be read: No such file"):
        Media.from_path(tmp_path / "missing.png")
    os.mkfifo(tmp_path / "pipe.png")
    for path in (tmp_path, tmp_path / "pipe.png", Path("/dev/zero")):
        with pytest.raises(MediaError, match="is not a file"):
            Media.from_path(path)


def test_cut_off_and_gigantic_files_are_refused(tmp_path: Path) -> None:
    for data in (RED[:-20], BEEP[:-20]):
        with pytest.raises(MediaError, match="cut off"):
            Media.from_bytes(data)
    large = tmp_path / "large.flac"
    with large.open("wb") as file:
        file.write(b"fLaC")
        file.truncate(100 * MOST_BYTES)  # a hole: it takes no space, and reading it all would
    with pytest.raises(MediaError, match="larger than 20 MB"):
        Media.from_path(large)


def test_equal_bytes_of_other_names_are_equal(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(RED)
    one, other = Media.from_path(tmp_path / "a.png"), Media.from_bytes(RED)
    assert one == other
    assert len({one, other, Media.from_bytes(GREEN)}) == 2
    assert one != RED
    assert one.data == RED
    (tmp_path / "a.png").write_bytes(GREEN)
    with pytest.raises(MediaError, match="has changed while its suite ran"):
        _ = one.data


def test_a_reference_replaces_the_bytes_in_every_form_of_json() -> None:
    media = Media.from_bytes(RED, name="cat.png")
    reference = {"media": f"sha256:{media.digest}", "type": "image/png", "bytes": len(RED), "name": "cat.png"}
    for value in (media, [media], {"a": {"b": media}}):
        assert json.loads(dump(value)) == to_plain(value)
        assert list_digests(dump(value)) == [media.digest]
    assert to_plain(media) == reference
    assert without_names({"input": [media.reference()]}) == {"input": [Media.from_bytes(RED).reference()]}
    with pytest.raises(ValueError, match="unknown type: <class 'object'>"):
        dump([media, object()])
    assert to_plain([media, object()]) == [reference, "<object>"]


class Painted(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)

    picture: Media


@dataclass
class Drawn:
    picture: Media


def test_fields_of_classes_can_be_media() -> None:
    media = Media.from_bytes(RED)
    for value in (Painted(picture=media), Drawn(media)):
        assert to_plain(value) == json.loads(dump(value)) == {"picture": media.reference()}
    assert pickle.loads(pickle.dumps(media)) == media


def test_reports_show_type_size_and_digest() -> None:
    media = Media.from_bytes(BEEP, name="beep.wav")
    text = f"[audio/wav 2 kB {media.digest[:6]}… beep.wav]"
    assert repr(media) == f"Media({text})"
    assert show_references({"say": [media.reference()], "n": 1}) == {"say": [text], "n": 1}
    untouched = {"say": ["nothing"]}
    assert show_references(untouched) is untouched


def test_a_forged_reference_is_plain_data() -> None:
    good = Media.from_bytes(RED).reference()
    reference = read_reference(good)
    assert reference is not None
    assert describe(reference).startswith("[image/png")
    forged = (
        {**good, "media": "sha256:../../../../etc/passwd"},
        {**good, "media": f"../sha256:{'a' * 64}"},
        {**good, "type": "image/svg+xml"},
        {**good, "type": ["image/png"]},
        {**good, "bytes": -1},
        {**good, "bytes": True},
        {**good, "name": 3},
        {**good, "url": "https://example.com"},
        {"media": good["media"]},
    )
    for value in forged:
        assert read_reference(value) is None, value


def test_media_in_messages_become_references() -> None:
    url = f"data:image/png;base64,{b64encode(RED).decode()}"
    messages = [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "data:image/png;base64, is how it starts"},
                {"type": "image_url", "image_url": {"url": url, "detail": "low"}},
                {"type": "input_audio", "input_audio": {"data": b64encode(BEEP).decode(), "format": "wav"}},
            ],
        }
    ]
    found: list[Media] = []
    assert has_inline_media(dump(messages))
    replaced = replace_inline_media(messages, found)
    assert [media.data for media in found] == [RED, BEEP]
    content = replaced[0]["content"]
    assert content[0] == messages[0]["content"][0]  # type: ignore[index]
    assert content[1]["image_url"] == {"url": found[0].reference(), "detail": "low"}
    assert content[2]["input_audio"] == {"data": found[1].reference(), "format": "wav"}


def test_inline_data_of_another_type_stays_text() -> None:
    found: list[Media] = []
    for data in (OTHERS["html"], OTHERS["svg"], RED[:-20]):
        url = f"data:image/png;base64,{b64encode(data).decode()}"
        assert replace_inline_media([url], found) == [url]
    assert replace_inline_media("data:image/png;base64,%%%", found) == "data:image/png;base64,%%%"
    assert found == []


def test_a_message_has_the_part_of_its_type() -> None:
    assert Media.from_bytes(RED).message_part() == {
        "type": "image_url",
        "image_url": {"url": f"data:image/png;base64,{b64encode(RED).decode()}"},
    }
    audio = {"data": b64encode(BEEP).decode(), "format": "wav"}
    assert Media.from_bytes(BEEP).message_part() == {"type": "input_audio", "input_audio": audio}


def test_inline_data_of_more_than_the_most_bytes_stays_text() -> None:
    found: list[Media] = []
    url = "data:image/png;base64," + "A" * (MOST_BYTES * 4 // 3 + 5)
    assert replace_inline_media([url], found) == [url]
    assert found == []
