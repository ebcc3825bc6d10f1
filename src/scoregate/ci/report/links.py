"""Web addresses in the repository: of the line that defines a suite or a case, and of commits."""

from __future__ import annotations

from posixpath import join
from urllib.parse import quote

from scoregate.ci.report.context import Context
from scoregate.core.parts import Origin


def source_url(origin: Origin | None, context: Context) -> str | None:
    """The web address of the line that defines a suite or a case; None outside a repository on the web."""
    if origin is None or not context.commit or not (context.repository or "").startswith("https://"):
        return None
    path = quote(join(context.folder, origin.file).encode("utf-8", "replace"), safe="/")
    return f"{context.repository}/blob/{quote(context.commit, safe='')}/{path}#L{origin.line}"


def commit_url(commit: str | None, context: Context) -> str | None:
    """The web address of a commit; None outside a repository on the web."""
    if not commit or not (context.repository or "").startswith("https://"):
        return None
    return f"{context.repository}/commit/{quote(commit, safe='')}"
