"""What turns arms on: suites that run with and without a skill, or results of such suites."""

from __future__ import annotations

from scoregate.kernel.types.declarations.declaration import Feature, RunFacts


def _is_on(facts: RunFacts) -> bool:
    has_results = any(suite.role == "without" for run in facts.runs for suite in run.suites)
    return has_results or any(each.arm is not None for each in facts.sources)


FEATURE = Feature("arms", is_on=_is_on)
