"""When earlier attempts may count."""

from __future__ import annotations

from scoregate.kernel.types.declarations.declaration import Feature, RunFacts
from scoregate.kernel.types.runs.evidence import TrialRole

# The second workflow of a fork's pull request runs on `workflow_run`.
_OF_PULL_REQUESTS = ("pull_request", "workflow_run")


def _is_on(facts: RunFacts) -> bool:
    if any(run.companions_of(role) for run in facts.runs for role in (TrialRole.MAIN, TrialRole.PUSH)):
        return True
    if facts.merges_shards or facts.has_slot("attempts.pushes", "attempts.shards"):
        return True
    if facts.in_job:
        is_again = facts.environ.get("GITHUB_RUN_ATTEMPT", "1") != "1"
        return is_again or facts.environ.get("GITHUB_EVENT_NAME", "").startswith(_OF_PULL_REQUESTS)
    return facts.has_slot("resume.request")


FEATURE = Feature("attempts", is_on=_is_on)
