"""Cassettes: recorded calls and their answers, in files of compressed JSON lines that can be replayed.

A file has the calls of one suite. It consists of gzip members of some dozen kilobytes, so that a call is read without
the calls before it, and so that `zcat` prints it. Its content depends on the calls alone, not on their order or time.
"""

from __future__ import annotations

import gzip
import os
import re
import sqlite3
import threading
import zlib
from base64 import b64decode, b64encode
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import field
from difflib import SequenceMatcher
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import IO, Annotated, Literal

from pydantic import AfterValidator, Field, TypeAdapter
from pydantic_core import to_json

from scoregate.errors import RecordError
from scoregate.kernel.types.records import record

SUFFIX = ".jsonl.gz"
# The cassettes of a baseline that is run again, in the folder of those of the run.
BASE_FOLDER = "base"
RECORDED_HEADERS = frozenset({"content-type", "openai-version", "anthropic-version"})
_LONGEST_HEADER = 1_000
_BLOCK_BYTES = 64 * 1024
_MAX_BLOCK_BYTES = 96 * 1024 * 1024
_MAX_FILE_BYTES = 2 * 1024**3
_MAX_FILES = 10_000
_KEPT_BYTES = 4 * 1024 * 1024
_MAX_COMPARED = 5_000
_LONGEST_COMPARED = 4_000
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")


# A cassette may come from a pull request, so it can't set cookies or add headers by line breaks.
def _check_headers(headers: Mapping[str, str]) -> Mapping[str, str]:
    for name, value in headers.items():
        if (
            name not in RECORDED_HEADERS
            or len(value) > _LONGEST_HEADER
            or not (value.isascii() and value.isprintable())
        ):
            raise ValueError(f"the header {name!r:.60} can't be replayed")
    return headers


Headers = Annotated[Mapping[str, str], AfterValidator(_check_headers)]


@record
class RecordedCall:
    """A call and its answer.

    Attributes:
        digest: the digest of the question.
        suite: the suite that asked.
        case: the case and its trial that asked; empty if unknown.
        number: how often the trial asked the same before.
        provider: the name of the provider.
        path: the path of the API.
        model: the name of the model.
        request: the body of the request as text without secrets, for comparisons; empty if it is not text.
        status: the status of the answer.
        headers: the headers that matter to clients.
        text: the body of the answer, if it is UTF-8.
        base64: the body otherwise.
        chunks: the sizes of the parts in which a stream is replayed, its events; empty if it is none.
        v: the version of the format.
    """

    __pydantic_config__ = {"extra": "forbid"}  # noqa: RUF012

    digest: str
    suite: str
    case: str
    number: int
    provider: str
    path: str
    model: str
    request: str
    status: Annotated[int, Field(ge=200, le=599)]
    headers: Headers
    text: str | None = field(default=None, repr=False)
    base64: str | None = field(default=None, repr=False)
    chunks: tuple[Annotated[int, Field(gt=0)], ...] = ()
    v: Literal[1] = 1

    @property
    def body(self) -> bytes:
        """The body of the answer.

        Raises:
            ValueError: it is missing, or no base64.
        """
        if self.text is not None:
            return self.text.encode()
        return b64decode(self.base64 or "", validate=True)

    def dump(self) -> bytes:
        """The call as a line of JSON."""
        return to_json(self, exclude_none=True) + b"\n"


def encode_body(body: bytes) -> tuple[str | None, str | None]:
    """The fields `text` and `base64` of a recorded call for a body; one of them is None."""
    try:
        return body.decode(), None
    except UnicodeDecodeError:
        return None, b64encode(body).decode()


@cache
def _adapter() -> TypeAdapter[RecordedCall]:
    return TypeAdapter(RecordedCall)


def parse_call(line: bytes) -> RecordedCall:
    """Parse a line of a cassette.

    Raises:
        ValueError: it is not valid.
    """
    call = _adapter().validate_json(line)
    if (call.text is None) == (call.base64 is None):
        raise ValueError("it has no body, or two")
    if call.chunks and sum(call.chunks) != len(call.body):
        raise ValueError("its parts are not as long as its body")
    return call


class CassetteWriter:
    """Writes the calls of a run into files, one for each suite.

    Calls are kept in a temporary file until `close`, which sorts them. So an equal run makes equal files.

    Args:
        folder: the folder of the cassettes; it is created.
        scratch: an existing folder for temporary files.
    """

    def __init__(self, folder: Path, scratch: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._lines: IO[bytes] = (scratch / "calls").open("w+b")
        self._index = sqlite3.connect(scratch / "calls.sqlite", isolation_level=None, check_same_thread=False)
        self._index.execute("PRAGMA journal_mode = OFF")  # the files are temporary
        self._index.execute("PRAGMA synchronous = OFF")
        self._index.execute("CREATE TABLE calls (suite TEXT, named TEXT, digest TEXT, number INT, at INT, size INT)")
        self._size = 0

    def add(self, call: RecordedCall) -> None:
        """Add a call."""
        line = call.dump()
        with self._lock:
            self._lines.write(line)
            row = (call.suite, call.case, call.digest, call.number, self._size, len(line))
            self._index.execute("INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?)", row)
            self._size += len(line)

    def close(self) -> int:
        """Write the files of all suites that recorded calls, and return their number; other suites keep theirs.

        Raises:
            OSError: a file can't be written.
        """
        with self._lock:
            try:
                self._lines.flush()
                suites = [row[0] for row in self._index.execute("SELECT DISTINCT suite FROM calls ORDER BY suite")]
                for suite in suites:
                    self._write_suite(suite)
            finally:
                self._lines.close()
                self._index.close()
        return len(suites)

    def _write_suite(self, suite: str) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / (name_file(suite) + SUFFIX)
        partial = path.with_name(f".{path.name}.{os.getpid()}")
        order = "SELECT at, size FROM calls WHERE suite = ? ORDER BY named, digest, number"
        try:
            with partial.open("wb") as file:
                block = bytearray()
                for offset, size in self._index.execute(order, (suite,)):
                    self._lines.seek(offset)
                    block += self._lines.read(size)
                    if len(block) >= _BLOCK_BYTES:
                        file.write(gzip.compress(block, mtime=0))  # an equal run makes an equal file
                        block.clear()
                if block:
                    file.write(gzip.compress(block, mtime=0))
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)


def name_file(suite: str) -> str:
    """The name of a suite's cassette without its suffix. Suites with similar names have different files."""
    plain = _NOT_IN_NAMES.sub("_", suite).strip("._")[:80]
    return plain if plain and plain == suite else f"{plain}-{blake2b(suite.encode(), digest_size=4).hexdigest()}"


class CassetteReader:
    """Replays calls. The files are indexed when the first call is looked up, and an answer is read when it is needed.

    Each recorded call answers once: first the call of the same suite and case with the same number, then one of the
    same suite, then any. So a case that got a new name still finds its answers.

    Args:
        folders: the folders of cassettes.
        scratch: an existing folder for the index.
    """

    def __init__(self, folders: tuple[Path, ...], scratch: Path) -> None:
        self._folders, self._scratch = folders, scratch
        self._lock = threading.Lock()
        self._index: sqlite3.Connection | None = None
        self._paths: list[Path] = []
        self._blocks: OrderedDict[tuple[int, int], list[bytes]] = OrderedDict()
        self._kept_bytes = 0

    @property
    def is_ready(self) -> bool:
        """Whether the files are indexed, and no thread uses them now. Then `take` returns soon."""
        return self._index is not None and not self._lock.locked()

    def take(self, digest: str, suite: str, case: str, number: int) -> RecordedCall | None:
        """Return the recorded call for a question, and mark it as used; None if there is none.

        Raises:
            RecordError: a cassette is damaged.
        """
        with self._lock:
            index = self._open()
            row = index.execute(
                "SELECT rowid, file, at, line FROM calls WHERE digest = ? AND used = 0"
                " ORDER BY (suite = ? AND named = ? AND number = ?) DESC, (suite = ? AND named = ?) DESC,"
                " (suite = ?) DESC, rowid LIMIT 1",
                (digest, suite, case, number, suite, case, suite),
            ).fetchone()
            if row is None:
                return None
            index.execute("UPDATE calls SET used = 1 WHERE rowid = ?", row[:1])
            return self._read(*row[1:])

    def describe_missing(self, digest: str, provider: str, path: str, request: str) -> str:
        """Describe the difference between a question and the recorded question that is nearest to it."""
        with self._lock:
            index = self._open()
            recorded = index.execute("SELECT count(*) FROM calls WHERE digest = ?", (digest,)).fetchone()[0]
            if recorded:
                return f"it was recorded {recorded} time{'s' * (recorded > 1)}, and is asked once more"
            rows = index.execute(
                "SELECT file, at, line, suite, named FROM calls WHERE provider = ? AND path = ? LIMIT ?",
                (provider, path, _MAX_COMPARED),
            )
            nearest, likeness = None, 0.0
            matcher = SequenceMatcher(autojunk=False)  # it would ignore characters that are frequent in long texts
            matcher.set_seq2(request[:_LONGEST_COMPARED])  # what stays is the second text: it is analysed only once
            for row in rows:
                call = self._read(*row[:3])
                matcher.set_seq1(call.request[:_LONGEST_COMPARED])
                # Upper bounds, the cheap one first: the ratio itself takes time by the product of the lengths.
                if matcher.real_quick_ratio() > likeness and matcher.quick_ratio() > likeness:
                    likeness, nearest = matcher.quick_ratio(), call
        if nearest is None:
            return f"no call of {provider}/{path} was recorded"
        owner = f" of case {nearest.case!r:.80}" if nearest.case else ""
        return (
            f"the nearest recorded call is one{owner} in {nearest.suite!r:.80}: {_difference(nearest.request, request)}"
        )

    def close(self) -> None:
        """Close the index."""
        with self._lock:
            if self._index is not None:
                self._index.close()
                self._index = None

    def _open(self) -> sqlite3.Connection:
        if self._index is not None:
            return self._index
        index = sqlite3.connect(self._scratch / "cassettes.sqlite", isolation_level=None, check_same_thread=False)
        index.execute("PRAGMA journal_mode = OFF")
        index.execute("PRAGMA synchronous = OFF")
        index.execute("DROP TABLE IF EXISTS calls")
        index.execute(
            "CREATE TABLE calls (digest TEXT, suite TEXT, named TEXT, number INT, provider TEXT, path TEXT,"
            " file INT, at INT, line INT, used INT)"
        )
        self._paths = [path for folder in self._folders for path in find_cassettes(folder)]
        try:
            index.execute("BEGIN")
            for number, path in enumerate(self._paths):
                for offset, lines in read_blocks(path):
                    for line_number, line in enumerate(lines):
                        call = _parse_in(path, line)
                        row = (call.digest, call.suite, call.case, call.number, call.provider, call.path)
                        index.execute(
                            "INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)",
                            (*row, number, offset, line_number),
                        )
            index.execute("COMMIT")
            index.execute("CREATE INDEX by_digest ON calls (digest)")  # after the rows: faster than row by row
        except BaseException:
            index.close()
            raise
        self._index = index
        return index

    def _read(self, file: int, offset: int, line: int) -> RecordedCall:
        key, path = (file, offset), self._paths[file]
        if key not in self._blocks:
            self._blocks[key] = block = next(read_blocks(path, start=offset), (0, []))[1]
            self._kept_bytes += sum(map(len, block))
            while self._kept_bytes > _KEPT_BYTES and len(self._blocks) > 1:
                self._kept_bytes -= sum(map(len, self._blocks.popitem(last=False)[1]))
        self._blocks.move_to_end(key)
        lines = self._blocks[key]
        if line >= len(lines):
            raise RecordError(f"{path} changed while it was read")
        return _parse_in(path, lines[line])


def _parse_in(path: Path, line: bytes) -> RecordedCall:
    try:
        return parse_call(line)
    except (ValueError, KeyError, TypeError) as error:
        raise RecordError(
            f"{path} is not a valid cassette: {str(error)[:200]}", advice="Record it again with gateway = record."
        ) from None


def find_cassettes(folder: Path) -> list[Path]:
    """The cassettes in a folder, by name; symbolic links are left out."""
    paths = sorted(path for path in folder.glob(f"*{SUFFIX}") if path.is_file() and not path.is_symlink())
    if len(paths) > _MAX_FILES:
        raise RecordError(f"{folder} has more than {_MAX_FILES:,} cassettes")
    return paths


def read_blocks(path: Path, *, start: int = 0) -> Iterator[tuple[int, list[bytes]]]:
    """Read the blocks of a cassette: the position of each, and its lines.

    Args:
        path: the file.
        start: the position of the first block to read.

    Raises:
        RecordError: the file is damaged, or too large.
    """
    try:
        with path.open("rb") as file:
            file.seek(start)
            offset, rest = start, b""
            while True:
                unpacker, data, packed = zlib.decompressobj(wbits=31), bytearray(), 0  # 31 is gzip
                while not unpacker.eof:
                    chunk = rest or file.read(1 << 16)
                    rest = b""
                    if not chunk:
                        if packed:
                            raise ValueError("it is truncated")
                        return
                    packed += len(chunk)
                    # With a limit, since a few kilobytes may unpack to gigabytes.
                    data += unpacker.decompress(chunk, _MAX_BLOCK_BYTES + 1 - len(data))
                    if len(data) > _MAX_BLOCK_BYTES:
                        raise ValueError(f"a block is larger than {_MAX_BLOCK_BYTES:,} bytes")
                    if unpacker.unconsumed_tail:
                        raise ValueError(f"a block is larger than {_MAX_BLOCK_BYTES:,} bytes")
                rest = unpacker.unused_data
                yield offset, bytes(data).removesuffix(b"\n").split(b"\n")
                offset += packed - len(rest)
                if offset > _MAX_FILE_BYTES:
                    raise ValueError(f"it is larger than {_MAX_FILE_BYTES:,} bytes")
    except (OSError, ValueError, zlib.error) as error:
        raise RecordError(f"{path} can't be read as a cassette: {error}") from None


def _difference(recorded: str, question: str) -> str:
    """The first difference between two texts, with a little of what surrounds it."""
    start = next(
        (index for index, (old, new) in enumerate(zip(recorded, question, strict=False)) if old != new),
        min(len(recorded), len(question)),
    )
    begin = max(0, start - 30)
    return f"recorded …{recorded[begin : start + 50]!r}…, asked …{question[begin : start + 50]!r}…"
