"""The comment on a pull request: as much detail as fits, with all untrusted text made harmless."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from html import escape
from itertools import islice
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment
from markupsafe import Markup

from scoregate.kernel.report.context import ReportContext
from scoregate.kernel.report.rows import ReportState, RowView
from scoregate.kernel.report.templating import make_environment
from scoregate.kernel.report.text import display_name, one_line
from scoregate.kernel.report.view import ReportView
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.records import record


@record
class Detail:
    """How many items of each kind are shown.

    `rows` counts per suite. `texts` are the cases with input and output, of whose output at most `lines` are shown.
    """

    cases: int
    texts: int
    lines: int
    rows: int
    parts: int
    suites: int
    gates: int
    errors: int
    calls: int = 0


DETAIL_LEVELS = (
    Detail(cases=10, texts=10, lines=40, rows=1000, parts=10, suites=200, gates=50, errors=20, calls=20),
    Detail(cases=10, texts=10, lines=20, rows=1000, parts=10, suites=200, gates=50, errors=20, calls=20),
    Detail(cases=10, texts=3, lines=20, rows=1000, parts=5, suites=200, gates=50, errors=20, calls=20),
    Detail(cases=5, texts=1, lines=20, rows=1000, parts=5, suites=200, gates=20, errors=10, calls=10),
    Detail(cases=3, texts=0, lines=0, rows=20, parts=3, suites=200, gates=20, errors=5, calls=5),
    Detail(cases=0, texts=0, lines=0, rows=5, parts=0, suites=100, gates=10, errors=3, calls=5),
    Detail(cases=0, texts=0, lines=0, rows=0, parts=0, suites=100, gates=10, errors=0),
    Detail(cases=0, texts=0, lines=0, rows=0, parts=0, suites=0, gates=3, errors=0),
)

# A summary may be sixteen times as long as a comment.
SUMMARY_LEVELS = (
    Detail(cases=50, texts=20, lines=40, rows=1000, parts=50, suites=1000, gates=200, errors=200, calls=200),
    *DETAIL_LEVELS,
)


def top_rows(rows: Iterable[RowView], limit: int) -> Iterator[RowView]:
    """The first `limit` rows of each suite, in the order given."""
    seen: Counter[str] = Counter()
    for row in rows:
        seen[row.row.suite] += 1
        if seen[row.row.suite] <= limit:
            yield row


_RUN = re.compile(r"(?:<!-- scoregate(?:-\w+)?:v1 [^\n]{0,400} run=)?(\d{1,18})\.(\d{1,6})(?: -->|$)")


def marker_prefix(key: str, name: str = "scoregate") -> str:
    """The beginning of every comment of this name with this key."""
    return f"<!-- {name}:v1 key={_quote(key)} "


def marker(context: ReportContext, name: str = "scoregate") -> str:
    """The first line of a comment."""
    return f"{marker_prefix(context.key, name)}sha={_quote(context.commit or '')} run={_quote(context.run)} -->"


def parse_run(text: str) -> tuple[int, int]:
    """Parse the run and its attempt from a marker or from a context's `run`; an unknown one is (0, 0)."""
    match = _RUN.match(text)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def _quote(text: str) -> str:
    """Text as one word that can't end an HTML comment."""
    return quote(text.encode("utf-8", "replace"), safe="/").replace("--", "%2D%2D") or "none"


_ZWSP = "\u200b"
_ACTIVE = {ord(char): f"&#{ord(char)};" for char in "\\`*[]|~!"}
_ACTIVE |= {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;"}
# GitHub looks for `$…$` in the rendered HTML, where an entity is a dollar again. A formula never crosses the edge of
# an element: GitHub's manual recommends this for a plain dollar next to formulas.
_ACTIVE |= {ord("$"): "<span>$</span>"}
_EMPHASIS = re.compile(r"(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_ADDRESS = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)
_MAIL = re.compile(r"@(?=[^\s@]*\.)")
_REFERENCE = re.compile(r"@|(?<!&)#(?=\w)|\bGH(?=-\d)", re.IGNORECASE)
_TICKS = re.compile(r"`+")


def escape_markdown(text: str) -> str:
    """Escape all characters that could start Markdown, HTML, a link or a formula.

    The text must be on one line. The result is valid in a paragraph, a table cell or an HTML element.
    """
    text = _EMPHASIS.sub("&#95;", text.translate(_ACTIVE))
    text = _MAIL.sub(f"@{_ZWSP}", text)
    return _ADDRESS.sub(lambda match: f"&#{ord(match[0])};", text)


def code(text: str, limit: int = 120) -> Markup:
    """Format a name as code, on one line with at most `limit` characters.

    Markdown works within `<code>`, so escaping HTML alone is not enough; mentions and references don't.
    """
    return Markup(f"<code>{escape_markdown(display_name(text, limit))}</code>")


def prose(text: str, limit: int = 400) -> Markup:
    """Format a sentence with untrusted names, on one line, without links for `#1` or `@name`."""
    return Markup(_REFERENCE.sub(rf"\g<0>{_ZWSP}", escape_markdown(one_line(text, limit))))


def fence(lines: Iterable[str], info: str = "") -> Markup:
    """Format a fenced block that its content can't end. It needs empty lines around it."""
    body = "\n".join(lines).replace("<!--", f"<!{_ZWSP}--")
    ticks = "`" * max(3, 1 + max((len(run) for run in _TICKS.findall(body)), default=0))
    return Markup(f"{ticks}{info}\n{body}\n{ticks}")


def first_lines(lines: Sequence[str], limit: int) -> list[str]:
    """The first lines, and how many there are more."""
    hidden = len(lines) - limit
    return [*lines[:limit], *([f"… {hidden:,} more {'line' if hidden == 1 else 'lines'}"] if hidden > 0 else [])]


def link(text: Markup, url: str | None) -> Markup:
    """Format a link if the URL is safe; else the text alone."""
    if url is None or not url.startswith("https://"):
        return text
    return Markup(f'<a href="{escape(url)}">{text}</a>')


BUDGET = 60_000
_TEMPLATES = Path(__file__).with_name("templates")
_ROWS = 400
_ICONS = {
    Conclusion.PASSED: "✅",
    ReportState.FAILED: "❌",
    ReportState.WORSE: "🔻",
    ReportState.UNMEASURABLE: "⚠️",
    ReportState.UNCERTAIN: "🟡",
    ReportState.ACCEPTED: "🔸",
    ReportState.EXPLAINED: "🌊",
    ReportState.NOT_COMPARABLE: "⚠️",
    ReportState.REMOVED: "➖",
    ReportState.NEW: "🆕",
    ReportState.BETTER: "✅",
    ReportState.HELD: "✅",
}  # a Conclusion and a ReportState with the same value are equal


def render(view: ReportView, *, budget: int = BUDGET) -> Iterator[str]:
    """Yield the comment: the first level of detail with at most `budget` characters and UTF-8 bytes.

    The last level is used in any case: title, totals and three gates.
    """
    yield _render_within(view, DETAIL_LEVELS, budget)


def render_summary(view: ReportView, *, budget: int) -> Iterator[str]:
    """Yield the summary of the job: the comment with more detail, in at most `budget` bytes."""
    yield _render_within(view, SUMMARY_LEVELS, budget)


def _render_within(view: ReportView, levels: Sequence[Detail], budget: int) -> str:
    last_with_rows = max((detail for detail in levels if detail.rows), key=levels.index)
    for detail in levels:
        text = _render(view, detail)
        if len(text.encode()) <= budget:
            break
        if detail is last_with_rows and (shorter := _render_most_rows(view, detail, budget)) is not None:
            return shorter
    return text


def _render_most_rows(view: ReportView, detail: Detail, budget: int) -> str | None:
    """The text with as many rows as fit; None if not even one does."""
    fitting, too_many, best = 0, min(_ROWS, len(view.rows)), None
    while too_many - fitting > 1:
        middle = (fitting + too_many) // 2
        text = _render(view, detail, most_rows=middle)
        if len(text.encode()) <= budget:
            fitting, best = middle, text
        else:
            too_many = middle
    return best


def _render(view: ReportView, detail: Detail, *, most_rows: int = _ROWS) -> str:
    rows = tuple(islice(top_rows(view.rows, detail.rows), most_rows))
    text = (
        load_environment()
        .get_template("comment.md.j2")
        .render(
            view=view,
            detail=detail,
            rows=rows,
            totals=view.totals,
            intervals=any(row.low for row in rows),
            any_measure_changed=any(suite.spending.changed for suite in view.ordered_suites[: detail.suites]),
            marker=Markup(marker(view.context)),
        )
    )
    return text.strip() + "\n"


@cache
def load_environment() -> Environment:
    """Load the environment of the templates; it escapes every plain string."""
    created = make_environment(_TEMPLATES, _finalize)
    created.filters |= {"code": code, "fence": fence, "link": link, "icon": _ICONS.__getitem__}
    created.filters["first_lines"] = first_lines
    return created


def _finalize(value: object) -> Markup | int:
    if isinstance(value, Markup | int):
        return value
    if isinstance(value, str):
        return prose(value)
    raise TypeError(f"cannot print a {type(value).__name__} in a comment")
