"""What reports say about coverage: what no case uses of the listed tools and prompts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from scoregate.features.coverage.view import CoverageView, FoundCoverage
from scoregate.kernel.types.slots import Place, Section

if TYPE_CHECKING:
    from scoregate.kernel.report.view import ReportView


def build_sections(found: FoundCoverage | None) -> Iterator[Section]:
    """The sections of what was found; None if the settings list no tools and prompts."""
    view, problems = found or (None, ())
    yield Section(
        "coverage",
        Place.COSTS,
        title="Tools",
        anchor="coverage",
        content=view,
        comment="features/coverage/comment.md.j2" if view is not None and view.unused else "",
        page="" if view is None else "features/coverage/page.html.j2",
        terminal=None if view is None else partial(_print_coverage, view),
        data={"coverage": None if view is None else _to_data(view)},
    )
    yield Section("coverage", Place.END, sentences=tuple(problems))


def _to_data(view: CoverageView) -> dict[str, Any]:
    return {
        "counts": {noun: asdict(each) for noun, each in view.counts.items()},
        "unused": [asdict(each) for each in view.unused],
        "unlisted": dict(view.unlisted),
        "doubt": view.doubt,
    }


def _print_coverage(coverage: CoverageView, _: ReportView, full: bool, rest: str) -> Iterable[Any]:
    from scoregate.features.coverage.terminal import list_coverage

    return list_coverage(coverage, full=full, rest=rest)
