"""Cassettes as files: names, damage, bombs, and many calls."""

from __future__ import annotations

import contextlib
import gzip
import random
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoregate.errors import RecordError
from scoregate.features.gateway.proxy import cassettes
from scoregate.features.gateway.proxy.cassettes import (
    CassetteReader,
    CassetteWriter,
    RecordedCall,
    encode_body,
    find_cassettes,
    name_file,
    parse_call,
    read_blocks,
)
from scoregate.features.gateway.proxy.exchange import split_events

CALL = RecordedCall("d", "suite", "", 0, "openai", "chat/completions", "m", "{}", 200, {}, "answer")


def write(folder: Path, calls: list[RecordedCall]) -> None:
    (folder / "scratch").mkdir(exist_ok=True)
    writer = CassetteWriter(folder / "tape", folder / "scratch")
    for call in calls:
        writer.add(call)
    writer.close()


def open_reader(folder: Path) -> CassetteReader:
    (folder / "scratch").mkdir(exist_ok=True)
    return CassetteReader((folder / "tape",), folder / "scratch")


@given(st.text(max_size=200), st.text(max_size=200))
def test_names_are_safe_and_differ(first: str, second: str) -> None:
    for suite in (first, second):
        name = name_file(suite)
        assert name
        assert len(name.encode()) < 100
        assert name not in (".", "..")
        assert not set(name) & set("/\\\0:")
        assert not name.startswith(".")
    if first != second:
        assert name_file(first) != name_file(second)


@given(st.binary(max_size=300), st.text(max_size=50), st.integers(200, 599))
def test_a_call_round_trips(body: bytes, request: str, status: int) -> None:
    text, base64 = encode_body(body)
    chunks = (len(body),) if body else ()
    call = replace(CALL, request=request, status=status, text=text, base64=base64, chunks=chunks)
    line = call.dump()
    assert line.count(b"\n") == 1
    assert parse_call(line) == call
    assert call.body == body


def test_invalid_lines_are_refused() -> None:
    line = CALL.dump()
    for old, new in (
        (b'"status":200', b'"status":101'),
        (b'"status":200', b'"status":"x"'),
        (b'"v":1', b'"v":2'),
        (b'"v":1', b'"v":1,"more":1'),
        (b'"headers":{}', b'"headers":{"set-cookie":"a"}'),
        (b'"headers":{}', b'"headers":{"content-type":"a\\r\\nb"}'),
        (b'"text":"answer"', b'"base64":"not base64"'),
        (b'"base64":null', b'"base64":"YQ=="'),
        (b'"text":"answer",', b""),
        (b'"chunks":[]', b'"chunks":[1,2]'),
        (b'"chunks":[]', b'"chunks":[-1,7]'),
    ):
        assert old in line
        with pytest.raises(ValueError, match=r"\w"):
            pytest.fail(f"{new!r} is valid: {parse_call(line.replace(old, new)).body!r}")


def test_truncations_and_flipped_bytes_are_errors_or_harmless(tmp_path: Path) -> None:
    write(tmp_path, [replace(CALL, digest=f"d{n}", text=f"answer {n}") for n in range(3)])
    (file,) = (tmp_path / "tape").iterdir()
    data = file.read_bytes()
    for cut in range(1, len(data)):
        file.write_bytes(data[:cut])
        with pytest.raises(RecordError):
            list(read_blocks(file))
    for index in range(len(data)):
        file.write_bytes(data[:index] + bytes([data[index] ^ 0x55]) + data[index + 1 :])
        reader = open_reader(tmp_path)
        with contextlib.suppress(RecordError), contextlib.closing(reader):
            call = reader.take("d1", "suite", "", 0)
            assert index < 10  # a byte of the header that has no meaning
            assert call is not None
            assert call.text == "answer 1"


def test_a_bomb_is_refused_with_little_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cassettes, "_MAX_BLOCK_BYTES", 1_000_000)
    (tmp_path / "tape").mkdir()
    (tmp_path / "tape" / "a.jsonl.gz").write_bytes(gzip.compress(bytes(50_000_000)))
    reader = open_reader(tmp_path)
    tracemalloc.start()
    with pytest.raises(RecordError, match="a block is larger than 1,000,000 bytes"):
        reader.take("d", "suite", "", 0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5_000_000
    with pytest.raises(RecordError):  # and again for the next call
        reader.take("d", "suite", "", 0)


def test_links_and_other_files_are_left_out(tmp_path: Path) -> None:
    write(tmp_path, [CALL])
    tape = tmp_path / "tape"
    (tape / "link.jsonl.gz").symlink_to("/etc/passwd")
    (tape / "folder.jsonl.gz").mkdir()
    (tape / "notes.txt").write_text("x", encoding="utf-8")
    assert [path.name for path in find_cassettes(tape)] == ["suite.jsonl.gz"]
    assert find_cassettes(tmp_path / "missing") == []


def test_ten_thousand_calls_are_replayed_in_any_order(tmp_path: Path) -> None:
    calls = [replace(CALL, digest=f"{n:032x}", request="q" * 300, text=f"answer {n}") for n in range(10_000)]
    shuffled = random.Random(1).sample(calls, len(calls))
    write(tmp_path, shuffled)
    (file,) = (tmp_path / "tape").iterdir()
    assert file.stat().st_size < 1_000_000
    reader = open_reader(tmp_path)
    for call in shuffled[:500] + calls[-500:]:
        found = reader.take(call.digest, "other suite", "a case", 3)
        assert found is None or found.text == call.text
    assert reader._kept_bytes <= cassettes._KEPT_BYTES + cassettes._BLOCK_BYTES
    assert reader.take(calls[-1].digest, "suite", "", 0) is None  # each answers once
    reader.close()


def test_the_answer_of_the_same_case_and_number_is_preferred(tmp_path: Path) -> None:
    owners = [("a", "c1#1", 0), ("a", "c1#1", 1), ("a", "c2#1", 0), ("b", "c1#1", 0)]
    write(
        tmp_path,
        [replace(CALL, suite=suite, case=case, number=number, text=f"{suite} {case} {number}")
         for suite, case, number in owners],
    )  # fmt: skip
    reader = open_reader(tmp_path)
    for wanted, expected in (
        (("a", "c1#1", 1), "a c1#1 1"),
        (("a", "c1#1", 1), "a c1#1 0"),
        (("a", "new", 0), "a c2#1 0"),
        (("a", "new", 0), "b c1#1 0"),
        (("a", "new", 0), None),
    ):
        call = reader.take("d", *wanted)
        assert (call.text if call else None) == expected
    assert "it was recorded 4 times" in reader.describe_missing("d", "openai", "chat/completions", "{}")
    reader.close()


@given(st.lists(st.sampled_from([b"a", b"\n", b"\r", b"\n\n", b"\r\n\r\n", b"data: x\n\n"]), max_size=30))
def test_a_stream_is_split_into_events(pieces: list[bytes]) -> None:
    body = b"".join(pieces)
    sizes = split_events(body)
    assert sum(sizes) == len(body)
    assert all(sizes)
    at = 0
    for size in sizes[:-1]:
        at += size
        assert body[:at].endswith((b"\n\n", b"\n\r\n", b"\r\r", b"\r\r\n", b"\n\r"))


def test_the_number_of_parts_of_a_stream_is_bounded() -> None:
    sizes = split_events(b"a\n\n" * 1_000_000)
    assert len(sizes) == 10_001
    assert sum(sizes) == 3_000_000
