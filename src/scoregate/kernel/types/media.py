"""Images and audio as values: their bytes, and the reference by which everything but the bytes is recorded."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from weakref import WeakValueDictionary

from scoregate.errors import MediaError

MOST_BYTES = 20_000_000
"""The size of the largest file."""
# The ending of the files of each type. SVG is none of them: it can hold scripts.
TYPES = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "audio/wav": "wav",
    "audio/mpeg": "mp3",
    "audio/ogg": "ogg",
    "audio/mp4": "m4a",
    "audio/flac": "flac",
}
_STARTS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"ID3", "audio/mpeg"),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
)
_RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wav"}
_M4A = (b"M4A ", b"M4B ", b"mp42")
_UNKNOWN_LENGTH = (0, 0xFFFFFFFF)  # of a WAV file that was written as a stream
_LONGEST_NAME = 100
_KNOWN: WeakValueDictionary[str, Media] = WeakValueDictionary()


def find_type(data: bytes) -> str | None:
    """The media type by the first bytes; None for anything else, such as HTML, SVG or video."""
    if data[:4] == b"RIFF":
        return _RIFF.get(data[8:12])
    if data[4:8] == b"ftyp":
        return "audio/mp4" if data[8:12] in _M4A else None
    # The frames of MPEG audio, layer III, start with 11 bits; two values of the version and the bit rate are invalid.
    if len(data) > 2 and data[0] == 0xFF and data[1] & 0xE6 == 0xE2 and data[1] & 0x18 != 8 and data[2] & 0xF0 != 0xF0:
        return "audio/mpeg"
    return next((kind for start, kind in _STARTS if data.startswith(start)), None)


def _check(data: bytes, place: str) -> str:
    """The media type.

    Raises:
        MediaError: it is too large, cut off, or of no known type.
    """
    if len(data) > MOST_BYTES:
        raise MediaError(f"{place} is larger than {format_size(MOST_BYTES)}", advice="Make it smaller.")
    kind = find_type(data)
    if kind is None:
        known = ", ".join(TYPES.values())
        raise MediaError(
            f"{place} is not an image or audio of a known type; it starts with {data[:16]!r}",
            advice=f"Known are {known}.",
        )
    length = int.from_bytes(data[4:8], "little") if data[:4] == b"RIFF" else 0
    is_short = length not in _UNKNOWN_LENGTH and length + 8 > len(data)
    if is_short or (kind == "image/png" and b"IEND" not in data[-64_000:]):
        raise MediaError(f"{place} is cut off: {format_size(len(data))} of {kind} have no end")
    return kind


class Media:
    """An image or an audio recording, which a task may return and a case may have as its input.

    The type is found by the content: PNG, JPEG, GIF, WebP, WAV, MP3, Ogg (Opus or Vorbis), M4A or FLAC, up to 20 MB.
    Two are equal if their bytes are. The record holds the digest, the type, the size and the name; the bytes are a
    file next to it.

    Attributes:
        digest: the SHA-256 of the bytes, in hexadecimal digits.
        type: the media type, such as "image/png".
        size: the number of bytes.
        name: the name of the file; empty without one.
    """

    __slots__ = ("__weakref__", "_source", "digest", "name", "size", "type")

    def __init__(self, data: bytes, *, name: str = "", path: Path | None = None) -> None:
        if not isinstance(data, bytes):
            raise MediaError(f"Media needs bytes, not {type(data).__name__}", advice="For a file: Media.from_path(…).")
        from hashlib import sha256

        self.type = _check(data, repr(name[:_LONGEST_NAME]) if name else f"a value of {len(data):,} bytes")
        self.digest = sha256(data).hexdigest()
        self.size = len(data)
        self.name = name[:_LONGEST_NAME]
        self._source: bytes | Path = data if path is None else path

    @classmethod
    def from_bytes(cls, data: bytes, *, name: str = "") -> Media:
        """The image or audio in some bytes.

        Args:
            data: the bytes.
            name: a name for reports.

        Raises:
            MediaError: they are of no known type, cut off, or more than 20 MB.
        """
        return cls(data, name=name)

    @classmethod
    def from_path(cls, path: str | Path) -> Media:
        """The image or audio in a file. The file is read again when its bytes are needed.

        Args:
            path: the file.

        Raises:
            MediaError: it can't be read, is of no known type, cut off, or larger than 20 MB.
        """
        place = Path(path)
        return cls(_read(place), name=place.name, path=place.absolute())

    @property
    def data(self) -> bytes:
        """The bytes.

        Raises:
            MediaError: the file has changed, or can't be read any more.
        """
        if isinstance(self._source, bytes):
            return self._source
        from hashlib import sha256

        data = _read(self._source)
        if sha256(data).hexdigest() != self.digest:
            raise MediaError(f"{str(self._source)!r:.200} has changed while its suite ran")
        return data

    @property
    def is_image(self) -> bool:
        """Whether it is an image; otherwise it is audio."""
        return self.type.startswith("image/")

    def message_part(self) -> dict[str, Any]:
        """The part of a message in OpenAI's form: `image_url` with a data URL, or `input_audio`."""
        from base64 import b64encode

        data = b64encode(self.data).decode()
        if self.is_image:
            return {"type": "image_url", "image_url": {"url": f"data:{self.type};base64,{data}"}}
        return {"type": "input_audio", "input_audio": {"data": data, "format": TYPES[self.type]}}

    def reference(self) -> dict[str, Any]:
        """The form in the record. `find_known` finds this object by it, as long as it exists."""
        _KNOWN[self.digest] = self  # a weak dictionary: it keeps no media alive
        known = {"media": f"{_PREFIX}{self.digest}", "type": self.type, "bytes": self.size}
        return {**known, "name": self.name} if self.name else known

    def __eq__(self, other: object) -> bool:
        return self.digest == other.digest if isinstance(other, Media) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"Media({describe(Reference(self.digest, self.type, self.size, self.name))})"


def _read(path: Path) -> bytes:
    try:
        if path.exists() and not path.is_file():  # a pipe would block
            raise MediaError(f"{str(path)!r:.200} is not a file")
        with path.open("rb") as file:
            return file.read(MOST_BYTES + 1)  # the one byte more shows that the file is too large
    except OSError as error:
        raise MediaError(f"{str(path)!r:.200} can't be read: {error.strerror}") from None


class MediaFile(NamedTuple):
    """A checked image or audio: its media type, and its bytes."""

    type: str
    data: bytes


ReadMedia: TypeAlias = Callable[[str], MediaFile | None]
_PREFIX = "sha256:"
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")
_MARK = b'"media":"sha256:'
_MARKED = re.compile(rb'"media":"sha256:([0-9a-f]{64})"')
_FIELDS = {"media", "type", "bytes"}
_DEEPEST = 200


class Reference(NamedTuple):
    """An image or audio in the record."""

    digest: str
    type: str
    size: int
    name: str = ""


def find_known(digest: str) -> Media | None:
    """The object with a digest whose reference was asked for, if it still exists."""
    return _KNOWN.get(digest)


def list_digests(line: bytes) -> list[str]:
    """The digests of the references in compact JSON, each once."""
    if _MARK not in line:
        return []
    return list(dict.fromkeys(digest.decode() for digest in _MARKED.findall(line)))


def read_reference(value: object) -> Reference | None:
    """The reference that a value of the record is; None for any other value."""
    if not isinstance(value, Mapping) or not _FIELDS <= value.keys() <= {*_FIELDS, "name"}:
        return None
    media, kind, size, name = value["media"], value["type"], value["bytes"], value.get("name", "")
    match = _DIGEST.fullmatch(media) if isinstance(media, str) else None
    is_valid = kind in TYPES if isinstance(kind, str) else False
    if match is None or not is_valid or type(size) is not int or not isinstance(name, str) or size < 0:
        return None
    return Reference(match[1], str(kind), size, name[:_LONGEST_NAME])


def describe(reference: Reference) -> str:
    """A reference as text: `[image/png 12 kB 3fa9c2… cat.png]`."""
    name = f" {reference.name}" if reference.name else ""
    return f"[{reference.type} {format_size(reference.size)} {reference.digest[:6]}…{name}]"


def format_size(size: int) -> str:
    """A number of bytes: `12 kB`."""
    if size < 1000:
        return f"{size} bytes"
    return f"{size / 1e3:.0f} kB" if size < 999_500 else f"{size / 1e6:.3g} MB"


def describe_number(number: int) -> str:
    """A number of files with a verb: `1 image or recording is`."""
    return "1 image or recording is" if number == 1 else f"{number:,} images and recordings are"


def find_references(value: Any, depth: int = 0) -> Iterator[Reference]:
    """The references in a value of the record, in their order."""
    if isinstance(value, Mapping):
        if (reference := read_reference(value)) is not None:
            yield reference
        elif depth < _DEEPEST:
            for item in value.values():
                yield from find_references(item, depth + 1)
    elif isinstance(value, list | tuple) and depth < _DEEPEST:
        for item in value:
            yield from find_references(item, depth + 1)


def show_references(value: Any) -> Any:
    """A value of the record with texts in the place of its references; the same object without any."""
    return _replace(value, describe) if next(find_references(value), None) is not None else value


def without_names(value: Any) -> Any:
    """A value of the record whose references have no names, so that a renamed file is the same input."""
    if next(find_references(value), None) is None:
        return value
    return _replace(value, lambda each: {"media": f"{_PREFIX}{each.digest}", "type": each.type, "bytes": each.size})


def _replace(value: Any, make: Any, depth: int = 0) -> Any:
    if depth > _DEEPEST:
        return value
    if isinstance(value, Mapping):
        if (reference := read_reference(value)) is not None:
            return make(reference)
        return {name: _replace(item, make, depth + 1) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_replace(item, make, depth + 1) for item in value]
    return value


def join_media(readers: Iterable[ReadMedia | None]) -> ReadMedia:
    """A reader of the images and audio of several runs. Equal digests are equal files."""
    known = [read for read in readers if read is not None]
    return lambda digest: next((file for read in known if (file := read(digest)) is not None), None)
