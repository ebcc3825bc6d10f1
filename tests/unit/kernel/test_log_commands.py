"""No text of suites is a command in any grammar of the runner."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.runner import parse_commands, parse_outputs

from scoregate.kernel.job.github.commands import command, harmless, outputs_text

PIECES = st.sampled_from(
    ["::", "##[", "error", "set-output name=a", "::b", "]", "\r", "\n", " ", "\t", "\u00a0", "%0A", ":", "#"]
)
CONTROL = {*map(chr, range(32)), *map(chr, range(127, 160)), *"\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c"}
CONTROL |= {*"\u202d\u202e\u2066\u2067\u2068\u2069"}
hostile_text = st.one_of(st.lists(PIECES, max_size=12).map("".join), st.text(max_size=40))


@given(hostile_text)
def test_plain_text_is_no_command(text: str) -> None:
    assert parse_commands(harmless(text)) == []


@given(hostile_text, hostile_text)
def test_our_own_command_keeps_its_text(message: str, file: str) -> None:
    (found,) = parse_commands(command("error", message, file=file, title="t"))
    assert (found.name, found.properties["title"]) == ("error", "t")
    assert found.message.replace("\u200b", "") == message.replace("\u200b", "")
    shown = "".join(char for char in file if char not in CONTROL)
    assert found.properties.get("file", "").replace("\u200b", "") == shown.replace("\u200b", "")


def test_a_file_has_no_control_codes() -> None:
    line = command("error", "m", file="a\x1b[31m\x07\x00\u202eb\r\n.py", line=3)
    assert line == "::error file=a[31mb.py,line=3::m"


@given(st.dictionaries(st.from_regex(r"[a-z-]{1,12}", fullmatch=True), hostile_text, max_size=4))
def test_outputs_round_trip(values: dict[str, str]) -> None:
    assert parse_outputs(outputs_text(values)) == values


def test_long_white_space_is_fast() -> None:
    started = time.process_time()
    harmless("\n" * 200_000 + " " * 200_000 + "\r\n" * 100_000)
    assert time.process_time() - started < 10
