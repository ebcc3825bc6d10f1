"""The page, piece by piece: what has to be seen first, the texts as they are read, then what finds them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from scoregate.ci.report.html import assets
from scoregate.ci.report.html.book import SAMPLES, Book, open_book, pages
from scoregate.ci.report.html.entries import Entry, entries
from scoregate.ci.report.html.forest import forest
from scoregate.ci.report.html.index import index
from scoregate.ci.report.html.latency import spreads
from scoregate.ci.report.html.page import template
from scoregate.ci.report.html.room import LISTED
from scoregate.ci.report.html.scatter import scatters
from scoregate.ci.report.html.trails import trails
from scoregate.ci.report.links import commit_url
from scoregate.ci.report.view import ReportView

ROWS = 500


def render(view: ReportView) -> Iterator[str]:
    """Yield the page. The cases of the run and of its base are read once; memory follows the number of cases."""
    found = entries(view)
    listed = found[:LISTED]
    yield template("top.html.j2").render(_top(view, found))
    book = open_book(view, listed)
    yield from pages(view, book)
    yield template("cases.html.j2").render(
        view=view, total=len(found), listed=len(listed), samples=_samples(view, listed, book)
    )
    yield from index(view, listed, book)
    yield f"<script>{assets.script()}</script>\n</body>\n</html>\n"


def _top(view: ReportView, found: Sequence[Entry]) -> dict[str, Any]:
    rows = view.rows[:ROWS]
    return {
        "view": view,
        "made": int(view.context.generated_at),
        "totals": view.totals,
        "total": len(found),
        "style": assets.style(),
        "policy": assets.policy(),
        "forest": forest(rows),
        "trails": trails(view, rows, view.ordered_suites[:ROWS]),
        "more_rows": len(view.rows) - len(rows),
        "scatters": scatters(rows, found, view.sides),
        "spreads": spreads(view.sides),
        "commit_url": commit_url(view.context.commit, view.context),
        "base_url": commit_url(view.base.commit if view.base else None, view.context),
    }


def _samples(view: ReportView, listed: Sequence[Entry], book: Book) -> list[dict[str, Any]]:
    """The worst cases, to be read where no script runs."""
    return [
        {
            "suite": view.sides[entry.suite],
            "kind": entry.kind,
            "title": book.titles[entry.suite, entry.hash][0],
            "sides": (sides := book.samples.get((entry.suite, entry.hash), {})),
            "input": next((told["input"] for told in sides.values() if "input" in told), ""),
        }
        for entry in listed[:SAMPLES]
        if (entry.suite, entry.hash) in book.titles
    ]
