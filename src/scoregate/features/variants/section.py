"""The section of variants: matrix and ranking by each evaluator of a suite with several tasks or parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from scoregate.features.variants.keys import RANKINGS
from scoregate.features.variants.view import VariantTable, build_variant_tables, variant_data
from scoregate.kernel.judge.judgement import Judged
from scoregate.kernel.types.slots import Place, Section

if TYPE_CHECKING:
    from scoregate.kernel.report.view import ReportView


def build_sections(judged: Judged) -> Iterator[Section]:
    """The section of these rankings."""
    rankings = judged.comparison.slots.get(RANKINGS) or ()
    tables = tuple(build_variant_tables(rankings, judged.comparison.run.suites))
    yield Section(
        "variants",
        Place.RANKINGS,
        title="Variants",
        anchor="variants",
        content=tables,
        comment="features/variants/comment.md.j2" if tables else "",
        page="features/variants/page.html.j2" if tables else "",
        terminal=partial(_print_tables, tables) if tables else None,
        data={"variants": [variant_data(table) for table in tables]},
    )


def _print_tables(tables: Sequence[VariantTable], _: ReportView, full: bool, rest: str) -> Iterator[Any]:
    from rich.text import Text

    from scoregate.features.variants.terminal import render_variants

    yield from (*render_variants(tables, full=full, rest=rest), Text())
