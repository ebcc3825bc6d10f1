"""The first line of a comment, by which it is found again: a key, a commit, a run."""

from __future__ import annotations

import re
from urllib.parse import quote

from scoregate.ci.report.context import Context

_OPENING = "<!-- scoregate:v1 key="
_RUN = re.compile(r"(?:<!-- scoregate:v1 [^\n]{0,400} run=)?(\d{1,18})\.(\d{1,6})(?: -->|$)")


def marker_of(key: str) -> str:
    """What the body of every comment of this key starts with."""
    return f"{_OPENING}{_word(key)} "


def marker(context: Context) -> str:
    """The whole first line."""
    return f"{marker_of(context.key)}sha={_word(context.commit or '')} run={_word(context.run)} -->"


def run_of(text: str) -> tuple[int, int]:
    """The run and its attempt in a marker or in a context's `run`; later ones are greater, unknown ones the least."""
    found = _RUN.match(text)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _word(text: str) -> str:
    """One word that cannot end an HTML comment."""
    return quote(text.encode("utf-8", "replace"), safe="/").replace("--", "%2D%2D") or "none"
