"""When earlier attempts may count."""

from __future__ import annotations

from scoregate.kernel.types.declarations.declaration import Feature, RunFacts
from scoregate.kernel.types.runs.evidence import TrialRole

_LAST_RUN = ("run", "run.json")


def _is_on(facts: RunFacts) -> bool:
    if any(run.companions_of(role) for run in facts.runs for role in (TrialRole.MAIN, TrialRole.PUSH)):
        return True
    if facts.in_job:
        is_again = facts.environ.get("GITHUB_RUN_ATTEMPT", "1") != "1"
        return is_again or facts.environ.get("GITHUB_EVENT_NAME", "").startswith("pull_request")
    # Without a setting, the last run is the baseline on a developer's machine, and not an attempt.
    names_base = facts.settings.origin("baseline") != "default"
    return names_base and facts.root is not None and (facts.root / facts.settings.out).joinpath(*_LAST_RUN).is_file()


FEATURE = Feature("attempts", is_on=_is_on)
