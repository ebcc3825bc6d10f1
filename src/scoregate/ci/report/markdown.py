"""The comment on a pull request: as much as fits, and every string from outside made inert."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path

from jinja2 import Template
from markupsafe import Markup

from scoregate.ci.report.compiled import environment
from scoregate.ci.report.detail import LADDER, SUMMARY_LADDER, Detail, top_rows
from scoregate.ci.report.escape import code, fence, link, prose
from scoregate.ci.report.marker import marker
from scoregate.ci.report.row_views import State
from scoregate.ci.report.view import ReportView
from scoregate.core.rules import Conclusion

BUDGET = 60_000
_TEMPLATES = Path(__file__).with_name("templates")
_ROWS = 400
_ICONS = {
    Conclusion.PASSED: "✅",
    State.FAILED: "❌",
    State.WORSE: "🔻",
    State.UNMEASURABLE: "⚠️",
    State.UNCERTAIN: "🟡",
    State.NOT_COMPARABLE: "⚠️",
    State.REMOVED: "➖",
    State.NEW: "🆕",
    State.BETTER: "✅",
    State.HELD: "✅",
}  # a Conclusion and a State of one word are equal


def render(view: ReportView, *, budget: int = BUDGET) -> Iterator[str]:
    """Yield the comment once: the first level of detail that has at most `budget` characters and UTF-8 bytes.

    The last level is returned as it is: a title, the totals and three gates.
    """
    yield _largest(view, LADDER, budget)


def render_summary(view: ReportView, *, budget: int) -> Iterator[str]:
    """Yield the job's summary once: the comment, with more of everything, in at most `budget` bytes."""
    yield _largest(view, SUMMARY_LADDER, budget)


def _largest(view: ReportView, ladder: Iterable[Detail], budget: int) -> str:
    for detail in ladder:
        text = _render(view, detail)
        if len(text.encode()) <= budget:
            break
    return text


def _render(view: ReportView, detail: Detail) -> str:
    rows = tuple(islice(top_rows(view.rows, detail.rows), _ROWS))
    text = _template().render(
        view=view,
        detail=detail,
        rows=rows,
        totals=view.totals,
        intervals=any(row.low for row in rows),
        moved=any(suite.moved for suite in view.ordered_suites[: detail.suites]),
        marker=Markup(marker(view.context)),
    )
    return text.strip() + "\n"


@cache
def _template() -> Template:
    """The template, in an environment where a plain string cannot reach the page unescaped."""
    made = environment(_TEMPLATES, _finalize)
    made.filters |= {"code": code, "fence": fence, "link": link, "icon": _icon}
    return made.get_template("comment.md.j2")


def _finalize(value: object) -> Markup | int:
    if isinstance(value, Markup | int):
        return value
    if isinstance(value, str):
        return prose(value)
    raise TypeError(f"a {type(value).__name__} cannot be printed in a comment")


def _icon(state: State | Conclusion) -> str:
    return _ICONS[state]
