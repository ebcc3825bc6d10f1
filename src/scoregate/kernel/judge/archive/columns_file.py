"""The columns of a large run as a file besides its cases, so that reading the run doesn't parse every case."""

from __future__ import annotations

import gzip
import io
import os
import re
import zlib
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from math import isnan
from pathlib import Path
from typing import IO, Any

from pydantic_core import from_json, to_json

from scoregate.kernel.judge.archive.cases import MAX_LINE_BYTES
from scoregate.kernel.judge.archive.cases_file import UNREADABLE
from scoregate.kernel.judge.archive.folder import CASES_FILE, COLUMNS_FILE, open_nofollow
from scoregate.kernel.types.runs.case_columns import MISSING, Columns

# Parsing fewer cases takes less than 0.1 s.
LEAST_CASES = 5_000
_VERSION = 2
_ROWS = 10_000
_CHUNK = 1 << 20
_MOST_EVALUATORS = 1_000
# Columns whose values are numbers of at least 0, or missing.
_AMOUNTS = ("durations_ms", "costs", "tokens")
_BLOCK = re.compile(rb'\{"suite":\d+,"hashes":')


def write_columns(folder: Path, columns: Sequence[Columns], crc32: int) -> None:
    """Write the columns of a run next to its cases, which are on disk already. Small runs get no such file.

    Args:
        folder: the folder of the run.
        columns: the columns of each suite.
        crc32: the checksum of the lines of cases, as in the head of the run.

    Raises:
        OSError: the file can't be written.
    """
    if sum(map(len, columns)) < LEAST_CASES or any(len(each.scores) > _MOST_EVALUATORS for each in columns):
        return
    path = folder / COLUMNS_FILE
    try:
        with gzip.GzipFile(path, "wb", compresslevel=1, mtime=0) as file:
            for line in _dump(columns, {"version": _VERSION, "crc32": crc32, **_describe_file(folder / CASES_FILE)}):
                file.write(line + b"\n")
    except ValueError:  # a name is not valid Unicode, so the cases have another one
        path.unlink()


def _describe_file(path: Path) -> dict[str, int]:
    """The size and the checksum of a file as it is, packed."""
    size = checksum = 0
    with open(path, "rb", opener=open_nofollow) as file:
        while chunk := file.read(_CHUNK):
            size, checksum = size + len(chunk), zlib.crc32(chunk, checksum)
    return {"packed_size": size, "packed_crc32": checksum}


def _dump(columns: Sequence[Columns], head: dict[str, int]) -> Iterator[bytes]:
    yield to_json({**head, "suites": len(columns)})
    for suite, each in enumerate(columns):
        for start in range(0, len(each), _ROWS):
            yield to_json({"suite": suite, **_dump_rows(each, slice(start, start + _ROWS))})
        yield to_json({"suite": suite, **_dump_rest(each)}, fallback=list)


def _dump_rows(columns: Columns, rows: slice) -> dict[str, Any]:
    return {
        "hashes": columns.hashes[rows],
        "repeats": list(columns.repeats[rows]),
        "digests": columns.digests[rows],
        "statuses": list(columns.statuses[rows]),
        **{name: _dump_numbers(getattr(columns, name)[rows]) for name in _AMOUNTS},
        "scores": {name: _dump_numbers(column[rows]) for name, column in columns.scores.items()},
    }


def _dump_numbers(numbers: array[float]) -> list[float]:
    """The numbers, −1 for each that is missing: all numbers in columns are at least 0."""
    return [-1.0 if isnan(number) else number for number in numbers]


def _dump_rest(columns: Columns) -> dict[str, Any]:
    from scoregate.kernel.judge.archive.columns_schema import REST_FIELDS

    return {name: getattr(columns, name) for name in REST_FIELDS} | {"reused": columns.rows_from([1])}


def read_columns(folder: Path, suites: int, crc32: int | None) -> list[Columns] | None:
    """Read the columns of a run.

    Args:
        folder: the folder of the run.
        suites: the number of its suites.
        crc32: the checksum of the lines of cases, from the head of the run.

    Returns:
        The columns of each suite; None if there is no file of them, if it is damaged, or if it belongs to other cases.
    """
    with suppress(OSError, ValueError, *UNREADABLE), open(folder / COLUMNS_FILE, "rb", opener=open_nofollow) as packed:
        lines = _read_lines(packed)
        head = from_json(next(lines, b""))
        if head == {"version": _VERSION, "crc32": crc32, "suites": suites, **_describe_file(folder / CASES_FILE)}:
            return _load(lines, suites)
    return None


def _read_lines(packed: IO[bytes]) -> Iterator[bytes]:
    with gzip.GzipFile(fileobj=packed) as unpacked:
        text = io.BufferedReader(unpacked, _CHUNK)
        while line := text.readline(MAX_LINE_BYTES + 1):
            if len(line) > MAX_LINE_BYTES:
                raise ValueError("a line is too long")
            yield line


def _load(lines: Iterator[bytes], suites: int) -> list[Columns]:
    """Read every block of rows.

    Raises:
        ValueError: a line is no block, or misses values.
    """
    from pydantic import TypeAdapter

    from scoregate.kernel.judge.archive.columns_schema import Block, Rest

    columns, done = [Columns() for _ in range(suites)], set[int]()
    blocks, rests = TypeAdapter(Block), TypeAdapter(Rest)
    for line in lines:
        is_block = _BLOCK.match(line) is not None  # a union of both types takes a third longer to validate
        part: Mapping[str, Any] = (blocks if is_block else rests).validate_json(line)
        suite = part["suite"]
        if suite >= suites or suite in done:
            raise ValueError("a suite is unknown, or appears twice")
        if is_block:
            _add_rows(columns[suite], part)
        else:
            _add_rest(columns[suite], part)
            done.add(suite)
    if len(done) != suites:
        raise ValueError("a suite is missing")
    return columns


def _add_rows(columns: Columns, block: Mapping[str, Any]) -> None:
    start, count = len(columns), len(block["hashes"])
    if any(len(block[name]) != count for name in ("repeats", "digests", "statuses", *_AMOUNTS)):
        raise ValueError("columns have different lengths")
    columns.hashes.extend(block["hashes"])
    columns.digests.extend(block["digests"])
    columns.repeats.extend(array("l", block["repeats"]))
    columns.statuses += bytes(block["statuses"])
    for name in _AMOUNTS:
        getattr(columns, name).extend(array("d", _load_numbers(block[name])))
    for name, numbers in block["scores"].items():
        column = columns.scores.setdefault(name, array("d"))
        if len(numbers) > count or (numbers and len(column) != start):
            raise ValueError("scores have no case")
        column.extend(array("d", _load_numbers(numbers)))
    if len(columns.scores) > _MOST_EVALUATORS:
        raise ValueError("there are too many scorers")


def _load_numbers(numbers: list[float]) -> list[float]:
    is_complete = not numbers or min(numbers) >= 0
    return numbers if is_complete else [MISSING if number < 0 else number for number in numbers]


def _add_rest(columns: Columns, rest: Mapping[str, Any]) -> None:
    from scoregate.kernel.judge.archive.columns_schema import REST_FIELDS

    rows = len(columns)
    keys = set(zip(columns.hashes, columns.repeats, strict=True)) if columns.has_repeats else set(columns.hashes)
    if len(keys) != rows or any(row >= rows for row in _list_rows(rest)):
        raise ValueError("a case appears twice, or a row doesn't exist")
    for name in REST_FIELDS:
        if name != "reused":
            setattr(columns, name, rest[name])
    columns.sources = bytearray(row in rest["reused"] for row in range(rows))
    columns.deferred = {name: array("l", values) for name, values in rest["deferred"].items()}


def _list_rows(rest: Mapping[str, Any]) -> Iterator[int]:
    """The rows that it refers to."""
    for rows in (rest["tags"], rest["clusters"], rest["cached"], rest["partly_paid"], rest["reused"]):
        yield from rows
    for table in (rest["failed"], rest["errored"], rest["unscaled"], rest["answers"], rest["deferred"]):
        for named in table.values():
            yield from named
    for named in rest["other_thresholds"].values():
        yield from named


def remove_columns(folder: Path) -> None:
    """Delete the file, if there is one: it belongs to an earlier run.

    Raises:
        OSError: it can't be deleted.
    """
    with suppress(FileNotFoundError):
        os.unlink(folder / COLUMNS_FILE)  # noqa: PTH108
