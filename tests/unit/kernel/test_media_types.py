"""The media type by the first bytes of a file."""

from __future__ import annotations

from scoregate.kernel.types.media import find_type


def test_known_types() -> None:
    for data, kind in (
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff", "image/jpeg"),
        (b"GIF87a", "image/gif"),
        (b"GIF89a", "image/gif"),
        (b"RIFF....WEBP", "image/webp"),
        (b"RIFF....WAVE", "audio/wav"),
        (b"RIFF....AVI ", None),
        (b"ID3", "audio/mpeg"),
        (b"OggS", "audio/ogg"),
        (b"fLaC", "audio/flac"),
        (b"....ftypM4A ", "audio/mp4"),
        (b"....ftypM4B ", "audio/mp4"),
        (b"....ftypmp42", "audio/mp4"),
        (b"....ftypisom", None),
        (b"<svg>", None),
        (b"", None),
    ):
        assert find_type(data) == kind, data


def test_frames_of_mpeg_audio_are_of_layer_three() -> None:
    """Eleven bits of 1, two of the version (01 is reserved), two of the layer, one of a checksum, four of the rate."""
    for second in (0xFB, 0xFA, 0xF3, 0xE3):
        assert find_type(bytes((0xFF, second, 0x90))) == "audio/mpeg"
    for data in (
        b"\xff\xeb\x90",
        b"\xff\xfd\x90",
        b"\xff\xff\x90",
        b"\xff\xdb\x90",
        b"\xfe\xfb\x90",
        b"\xff\xfb\xf0",
        b"\xff\xfb",
    ):
        assert find_type(data) is None, data
