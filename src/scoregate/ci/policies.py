"""Whose limits a run is judged by, and how they differ from those of its base."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from glob import escape
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from scoregate.ci.plan import Source
from scoregate.ci.settings import Settings, SuiteSettings, load_settings
from scoregate.ci.settings.layers import OF_THE_BASE
from scoregate.ci.settings.ownership import ignored_changes
from scoregate.core.policy import Limits, Policy, differences
from scoregate.core.record import Run
from scoregate.errors import SettingsError

_NOT_APPLIED = " (not applied: policy_from = base)"
_NO_POLICY = "the base's run carries no policy"
_NO_BASE = "there is no base run, whose policy it would be"


@dataclass(frozen=True, slots=True)
class ChosenPolicy:
    """The policy that judges a run.

    Args:
        changes: what the present settings change about the base's, in words.
        problem: why the base's policy, which was to judge, could not be had; empty where it could.
    """

    policy: Policy
    changes: Sequence[str] = ()
    problem: str = ""


def with_gates(settings: Settings, sources: Iterable[Source]) -> Settings:
    """The settings with what the files of suites set for these; where both say something, the settings stand.

    Where the base's settings judge, that is proposed and no more.
    """
    if settings.proposed is not None:
        return settings.model_copy(update={"proposed": with_gates(settings.proposed, sources)})
    suites, origins = dict(settings.suites), dict(settings.origins)
    for source in sources:
        if source.gates is not None and source.suite_ids:
            name = escape(source.suite_ids[0])
            own = suites[name].model_dump(exclude_unset=True) if name in suites else {}
            theirs = source.gates.table.model_dump(exclude_unset=True)
            suites[name] = SuiteSettings.model_validate(_over(theirs, own))
            origins = {("suites", name, *keys): place for keys, place in source.gates.places.items()} | origins
    return settings.model_copy(update={"suites": suites, "origins": origins})


def _over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Both, the values of `above` in the place of those of `below`, in tables too."""
    both = {name: {**below[name], **value} if isinstance(value, Mapping) else value for name, value in above.items()
            if name in below}  # fmt: skip
    return {**below, **above, **both}


def chosen_policy(settings: Settings, base: Run | None) -> ChosenPolicy:
    """The policy that judges: the settings', unless these or the base's run say that the base's does.

    A change cannot take that back for itself. Where the settings are the base's already, they judge; else the policy
    of the base's run does.
    """
    ours, theirs = settings.policy(), stored_policy(base)
    if settings.proposed is not None:
        changes = (*differences(ours, settings.proposed.policy()),
                   *ignored_changes(settings, settings.proposed))  # fmt: skip
        return ChosenPolicy(ours, tuple(f"{change}{_NOT_APPLIED}" for change in changes))
    if settings.policy_problem:
        return ChosenPolicy(ours, problem=settings.policy_problem)
    if theirs is None:
        return ChosenPolicy(ours, problem=(_NO_BASE if base is None else _NO_POLICY) if ours.of_base else "")
    told = tuple(differences(theirs, ours))
    if ours.of_base or theirs.of_base:
        return ChosenPolicy(_named(theirs), tuple(f"{change}{_NOT_APPLIED}" for change in told))
    return ChosenPolicy(ours, told)


def _named(policy: Policy) -> Policy:
    """The base's policy, its limits said to be set there."""
    suites = {glob: _there(limits) for glob, limits in policy.suites.items()}
    return replace(policy, default=_there(policy.default), suites=suites, of_base=True)


def _there(limits: Limits) -> Limits:
    return replace(limits, origin={name: f"{place}{OF_THE_BASE}" for name, place in limits.origin.items()})


def stored_policy(run: Run | None) -> Policy | None:
    """The policy that a run was judged by; None where it has none that can be read."""
    if run is None or not run.policy:
        return None
    try:
        return TypeAdapter(Policy).validate_python(run.policy)
    except ValidationError:
        return None


def with_policy_of(
    run: Run, tree: Path, settings: Settings, environ: Mapping[str, str], *, sources: Iterable[Source]
) -> Run:
    """The run with the settings in another tree, where it was made, and their policy under the same flags.

    With none where they cannot be read.

    Args:
        sources: what that tree has.
    """
    try:
        there = load_settings(tree, environ, flags=_flags(settings))
    except SettingsError:
        return replace(run, policy={}, settings=None)
    return replace(run, policy=asdict(with_gates(there, sources).policy()), settings=dict(there.file_values))


def _flags(settings: Settings) -> dict[str, Any]:
    """What the command line set, of tables only its own entries."""
    flags: dict[str, Any] = {}
    for (name, *keys), place in settings.origins.items():
        value = getattr(settings, name)
        if place.startswith("--"):
            flags[name] = {**flags.get(name, {}), keys[0]: value[keys[0]]} if keys else value
    return flags
