"""Coverage in the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from scoregate.features.coverage.view import CoverageView
from scoregate.kernel.report.console_text import hanging_indent, more_line, safe_text

_UNUSED, _ALL_UNUSED = 5, 200


def list_coverage(coverage: CoverageView, *, full: bool, rest: str) -> Iterator[RenderableType]:
    """What the cases use of tools and prompts in one line, and the first that no case uses; `full`: all of these."""
    yield Text("tools and prompts that cases use: ", style="bold").append(coverage.summary, "not bold")
    most = _ALL_UNUSED if full else _UNUSED
    for item in coverage.unused[:most]:
        title = " · ".join(filter(None, (item.name, item.detail)))
        place = Text(f"  {safe_text(item.place)}", style="dim") if item.kind != "prompt" else Text()
        yield hanging_indent(
            Text("unused:", style="yellow"), Text(f"{item.kind} {safe_text(title)}").append_text(place)
        )
    yield from more_line(len(coverage.unused) - most, "unused item", rest)
    if coverage.doubt:
        yield Text(f"more may be used: {coverage.doubt}", style="dim")
    if coverage.unlisted:
        yield Text(f"called and not listed: {safe_text(coverage.unlisted_names)}", style="dim")
    yield Text()
