"""References to images and audio in the record, and the limits of their files."""

from __future__ import annotations

import gc
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.media import BEEP, GREEN, RED

from scoregate import Media
from scoregate.errors import MediaError
from scoregate.kernel.types import media as media_module
from scoregate.kernel.types.media import (
    MOST_BYTES,
    TYPES,
    Reference,
    describe,
    describe_number,
    find_known,
    find_references,
    find_type,
    format_size,
    list_digests,
    read_reference,
    show_references,
    without_names,
)

DIGEST = "0123456789abcdef" * 4


def make_reference(**fields: Any) -> dict[str, Any]:
    return {"media": f"sha256:{DIGEST}", "type": "image/png", "bytes": 5, **fields}


def nest(value: Any, levels: int, *, in_list: bool) -> Any:
    for _ in range(levels):
        value = [value] if in_list else {"a": value}
    return value


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1_000, "1 kB"),
        (1_600, "2 kB"),
        (999_499, "999 kB"),
        (999_500, "1 MB"),
        (1_234_000, "1.23 MB"),
        (20_000_000, "20 MB"),
    ],
)
def test_a_size_has_a_unit(size: int, text: str) -> None:
    assert format_size(size) == text


def test_files_are_counted_with_a_verb() -> None:
    assert [describe_number(number) for number in (0, 1, 2, 1_000)] == [
        "0 images and recordings are",
        "1 image or recording is",
        "2 images and recordings are",
        "1,000 images and recordings are",
    ]


def test_a_reference_is_read_from_the_record() -> None:
    assert read_reference(make_reference()) == Reference(DIGEST, "image/png", 5)
    assert read_reference(make_reference(name="n" * 101)) == Reference(DIGEST, "image/png", 5, "n" * 100)
    assert read_reference(make_reference(bytes=0)) == Reference(DIGEST, "image/png", 0)
    for kind in TYPES:
        assert read_reference(make_reference(type=kind)) == Reference(DIGEST, kind, 5)
    without_type = {"media": f"sha256:{DIGEST}", "bytes": 5, "name": "n"}
    for value in (
        without_type,
        make_reference(media=5),
        make_reference(media=DIGEST),
        make_reference(media=f"sha256:{DIGEST}0"),
        make_reference(type=None),
        make_reference(type="image/bmp"),
        make_reference(bytes=5.0),
        make_reference(bytes=-1),
        make_reference(name=None),
        make_reference(more=1),
        [make_reference()],
        None,
    ):
        assert read_reference(value) is None, value


def test_a_reference_is_shown_with_its_name() -> None:
    assert describe(Reference(DIGEST, "image/png", 5)) == "[image/png 5 bytes 012345…]"
    assert describe(Reference(DIGEST, "audio/wav", 5_000, "a.wav")) == "[audio/wav 5 kB 012345… a.wav]"


def test_digests_are_found_once_and_in_order() -> None:
    other = "f" * 64
    line = f'[{{"media":"sha256:{other}"}},{{"media":"sha256:{DIGEST}"}},{{"media":"sha256:{other}"}}]'.encode()
    assert list_digests(line) == [other, DIGEST]
    assert list_digests(b'{"media":"sha256:no digest"}') == []
    assert list_digests(b'{"media":"png"}') == []


def test_references_are_found_at_any_place() -> None:
    one, two = make_reference(), make_reference(type="audio/wav")
    value = {"a": [1, one, ("x", two)], "b": {"c": one}}
    assert [each.type for each in find_references(value)] == ["image/png", "audio/wav", "image/png"]
    assert list(find_references("text")) == []
    text = "[image/png 5 bytes 012345…]"
    assert show_references(value) == {"a": [1, text, ["x", text.replace("image/png", "audio/wav")]], "b": {"c": text}}
    named = {"a": (make_reference(name="n"), 1)}
    assert without_names(named) == {"a": [one, 1]}
    assert without_names(value["b"]) == value["b"]
    untouched = {"a": (1, 2)}
    assert without_names(untouched) is untouched


@pytest.mark.parametrize("in_list", [True, False])
def test_references_deeper_than_200_levels_are_left_alone(in_list: bool) -> None:
    reference = make_reference(name="n")
    inside, outside = (nest(reference, levels, in_list=in_list) for levels in (200, 201))
    assert len(list(find_references(inside))) == 1
    assert list(find_references(outside)) == []
    assert show_references(inside) == nest("[image/png 5 bytes 012345… n]", 200, in_list=in_list)
    both = [reference, nest(reference, 200, in_list=in_list)]
    assert without_names(both)[1] == both[1]
    assert without_names([reference, nest(reference, 199, in_list=in_list)]) == [
        make_reference(),
        nest(make_reference(), 199, in_list=in_list),
    ]


def test_a_known_reference_has_its_object_while_it_exists() -> None:
    media = Media.from_bytes(RED, name="a.png")
    reference = media.reference()
    assert reference == {"media": f"sha256:{media.digest}", "type": "image/png", "bytes": len(RED), "name": "a.png"}
    assert find_known(media.digest) is media
    digest = media.digest
    del media
    gc.collect()
    assert find_known(digest) is None


def test_names_of_media_are_bounded() -> None:
    long = Media.from_bytes(RED, name="n" * 101)
    assert (long.name, long.size, long.is_image) == ("n" * 100, len(RED), True)
    assert Media.from_bytes(RED).name == ""
    assert "name" not in Media.from_bytes(RED).reference()
    assert not Media.from_bytes(BEEP).is_image
    with pytest.raises(MediaError, match=f"^{'n' * 100!r} is not an image"):
        Media.from_bytes(b"<svg>", name="n" * 101)
    with pytest.raises(MediaError, match=r"^a value of 2,000 bytes is not an image .* starts with b'<{16}'\n"):
        Media.from_bytes(b"<" * 2_000)


def test_media_are_equal_to_media_only() -> None:
    red, green = Media.from_bytes(RED), Media.from_bytes(GREEN)
    assert red == Media.from_bytes(RED, name="other")
    assert hash(red) == hash(Media.from_bytes(RED, name="other"))
    assert red != green
    assert red != red.digest
    assert repr(red) == f"Media([image/png {len(RED)} bytes {red.digest[:6]}…])"


def test_the_most_bytes_are_accepted_and_one_more_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST_BYTES == 20_000_000
    monkeypatch.setattr(media_module, "MOST_BYTES", len(RED))
    (tmp_path / "a.png").write_bytes(RED)
    assert Media.from_path(tmp_path / "a.png").data == RED
    (tmp_path / "b.png").write_bytes(RED + b"\0")
    with pytest.raises(MediaError, match="is larger than"):
        Media.from_bytes(RED + b"\0")
    with pytest.raises(MediaError, match="is larger than"):
        Media.from_path(str(tmp_path / "b.png"))


def test_a_file_is_read_again_and_known_by_its_absolute_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.png").write_bytes(RED)
    monkeypatch.chdir(tmp_path)
    media = Media.from_path("a.png")
    monkeypatch.chdir("/")
    assert (media.name, media.data) == ("a.png", RED)
    assert media.message_part()["image_url"]["url"] == f"data:image/png;base64,{b64encode(RED).decode()}"
    (tmp_path / "a.png").unlink()
    with pytest.raises(MediaError, match=r"a\.png' can't be read: No such file"):
        _ = media.data


def make_riff(length: int, content: bytes, kind: bytes = b"WAVE") -> bytes:
    return b"RIFF" + length.to_bytes(4, "little") + kind + content


def test_a_riff_file_is_cut_off_if_it_is_shorter_than_it_says() -> None:
    content = b"x" * 20
    for length in (24, 23, 0, 0xFFFFFFFF):
        assert Media.from_bytes(make_riff(length, content)).type == "audio/wav"
    for length in (25, 0xFFFFFFFE):
        with pytest.raises(MediaError, match="cut off: 32 bytes of audio/wav have no end"):
            Media.from_bytes(make_riff(length, content))
    # In another file, these bytes are no length.
    assert Media.from_bytes(b"OggS" + b"\xff\xff\xff\x7f").type == "audio/ogg"


def test_the_end_of_a_png_is_among_its_last_bytes() -> None:
    start = b"\x89PNG\r\n\x1a\n"
    assert Media.from_bytes(start + b"IEND" + b"x" * 63_996).type == "image/png"
    with pytest.raises(MediaError, match="cut off"):
        Media.from_bytes(start + b"IEND" + b"x" * 63_997)


def test_a_frame_of_mpeg_audio_needs_three_bytes() -> None:
    assert find_type(b"\xff\xfb\x90") == "audio/mpeg"
    assert find_type(b"\xff\xfb\xe0") == "audio/mpeg"
    assert find_type(b"\xff\xfb") is None
    assert [find_type(bytes((0xFF, 0xFB, rate))) for rate in (0xF0, 0xF1, 0xFF)] == [None] * 3
    assert find_type(b"RIFF\0\0\0\0") is None
    assert find_type(b"\0\0\0\0ftyp") is None
