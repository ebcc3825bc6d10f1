"""Text is made harmless without changing its meaning."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from tests.unit.report.hostile import HOSTILE, hostile

from scoregate.kernel.report.text import display_name, excerpt, make_visible, one_line


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain, naïve, 日本語", "plain, naïve, 日本語"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x07", "link"),
        ("a\r\nb\rc\td", "a\nb\nc\td"),
        ("nul \x00 bell \x07", "nul \\x00 bell \\x07"),
        ("left\u202eright", "left\\u202eright"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("half \ud83d", "half \\ud83d"),
        ("👩\u200d💻 stays, a\u200db does not", "👩\u200d💻 stays, a\\u200db does not"),
        ("می\u200cخواهم", "می\u200cخواهم"),
    ],
)
def test_invisible_text_is_shown(text: str, expected: str) -> None:
    assert make_visible(text) == expected


@given(hostile)
def test_visible_text_is_visible_and_well_formed(text: str) -> None:
    shown = make_visible(text)
    shown.encode()
    assert not {unicodedata.category(char) for char in shown if char not in "\n\t"} & {"Cc", "Cs", "Zl", "Zp"}
    assert make_visible(shown) == shown


@pytest.mark.parametrize("text", HOSTILE)
def test_a_name_is_one_short_line_and_never_empty(text: str) -> None:
    shown = display_name(text)
    assert 0 < len(shown) <= 120
    assert "\n" not in shown
    assert shown == shown.strip()


def test_an_excerpt_is_marked() -> None:
    assert excerpt("abcdef", 6) == "abcdef"
    assert excerpt("abcdefg", 6) == "abcde…"
    assert excerpt("\x1b[0m" * 100 + "a", 6).endswith("…")
    assert one_line(" a\n\n b ", 10) == "a b"
