"""Whose limits a run is judged by, and how they differ from those of its base."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from glob import escape
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from scoregate.ci.plan import Source
from scoregate.ci.settings import Settings, SuiteSettings, load_settings
from scoregate.core.policy import Limits, Policy, differences
from scoregate.core.record import Run
from scoregate.errors import SettingsError

_UNKNOWN = "unknown, since the base carries no policy; judged by the present one"


def with_gates(settings: Settings, sources: Iterable[Source]) -> Settings:
    """The settings with what the files of suites set for these; where both say something, the settings stand."""
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


def chosen_policy(settings: Settings, base: Run | None) -> tuple[Policy, Sequence[str]]:
    """The policy that judges, and what the present settings change about the base's, in words.

    The base's judges where either of them says so: a change cannot take that back for itself. A base that carries no
    policy that can be read leaves the present one.
    """
    ours, theirs = settings.policy(), stored_policy(base)
    if theirs is None:
        return ours, (_UNKNOWN,) if base is not None and ours.of_base else ()
    changes = tuple(differences(theirs, ours))
    if ours.of_base or theirs.of_base:
        return _named(theirs), tuple(f"{change} (not applied: policy_from = base)" for change in changes)
    return ours, changes


def _named(policy: Policy) -> Policy:
    """The base's policy, its limits said to be set there."""
    suites = {glob: _there(limits) for glob, limits in policy.suites.items()}
    return replace(policy, default=_there(policy.default), suites=suites)


def _there(limits: Limits) -> Limits:
    return replace(limits, origin={name: f"{place} of the base" for name, place in limits.origin.items()})


def stored_policy(run: Run | None) -> Policy | None:
    """The policy that a run was judged by; None where it has none that can be read."""
    if run is None or not run.policy:
        return None
    try:
        return TypeAdapter(Policy).validate_python(run.policy)
    except ValidationError:
        return None


def policy_at(
    tree: Path, settings: Settings, environ: Mapping[str, str], *, sources: Iterable[Source]
) -> Mapping[str, Any]:
    """The policy that the files in another tree set, under the same environment and flags, as a record keeps it.

    Empty where its settings cannot be read.

    Args:
        sources: what that tree has.
    """
    try:
        return asdict(with_gates(load_settings(tree, environ, flags=_flags(settings)), sources).policy())
    except SettingsError:
        return {}


def _flags(settings: Settings) -> dict[str, Any]:
    """What the command line set, of tables only its own entries."""
    flags: dict[str, Any] = {}
    for (name, *keys), place in settings.origins.items():
        value = getattr(settings, name)
        if place.startswith("--"):
            flags[name] = {**flags.get(name, {}), keys[0]: value[keys[0]]} if keys else value
    return flags
