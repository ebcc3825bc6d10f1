"""Text for a terminal."""

from __future__ import annotations

import io

import pytest

from scoregate.engine.terminal import one_line, print_text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("  two\n lines\t", "two lines"),
        ("\x1b[31mred\u202e\x00", "[31mred"),
        ("twelve chars", "twelve chars"),
        ("thirteen char", "thirteen ch…"),
        ("", ""),
    ],
)
def test_a_line_is_visible_and_cut_to_the_width(text: str, shown: str) -> None:
    assert one_line(text, 12) == shown


def test_unencodable_text_becomes_a_question_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii", newline="\n")
    monkeypatch.setattr("sys.stdout", out)
    print_text("✓ ok")
    out.flush()
    assert out.buffer.getvalue() == b"? ok\n"  # type: ignore[attr-defined]


def test_a_stream_without_an_encoding_gets_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    monkeypatch.setattr("sys.stdout", out)
    print_text("✓ ok")
    assert out.getvalue() == "✓ ok\n"
