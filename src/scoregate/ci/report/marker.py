"""The first line of a comment, by which it is found again: a key, a commit, a run."""

from __future__ import annotations

from urllib.parse import quote

from scoregate.ci.report.context import Context

_OPENING = "<!-- scoregate:v1 key="


def marker_of(key: str) -> str:
    """What the body of every comment of this key starts with."""
    return f"{_OPENING}{_word(key)} "


def marker(context: Context) -> str:
    """The whole first line."""
    return f"{marker_of(context.key)}sha={_word(context.commit or '')} run={_word(context.run)} -->"


def _word(text: str) -> str:
    """One word that cannot end an HTML comment."""
    return quote(text.encode("utf-8", "replace"), safe="/").replace("--", "%2D%2D") or "none"
