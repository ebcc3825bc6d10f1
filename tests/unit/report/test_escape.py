"""Foreign input is text in the comment, whatever it contains."""

from __future__ import annotations

import re
from html import unescape

import pytest
from hypothesis import given
from tests.unit.report.hostile import HOSTILE, hostile

from scoregate.kernel.report.markdown import code, fence, link, prose
from scoregate.kernel.report.text import make_visible, one_line

cmarkgfm = pytest.importorskip("cmarkgfm")
OPTIONS = cmarkgfm.cmark.Options.CMARK_OPT_UNSAFE
DOLLAR = "<span>$</span>"
SHORT = [text for text in HOSTILE if len(text) < 1000]


def to_html(markdown: str) -> str:
    return str(cmarkgfm.github_flavored_markdown_to_html(markdown, options=OPTIONS))


def tags(html: str) -> list[str]:
    return re.findall(r"<[^>]*>", html.replace(DOLLAR, "$"))


@given(hostile)
def test_code_stays_one_element_in_a_paragraph_a_table_and_html(text: str) -> None:
    span = str(code(text))
    row = ["<table>", "<thead>", "<tr>", "<th>", "<code>", "</code>", "</th>", "</tr>", "</thead>", "</table>"]
    assert tags(to_html(f"x {span} y")) == ["<p>", "<code>", "</code>", "</p>"]
    assert [tag for tag in tags(to_html(f"| {span} | b |\n|--|--|\n")) if tag not in ("<th>", "</th>")] == [
        tag for tag in row if tag not in ("<th>", "</th>")
    ]
    inside = ["<details>", "<summary>", "<code>", "</code>", "</summary>", "</details>"]
    assert tags(to_html(f"<details><summary>{span}</summary></details>")) == inside


@given(hostile)
def test_prose_stays_text_without_links(text: str) -> None:
    html = to_html(f"x {prose(text)} y")
    assert tags(html) == ["<p>", "</p>"]
    assert not re.search(r"@\w|(?<!&)#\w|GH-\d", unescape(html), re.IGNORECASE)


@given(hostile)
def test_a_reader_sees_the_text_itself(text: str) -> None:
    html = to_html(f"x {code(text)} y").replace("\u200b", "").replace(DOLLAR, "$")
    seen = unescape(html.removeprefix("<p>x <code>").removesuffix("</code> y</p>\n"))
    assert seen == (one_line(text, 120) or "(no name)")


@pytest.mark.parametrize("text", ["$x$", "$$x$$", "$`x`$", "$0.01 to $0.02", "a$b$c $ d", "\\$x\\$", "```math\nx\n```"])
def test_dollars_make_no_formula(text: str) -> None:
    """GitHub looks for formulas between two dollars of one text of the HTML, and for backticks beside a dollar."""
    for source in (f"{prose(text)} and {code(text)}", f"| {code(text)} | {prose(text)} |\n|--|--|\n"):
        html = to_html(source)
        assert [part for part in re.split("<[^>]*>", html) if part.count("$") > 1] == []
        assert not re.search(r"\$`|`\$|```", source)
        assert html.count(DOLLAR) == 2 * text.count("$")


def test_a_fence_is_never_a_formula() -> None:
    assert "<math" not in to_html(str(fence(["$x$", "```math", "x", "```"], "diff")))
    assert str(fence(["```math"])).startswith("````\n")


@given(hostile)
def test_nothing_ends_a_fence(text: str) -> None:
    lines = make_visible(text).split("\n")
    html = to_html(f"<details>\n\n{fence(lines, 'diff')}\n\n</details>\n")
    assert tags(html) == ["<details>", '<pre lang="diff">', "<code>", "</code>", "</pre>", "</details>"]
    assert "<!--" not in str(fence(lines))


@pytest.mark.parametrize("text", SHORT)
def test_our_marker_cannot_be_forged(text: str) -> None:
    assert "<!--" not in f"{code(text)}{prose(text)}{fence(make_visible(text).splitlines())}"


def test_only_safe_urls_are_linked() -> None:
    text = code("a")
    assert link(text, "https://x.example/?a=1&b=\"'") == (
        '<a href="https://x.example/?a=1&amp;b=&quot;&#x27;"><code>a</code></a>'
    )
    assert link(text, "javascript:alert(1)") == text
    assert link(text, None) == text


def test_common_names_stay_readable_in_the_source() -> None:
    assert code("has-all_substrings (v2.0)") == "<code>has-all_substrings (v2.0)</code>"
    assert code("main@a1b2c3d") == "<code>main@a1b2c3d</code>"
