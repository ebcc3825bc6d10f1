"""The trials of both runs in columns, suite by suite: what reports that draw or list every case start from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from scoregate.ci.report.context import Context
from scoregate.ci.report.links import source_url
from scoregate.core.columns import Columns
from scoregate.core.compare import Comparison
from scoregate.core.rows import Label, Row


@dataclass(frozen=True, slots=True)
class Sides:
    """One suite: its trials in the run, and in the base where that has it, being suite `base_index` there.

    `upwards` tells of each evaluator whether more is better, `apart` names those that cannot be compared. `url` is
    where the suite is defined.
    """

    label: str
    url: str | None
    now: Columns
    before: Columns | None = None
    base_index: int | None = None
    upwards: Mapping[str, bool] = field(default_factory=dict)
    apart: frozenset[str] = frozenset()


def sides(comparison: Comparison, context: Context) -> Iterator[Sides]:
    """Every suite of the run, in its order."""
    pairs, base = dict(comparison.pairs), comparison.base
    rows: defaultdict[str, list[Row]] = defaultdict(list)
    for row in comparison.rows:
        rows[row.suite].append(row)
    for at, suite in enumerate(comparison.run.suites):
        known, twin = rows[suite.label], pairs.get(at)
        yield Sides(
            label=suite.label,
            url=source_url(suite.origin, context),
            now=suite.columns,
            before=base.suites[twin].columns if base is not None and twin is not None else None,
            base_index=twin,
            upwards={row.evaluator: row.higher_is_better for row in known},
            apart=frozenset(row.evaluator for row in known if row.label is Label.NOT_COMPARABLE),
        )
