"""Whose limits a run is judged by, and how they differ from those of its base."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import TypeAdapter, ValidationError

from scoregate.ci.settings import PolicySource, Settings
from scoregate.core.policy import Policy, differences
from scoregate.core.record import Run


def chosen_policy(settings: Settings, base: Run | None) -> tuple[Policy, Sequence[str]]:
    """The policy that judges, and what the present settings change about the base's, in words.

    A base that carries no policy that can be read leaves the present one.
    """
    ours, theirs = settings.policy(), stored_policy(base)
    if theirs is None:
        return ours, ()
    changes = tuple(differences(theirs, ours))
    if settings.policy_from is PolicySource.BASE:
        return theirs, tuple(f"{change} (not applied: policy_from = base)" for change in changes)
    return ours, changes


def stored_policy(run: Run | None) -> Policy | None:
    """The policy that a run was judged by; None where it has none that can be read."""
    if run is None or not run.policy:
        return None
    try:
        return TypeAdapter(Policy).validate_python(run.policy)
    except ValidationError:
        return None
