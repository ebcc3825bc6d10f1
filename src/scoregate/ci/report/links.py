"""Web addresses in the repository: of the line that defines a suite, and of commits."""

from __future__ import annotations

from posixpath import join
from urllib.parse import quote

from scoregate.ci.report.context import Context
from scoregate.core.record import SuiteResult


def source_url(suite: SuiteResult, context: Context) -> str | None:
    """The web address of the line that defines the suite; None outside a repository on the web."""
    if suite.origin is None or not context.commit or not (context.repository or "").startswith("https://"):
        return None
    path = quote(join(context.folder, suite.origin.file).encode("utf-8", "replace"), safe="/")
    return f"{context.repository}/blob/{quote(context.commit, safe='')}/{path}#L{suite.origin.line}"


def commit_url(commit: str | None, context: Context) -> str | None:
    """The web address of a commit; None outside a repository on the web."""
    if not commit or not (context.repository or "").startswith("https://"):
        return None
    return f"{context.repository}/commit/{quote(commit, safe='')}"
