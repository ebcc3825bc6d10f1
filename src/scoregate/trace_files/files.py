"""Files of exports: JSON, JSON lines, CSV, Parquet and protobuf, also gzipped. What can't be read has a place."""

from __future__ import annotations

import io
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from scoregate.errors import ImportFailed, OtlpError, UsageError
from scoregate.kernel.run.documents.files import Part, ResultFile
from scoregate.kernel.run.documents.row_files import read_rows
from scoregate.kernel.types.records import record
from scoregate.kernel.types.text import describe_width, natural_sort_key
from scoregate.kernel.types.trajectories.otlp import OtlpSpan, read_otlp, unpack
from scoregate.store.json_lines import parse_row
from scoregate.store.tables import TableError, TableReader
from scoregate.trace_files.formats import find_format

MOST_FILES = 10_000
MOST_BYTES = 1024 * 1024 * 1024
_LONGEST_RECORD = 64 * 1024 * 1024
_BOM = b"\xef\xbb\xbf"
_JSON, _LINES, _TABLES = (".json",), (".jsonl", ".ndjson"), (".csv", ".tsv")
_PARQUET, _PROTOBUF = (".parquet",), (".pb", ".bin", ".proto", ".otlp")
ENDINGS = (*_JSON, *_LINES, *_TABLES, *_PARQUET, *_PROTOBUF)
# Objects in which tools put their list of records.
_LISTS = ("data", "spans", "events", "runs", "rows", "traces", "observations")


@record
class FileRecord:
    """A record of a file, or what is wrong at its place.

    Attributes:
        file: the file, as it was named.
        line: the line on which it begins, counted from 1; the number of the row in Parquet; 0 if it has none.
        value: its fields, or a span of protobuf.
        problem: why it can't be read; empty if it can.
    """

    file: str
    line: int
    value: Mapping[str, Any] | OtlpSpan | None = None
    problem: str = ""


def list_files(source: Path) -> tuple[list[Path], int]:
    """The files of an export, sorted, and the number of other files in its folder. Hidden ones are no part of it.

    Args:
        source: a file, or a folder with files.

    Raises:
        UsageError: there is no such file or folder, it has no file of an export, or too many.
    """
    if source.is_file():
        return [source], 0
    if not source.is_dir():
        raise UsageError(f"--from {str(source)!r:.200}: there is no such file or folder")
    visible = (each for each in source.rglob("*") if each.is_file() and not _is_hidden(each.relative_to(source)))
    paths = sorted(visible, key=lambda each: natural_sort_key(str(each)))
    files = [each for each in paths if _find_ending(each) in ENDINGS]
    if not files or len(files) > MOST_FILES:
        problem = f"more than {MOST_FILES:,} files" if files else "no file of an export"
        raise UsageError(f"--from {str(source)!r:.200}: {problem}", advice=f"Their names end in {', '.join(ENDINGS)}.")
    return files, len(paths) - len(files)


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def read_file(path: Path) -> Iterator[FileRecord]:
    """The records of a file. Damage is a record with a problem; records before and after it are read.

    Raises:
        MissingExtra: it is Parquet or protobuf, and the package that reads it is not installed.
    """
    name = path.as_posix()
    try:
        if path.stat().st_size > MOST_BYTES:
            yield FileRecord(name, 0, problem=f"it has more than {MOST_BYTES:,} bytes: split it")
            return
        data = unpack(path.read_bytes(), MOST_BYTES).removeprefix(_BOM)
    except OSError as error:
        yield FileRecord(name, 0, problem=f"it can't be read: {error.strerror or error}")
        return
    except OtlpError as error:
        yield FileRecord(name, 0, problem=error.message)
        return
    if not data.strip():
        yield FileRecord(name, 0, problem="it is empty")
        return
    yield from _choose_reader(_find_ending(path), data)(name, data)


def _find_ending(path: Path) -> str:
    name = path.name.lower()
    return Path(name.removesuffix(".gz")).suffix


def _choose_reader(ending: str, data: bytes) -> Callable[[str, bytes], Iterator[FileRecord]]:
    if ending in _TABLES:
        return _read_table
    if ending in _PARQUET:
        return _read_parquet
    is_json = data.lstrip()[:1] in (b"{", b"[")
    if ending in _PROTOBUF or (not is_json and ending not in (*_JSON, *_LINES)):
        return _read_protobuf
    return _read_lines if ending in _LINES or _has_lines(data) else _read_document  # tools name JSON lines `.json`, too


def _has_lines(data: bytes) -> bool:
    """Whether the first of several lines is an object by itself."""
    head, _, rest = data.lstrip().partition(b"\n")
    return bool(rest.strip()) and head.startswith(b"{") and isinstance(parse_row(head), dict)


def _read_lines(name: str, data: bytes) -> Iterator[FileRecord]:
    for number, line in enumerate(io.BytesIO(data), 1):
        if line.strip():
            yield from _read_object(name, number, line)


def _read_object(name: str, line: int, data: bytes) -> Iterator[FileRecord]:
    if len(data) > _LONGEST_RECORD:
        yield FileRecord(name, line, problem=f"it is longer than {_LONGEST_RECORD:,} bytes")
        return
    row = parse_row(data)
    if isinstance(row, str):
        yield FileRecord(name, line, problem=row)
    elif row is not None:
        yield from _expand(name, line, row)


def _expand(name: str, line: int, row: Mapping[str, Any]) -> Iterator[FileRecord]:
    """The record itself, or the records in a list of an object that is none."""
    listed = next((row[each] for each in _LISTS if isinstance(row.get(each), list)), None)
    if listed is None or find_format(row) is not None:
        yield FileRecord(name, line, row)
        return
    for number, each in enumerate(listed, 1):
        if isinstance(each, Mapping):
            yield FileRecord(name, line, each)
        else:
            yield FileRecord(name, line, problem=f"its element {number} must be an object, not {each!r:.60}")


def _read_document(name: str, data: bytes) -> Iterator[FileRecord]:
    """An array of records, an object with one, or one record."""
    lines = _LineNumbers(data)
    part = Part(data, 0, len(data))
    if data.lstrip()[:1] not in (b"{", b"["):
        yield FileRecord(name, 1, problem="it is neither a JSON object nor a JSON array")
        return
    try:
        if data.lstrip()[:1] == b"{":
            members = part.members()
            listed = next((members[each] for each in _LISTS if each in members and members[each].is_array), None)
            if listed is None or _is_record(members):
                yield from _read_object(name, 1, data)
                return
            part = listed
        for element in part.elements():
            start = element.end - len(data[element.start : element.end].lstrip())
            yield from _read_object(name, lines.find(start), data[element.start : element.end])
    except ValueError as error:
        yield FileRecord(name, lines.find(len(data)), problem=f"it is not JSON: {error}")


def _is_record(members: Mapping[str, Part]) -> bool:
    """Whether an object is a record itself. Its lists are not parsed: they may be most of a large file."""
    row: dict[str, Any] = {key: [] if part.is_array else part.value for key, part in members.items()}
    return find_format(row) is not None


class _LineNumbers:
    """The lines of places in a text; they are found at the first question."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._ends: Sequence[int] = ()

    def find(self, place: int) -> int:
        """The line of a place, counted from 1."""
        if not self._ends:
            ends, position = [-1], self._data.find(b"\n")
            while position >= 0:
                ends.append(position)
                position = self._data.find(b"\n", position + 1)
            self._ends = ends
        return max(1, bisect_right(self._ends, place - 1))


def _read_table(name: str, data: bytes) -> Iterator[FileRecord]:
    try:
        table = TableReader(io.StringIO(data.decode(), newline=""))
        names = [each.strip() for each in table.header]
        if len(set(names)) != len(names):
            yield FileRecord(name, 1, problem="two of its columns have the same name")
            return
        for line, cells in table:
            if cells and len(cells) != len(names):
                yield FileRecord(name, line, problem=f"it {describe_width(len(cells), len(names))}")
            elif any(cells):
                fields = {column: cell for column, cell in zip(names, cells, strict=True) if cell}
                yield FileRecord(name, line, fields)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        yield FileRecord(name, line, problem="it is not UTF-8")
    except TableError as error:
        yield FileRecord(name, error.line or 0, problem=error.problem)


def _read_parquet(name: str, data: bytes) -> Iterator[FileRecord]:
    number = 0
    try:
        for number, row in enumerate(read_rows(ResultFile("traces.parquet", io.BytesIO(data))), 1):
            yield FileRecord(name, number, row.values)
    except ImportFailed as error:
        yield FileRecord(name, number, problem=error.message)


def _read_protobuf(name: str, data: bytes) -> Iterator[FileRecord]:
    try:
        for span in read_otlp(data):
            yield FileRecord(name, 0, span)
    except OtlpError as error:
        yield FileRecord(name, 0, problem=error.message)
