"""Exemptions in the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from scoregate.features.exemptions.view import ExemptionView, QuarantinedView
from scoregate.kernel.report.console_text import format_place, hanging_indent, mark, safe_text
from scoregate.kernel.types.runs import number_format

_MOST = 20


def list_entries(exemptions: Sequence[ExemptionView], *, full: bool) -> Iterator[RenderableType]:
    """A line for each entry that needs attention."""
    most = len(exemptions) if full else _MOST
    for each in exemptions[:most]:
        where = format_place(each.suite, each.evaluator)
        case = f" · {safe_text(each.case, 120)}" if each.case is not None else ""
        text = Text().append(each.title, "bold").append(f": {where}{case}: {safe_text(each.text)}")
        yield hanging_indent(mark(each.sign), text.append(f" ({safe_text(each.place)})", "dim"))
    if (hidden := len(exemptions) - most) > 0:
        yield Text(f"… {number_format.count(hidden, 'more exemption')}", style="dim")


def list_quarantine(
    cases: Sequence[QuarantinedView], effect: str, *, full: bool, has_base: bool
) -> Iterator[RenderableType]:
    """A line for each case in quarantine."""
    if not cases:
        return
    most = len(cases) if full else _MOST
    yield Text(f"{number_format.count(len(cases), 'case')} in quarantine, {effect}:", style="bold")
    for flaky in cases[:most]:
        change = f"{flaky.base_status} → {flaky.status}" if has_base else flaky.status
        stable = f" ({flaky.stability})" if flaky.stable else ""
        terms = f"until {flaky.until}, owner {safe_text(flaky.owner, 120)}: {safe_text(flaky.reason)}"
        line = Text(f"{format_place(flaky.suite, None)} · {safe_text(flaky.name)}: {change}{stable}  ")
        yield hanging_indent(mark(flaky.sign), line.append(terms, "dim"))
    if (hidden := len(cases) - most) > 0:
        yield Text(f"… {number_format.count(hidden, 'more case')}", style="dim")
