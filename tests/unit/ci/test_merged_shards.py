"""Sums over the merged shards of a run."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from scoregate.ci import merge_shards
from scoregate.core.evaluation import Usage
from scoregate.core.run import Script


def test_calls_of_any_suite_are_summed_over_shards() -> None:
    """Each shard runs a part of a script whose calls can lack a suite."""
    usages = (Usage(1, cost=0.25), None, Usage(2, cost=0.5, calls=3))
    runs = [
        SimpleNamespace(suites=(), scripts=(Script("a.sh", exit_code=0, duration_s=1, usage=each),), stopped="")
        for each in usages
    ]
    shards: Any = [SimpleNamespace(run=run) for run in runs]
    (script,) = merge_shards._merge_scripts(shards)
    assert script.usage is not None
    assert (script.duration_s, script.usage.input_tokens, script.usage.cost, script.usage.calls) == (3, 3, 0.75, 4)
