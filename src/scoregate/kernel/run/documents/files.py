"""Result files of other frameworks, read in pieces: JSON, zip archives."""

from __future__ import annotations

import json
import lzma
import re
import struct
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, BinaryIO, NamedTuple, TypeAlias

from scoregate.errors import ImportFailed
from scoregate.kernel.run.plan import RowColumns
from scoregate.kernel.types.identity import bounded_name
from scoregate.kernel.types.records import record
from scoregate.kernel.types.test_outcomes import TestOutcomes

# Up to the next structural character, skipping strings; no byte is read twice.
_STRING = rb'"(?:[^"\\]++|\\.)*+"'
_SIGN = re.compile(rb'(?:[^"\[\]{},:]++|' + _STRING + rb")*+([\[\]{},:])", re.DOTALL)
_BRACKET = re.compile(rb'(?:[^"\[\]{}]++|' + _STRING + rb")*+([\[\]{}])", re.DOTALL)
_MAX_BYTES = 64 * 1024 * 1024
_DEEPEST = 100
_SPACE = b" \t\r\n"
_OPENING = (b"[", b"{")
_BOM = b"\xef\xbb\xbf"


class Part(NamedTuple):
    """A piece of a document: one value, from `start` to `end`."""

    data: bytes
    start: int
    end: int

    @property
    def value(self) -> Any:
        """The value, as `parse` returns it."""
        return self.parse()

    def parse(self, *, unique_keys: bool = False) -> Any:
        """Parse the value.

        Args:
            unique_keys: whether a key that occurs twice in an object is an error.

        Raises:
            ValueError: it is not JSON, too large, or has a key twice; the message has the place in the document.
        """
        if self.end - self.start > _MAX_BYTES:
            size = f"a value of {self.end - self.start:,} bytes is over the limit of {_MAX_BYTES:,}"
            raise ValueError(f"{describe_place(self.data, self.start)}: {size}")
        data = self.data[self.start : self.end]
        try:
            return parse_value(data, unique_keys=unique_keys)
        except DuplicateKey as error:
            raise ValueError(f"{self._describe_start()}: {error}") from None
        except UnicodeDecodeError as error:
            raise ValueError(f"{describe_place(self.data, self.start + error.start)}: it is not UTF-8") from None
        except json.JSONDecodeError as error:
            # json counts characters, and a place is counted in bytes.
            position = self.start + len(error.doc[: error.pos].encode())
            raise ValueError(f"{describe_place(self.data, position)}: {error.msg.removesuffix(' at')}") from None

    def members(self) -> dict[str, Part]:
        """The members of an object; none for other types.

        Raises:
            ValueError: a key occurs twice.
        """
        members: dict[str, Part] = {}
        for key, part in _split(self, b"{"):
            if key is not None:
                if (name := _read_key(key, part)) in members:
                    raise ValueError(f"{part._describe_start()}: {DuplicateKey(name)}")
                members[name] = part
        return members

    def _describe_start(self) -> str:
        spaces = len(self.data[self.start : self.end]) - len(self.data[self.start : self.end].lstrip(_SPACE))
        return describe_place(self.data, self.start + spaces)

    @property
    def is_array(self) -> bool:
        """Whether it is an array."""
        return self.data[self.start : self.end].lstrip(_SPACE)[:1] == b"["

    def elements(self) -> Iterator[Part]:
        """The elements of an array; none for other types."""
        return (part for _, part in _split(self, b"["))


def describe_place(data: bytes, position: int) -> str:
    """The place of a byte in a text: `line 3, column 17`."""
    line, column = data.count(b"\n", 0, position) + 1, position - data.rfind(b"\n", 0, position)
    return f"line {line:,}, column {column:,}"


def parse_document(data: bytes) -> Part:
    """A document.

    Raises:
        ImportFailed: it is not a JSON object.
    """
    start = len(_BOM) if data.startswith(_BOM) else 0
    if data[start : start + 1024].lstrip(_SPACE)[:1] != b"{":
        raise ImportFailed("it is not a JSON object")
    return Part(data, start, len(data))


class DuplicateKey(ValueError):
    """An object has a key twice, so its value is unknown."""

    def __init__(self, key: str) -> None:
        super().__init__(f"the key {key[:80]!r} occurs twice, so its value is unknown; write each key once")


def parse_value(data: bytes, *, unique_keys: bool = False) -> Any:
    """Parse a value. Parts that are nested too deeply for a run's record are removed.

    Args:
        data: the text.
        unique_keys: whether a key that occurs twice in an object is an error. Otherwise the last value counts.

    Raises:
        DuplicateKey: a key occurs twice.
        ValueError: it is not JSON.
    """
    try:
        value = json.loads(data, object_pairs_hook=_make_unique if unique_keys else None)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    # Cheaper than a walk: a value with few brackets isn't that deep.
    return _prune(value, 0) if data.count(b"[") + data.count(b"{") > _DEEPEST else value


def _make_unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        seen = set[str]()
        key = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise DuplicateKey(key)
    return made


def _prune(value: Any, depth: int) -> Any:
    if not isinstance(value, list | dict):
        return value
    if depth >= _DEEPEST:
        return "… left out: nested too deeply"
    if isinstance(value, list):
        return [_prune(each, depth + 1) for each in value]
    return {name: _prune(each, depth + 1) for name, each in value.items()}


def _read_key(text: bytes, part: Part) -> str:
    """The key before a part."""
    try:
        if text.strip(_SPACE).startswith(b'"'):
            return str(json.loads(text))
    except ValueError:
        pass
    raise ValueError(f"{describe_place(part.data, part.start)}: the key of an object is not text")


def _split(part: Part, kind: bytes) -> Iterator[tuple[bytes | None, Part]]:
    """The values one level below; in an object, with their keys."""
    data = part.data
    start = next((position for position in range(part.start, part.end) if data[position] not in _SPACE), part.end)
    if data[start : start + 1] != kind:
        return
    position = begin = start + 1
    key = None
    while True:
        sign, position = _next_sign(_SIGN, data, position, end=part.end)
        if sign in _OPENING:
            position = _find_end(data, position, part.end)
        elif sign == b":":
            key, begin = data[begin : position - 1], position
        else:
            if sign == b"," or data[begin : position - 1].strip(_SPACE):
                yield key, Part(data, begin, position - 1)
            key, begin = None, position
            if sign != b",":
                if data[position : part.end].strip(_SPACE):
                    raise ValueError(f"{describe_place(data, position)}: there is more after its end")
                return


def _next_sign(signs: re.Pattern[bytes], data: bytes, position: int, *, end: int) -> tuple[bytes, int]:
    """The next sign and its end."""
    match = signs.match(data, position, end)
    if match is None:
        raise ValueError(f"{describe_place(data, end)}: it ends before it is complete")
    return match[1], match.end()


def _find_end(data: bytes, position: int, end: int) -> int:
    """The end of the array or object that starts before `position`."""
    depth = 1
    while depth:
        sign, position = _next_sign(_BRACKET, data, position, end=end)
        depth += 1 if sign in _OPENING else -1
    return position


MAX_MEMBER = 64 * 1024 * 1024
MAX_WHOLE = 4 * 1024 * 1024 * 1024
_MOST_MEMBERS = 200_000

_HAS_ZSTANDARD = True
# Logs of inspect_ai use Zstandard compression, which the standard library reads from 3.14 on.
if sys.version_info >= (3, 14):
    import zipfile

    from compression.zstd import ZstdError
else:
    try:
        from backports.zstd import ZstdError, zipfile
    except ModuleNotFoundError:
        import zipfile  # type: ignore[no-redef]

        _HAS_ZSTANDARD, ZstdError = False, zipfile.BadZipFile  # type: ignore[misc,assignment]
_ZSTANDARD = 93


@dataclass(slots=True)
class Archive:
    """A zip file. The unpacked size is limited, in total and for each member."""

    zip: zipfile.ZipFile
    _unpacked: int = field(default=0)

    def names(self) -> list[str]:
        """The names of the members, each once."""
        return list(dict.fromkeys(self.zip.namelist()))

    def read(self, name: str) -> bytes:
        """Read one member.

        Raises:
            ImportFailed: it is too large, encrypted or damaged, or needs a package that is not installed.
        """
        if not _HAS_ZSTANDARD and name in self.zip.NameToInfo and self.zip.getinfo(name).compress_type == _ZSTANDARD:
            raise ImportFailed(
                f"its member {name[:200]!r} has Zstandard compression, which needs backports.zstd",
                advice="Install it: pip install 'scoregate[inspect]'",
            )
        try:
            with self.zip.open(name) as member:
                data = member.read(MAX_MEMBER + 1)  # the size that the archive states may be wrong
        except _DAMAGED as error:
            raise ImportFailed(f"its member {name[:200]!r} can't be unpacked: {error}") from None
        self._unpacked += len(data)
        if len(data) > MAX_MEMBER or self._unpacked > MAX_WHOLE:
            raise ImportFailed(f"its member {name[:200]!r} is too large")
        return data


_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    ZstdError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    KeyError,
    OSError,
)


def is_zip(file: BinaryIO) -> bool:
    """Whether a file starts like a zip archive."""
    file.seek(0)
    return file.read(4) == b"PK\x03\x04"


@contextmanager
def open_archive(file: BinaryIO) -> Iterator[Archive]:
    """Open a zip archive.

    Raises:
        ImportFailed: it can't be read.
    """
    try:
        archive = zipfile.ZipFile(file)
    except _DAMAGED as error:
        raise ImportFailed(f"it starts like a zip file, but is damaged: {error}") from None
    with archive:
        if len(archive.filelist) > _MOST_MEMBERS:
            raise ImportFailed(f"it has more than {_MOST_MEMBERS:,} members")
        yield Archive(archive)


MAX_BYTES = 512 * 1024 * 1024
OpenFile: TypeAlias = Callable[[], BinaryIO]
# A name with a date changes with every run.
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}|\d{8}")


@record
class ResultFile:
    """An open file and its name.

    Args:
        name: its name.
        file: the open file.
        alone: it is the only file to import, so its suite ids need no prefix.
        more: open further files of the same command, whose test runs belong to the same suites.
        scores: globs of the properties that are scores, in formats where a property can be anything.
        columns: the columns of rows, if the settings name them.
        recorded: `SUITE::CASE` of tests that are in the record already.
        notes: receives what the report should say about the file.
        tests: how the tests of the command ended, if its test runner recorded it.
    """

    name: str
    file: BinaryIO
    alone: bool = True
    more: tuple[OpenFile, ...] = ()
    scores: tuple[str, ...] = ()
    recorded: frozenset[str] = frozenset()
    columns: RowColumns | None = None
    notes: list[str] = field(default_factory=list)
    tests: TestOutcomes | None = None

    @property
    def stem(self) -> str:
        """Its name without folders and extension."""
        return PurePath(self.name).name.split(".")[0] or "results"

    def suite_id(self, suite: str) -> str:
        """The id of a suite; it starts with the file's name if there are several files with stable names."""
        if self.alone or not self.stable_name:
            return suite
        place = bounded_name(self.stable_name)
        return place if suite == self.stem else f"{place} / {suite}"

    @property
    def stable_name(self) -> str:
        """Its path without the extension; empty if it has a date, which changes with every run."""
        path = PurePath(self.name)
        place = self.stem if path.is_absolute() else str(path.with_name(self.stem))
        return "" if _DATE.search(place) else place

    def read(self) -> bytes:
        """The content of the file.

        Raises:
            ImportFailed: it is too large.
        """
        self.file.seek(0)
        return _read_limited(self.file)

    def read_each(self) -> Iterator[bytes]:
        """Read this file, then each of the further files.

        Raises:
            ImportFailed: one is too large, or can't be opened.
        """
        yield self.read()
        for open_file in self.more:
            with open_file() as file:
                yield _read_limited(file)


def _read_limited(file: BinaryIO) -> bytes:
    data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ImportFailed(f"it is larger than {MAX_BYTES:,} bytes")
    return data
