"""Untrusted text in Markdown: it stands there as itself and does nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

from markupsafe import Markup

from scoregate.ci.report.text import name, one_line

_ZWSP = "\u200b"
_ACTIVE = {ord(char): f"&#{ord(char)};" for char in "\\`*[]|~!"}
_ACTIVE |= {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;"}
# GitHub looks for `$…$` in the text of the finished HTML, where an entity would be a dollar again; no formula goes over
# the edge of an element, which is how GitHub's own manual writes a plain dollar beside formulas.
_ACTIVE |= {ord("$"): "<span>$</span>"}
_EMPHASIS = re.compile(r"(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_ADDRESS = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)
_MAIL = re.compile(r"@(?=[^\s@]*\.)")
_REFERENCE = re.compile(r"@|(?<!&)#(?=\w)|\bGH(?=-\d)", re.IGNORECASE)
_TICKS = re.compile(r"`+")


def inert(text: str) -> str:
    """`text` with every character that could start Markdown or HTML as an entity, no address alive, and no formula.

    It must be on one line; it may stand in a paragraph, a table cell or an HTML element.
    """
    text = _EMPHASIS.sub("&#95;", text.translate(_ACTIVE))
    text = _MAIL.sub(f"@{_ZWSP}", text)
    return _ADDRESS.sub(lambda match: f"&#{ord(match[0])};", text)


def code(text: str, limit: int = 120) -> Markup:
    """A name, shown as code: at most `limit` characters on one line.

    Markdown is alive within `<code>`, so that escaping HTML alone would not do; mentions and references are not.
    """
    return Markup(f"<code>{inert(name(text, limit))}</code>")


def prose(text: str, limit: int = 400) -> Markup:
    """A sentence that holds names, on one line; what GitHub would link in it (`#1`, `@name`) stays unlinked."""
    return Markup(_REFERENCE.sub(rf"\g<0>{_ZWSP}", inert(one_line(text, limit))))


def fence(lines: Iterable[str], info: str = "") -> Markup:
    """A fenced block that nothing within can end; it must stand between empty lines."""
    body = "\n".join(lines).replace("<!--", f"<!{_ZWSP}--")
    ticks = "`" * max(3, 1 + max((len(run) for run in _TICKS.findall(body)), default=0))
    return Markup(f"{ticks}{info}\n{body}\n{ticks}")


def link(text: Markup, url: str | None) -> Markup:
    """A link, where there is an address that is safe to follow; else the text alone."""
    if url is None or not url.startswith("https://"):
        return text
    return Markup(f'<a href="{escape(url)}">{text}</a>')
