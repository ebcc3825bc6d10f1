"""The page in the order of the file: summary, the texts of trials, cases, plots, then the index that finds them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, Template
from markupsafe import Markup

from scoregate.kernel.report.context import commit_url
from scoregate.kernel.report.html import assets, charts, sparklines
from scoregate.kernel.report.html.case_list import CaseChange, CaseEntry, build_entries
from scoregate.kernel.report.html.charts import draw_forest, draw_latencies, draw_scatters
from scoregate.kernel.report.html.index import render_index
from scoregate.kernel.report.html.side_pages import SAMPLES, TrialPages, plan_pages, write_pages
from scoregate.kernel.report.html.sparklines import draw_sparklines
from scoregate.kernel.report.html.text_budget import MAX_CASES
from scoregate.kernel.report.templating import make_environment
from scoregate.kernel.report.text import display_name as one_name
from scoregate.kernel.report.text import excerpt
from scoregate.kernel.report.view import ReportView

_TEMPLATES = Path(__file__).with_name("templates")
_MAX_TEXT = 20_000
_SIGNS = {
    "passed": "pass",
    "failed": "fail",
    "unmeasurable": "warn",
    "errored": "warn",
    "not comparable": "warn",
    "worse": "down",
    "better": "up",
    "new": "new",
    "removed": "gone",
    "uncertain": "warn",
    "accepted": "warn",
    "drift": "warn",
    "held": "same",
    "scored": "same",
    "unscored": "same",
}
KINDS = {
    CaseChange.NEWLY_FAILING: "newly failing",
    CaseChange.WORSE: "worse",
    CaseChange.FAILING: "failing",
    CaseChange.BETTER: "better",
    CaseChange.NEW: "new",
    CaseChange.SAME: "same",
    CaseChange.REMOVED: "removed",
}


@cache
def load_template(name: str) -> Template:
    """Load a template; it escapes what it prints and shows invisible characters."""
    return load_environment().get_template(name)


@cache
def load_environment() -> Environment:
    """Load the environment of the templates, with filters and functions for charts."""
    created = make_environment(_TEMPLATES, _finalize)
    created.filters |= {"own": Markup, "sign": _SIGNS.__getitem__, "kind": KINDS.__getitem__, "name": one_name}
    created.filters |= {"address": urlencode, "shown": _format_text, "listed": ", ".join, "max": max}
    created.globals |= {"forest_plot": charts, "scatter_plot": charts, "latency_plot": charts, "spark_plot": sparklines}
    return created


def _finalize(value: object) -> object:
    if isinstance(value, Markup | int | float):
        return value
    if isinstance(value, str):
        return excerpt(value, _MAX_TEXT)
    raise TypeError(f"cannot print a {type(value).__name__} in a page")


def _format_text(text: str | tuple[str, int]) -> str:
    """A text of a trial; if it was cut, with a note."""
    if isinstance(text, str):
        return text
    return f"{text[0]}\n… cut: the first {len(text[0]):,} of {text[1]:,} characters"


MAX_ROWS = 500
# More rows are folded, so that the cases begin on the first screen.
SHOWN_ROWS = 6


def render(view: ReportView) -> Iterator[str]:
    """Yield the page. The cases of both runs are read once; memory grows with the listed ones."""
    listed, total = build_entries(view, MAX_CASES)
    values = _page_values(view, total)
    yield load_template("top.html.j2").render(values)
    trial_pages = plan_pages(view, listed)
    yield from write_pages(view, trial_pages)
    media = trial_pages.join_media()
    yield from media.write(view.trials.read_media, view.context.redact)
    yield load_template("cases.html.j2").render(
        view=view,
        total=total,
        listed=len(listed),
        left_out_media=media.describe(),
        samples=_sample_values(view, listed, trial_pages),
    )
    yield load_template("bottom.html.j2").render(values)
    yield from render_index(view, listed, trial_pages)
    yield f"<script>{assets.script()}</script>\n</body>\n</html>\n"


def _page_values(view: ReportView, total: int) -> dict[str, Any]:
    """What the page prints above and below the cases."""
    rows = view.rows[:MAX_ROWS]
    return {
        "view": view,
        "made": int(view.context.generated_at),
        "totals": view.totals,
        "total": total,
        "style": assets.style(),
        "policy": assets.policy(),
        "forest": draw_forest(rows),
        "trails": draw_sparklines(view, rows, view.ordered_suites[:MAX_ROWS]),
        "shown_rows": SHOWN_ROWS,
        "more_rows": len(view.rows) - len(rows),
        "most_rows": MAX_ROWS,
        "scatters": draw_scatters(rows, view.paired_suites),
        "spreads": draw_latencies(view.paired_suites),
        "commit_url": commit_url(view.context.commit, view.context),
        "base_url": commit_url(view.base.commit if view.base else None, view.context),
    }


def _sample_values(view: ReportView, listed: Sequence[CaseEntry], trial_pages: TrialPages) -> list[dict[str, Any]]:
    """The worst cases, for browsers without JavaScript."""
    values = []
    for entry in listed[:SAMPLES]:
        case_id = entry.suite, entry.hash
        if sides := trial_pages.samples(case_id):
            sample = {
                "suite": view.paired_suites[entry.suite],
                "kind": entry.kind,
                "title": trial_pages.title(case_id)[0],
                "sides": sides,
                "input": next((trial["input"] for trial in sides.values() if "input" in trial), ""),
            }
            values.append(sample)
    return values
