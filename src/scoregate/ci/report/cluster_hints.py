"""Notices about clusters that are likely and not declared."""

from __future__ import annotations

import json
from collections.abc import Iterator
from glob import escape

from scoregate.core.comparison.cluster_hints import find_cluster_hints
from scoregate.core.comparison.comparison import Comparison
from scoregate.core.runs.clusters import PART


def describe_cluster_hints(comparison: Comparison) -> Iterator[str]:
    """A sentence for each suite with likely clusters, and the setting that declares them."""
    for hint in find_cluster_hints(comparison):
        suite, test = comparison.run.suites[hint.suite], hint.test
        alike = f"names like {hint.setting}" if PART in hint.setting else f"the same {hint.setting}"
        found = f"{test.n:,} cases in {test.groups:,} clusters, correlation {test.correlation:.2f}"
        table, value = json.dumps(escape(suite.id)), json.dumps(hint.setting)
        yield (
            f"{suite.label}: cases with {alike} change together ({found}), but count as independent."
            f" If they belong together, set `cluster = {value}` in [suites.{table}]."
        )
