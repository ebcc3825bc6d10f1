"""Choose the policy that judges a run, and describe how it differs from the base's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.judge.settings.limit_fields import LIMITS, LimitFields
from scoregate.kernel.judge.settings.ownership import ignored_changes
from scoregate.kernel.judge.settings.sources import OF_BASE
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.policy import Limits, Policy, gather_limits, policy_differences
from scoregate.kernel.types.runs.run import Run

_NOT_APPLIED = " (not applied: policy_from = base)"
_NO_POLICY = "the baseline has no policy"
_OTHER_SCORES = "`scale`, `threshold` or `ignore` in [evaluators] differ from the baseline's, and scores depend on them"
_OTHER_CLUSTERS = "`cluster` differs from the baseline's, and clusters are found when a run is recorded"
_NO_BASE = "there is no baseline with a policy"


@record
class ChosenPolicy:
    """The policy that judges a run.

    Args:
        policy: the limits.
        changes: how the present settings differ from the base's, as text.
        problem: why the base's policy is missing although it has to judge; else empty.
    """

    policy: Policy
    changes: Sequence[str] = ()
    problem: str = ""


def choose_policy(settings: Settings, base: Run | None) -> ChosenPolicy:
    """Choose the policy of the settings, or that of the base if `policy_from` is `base` in either one.

    So a pull request can't switch it off. If the settings are already those of the base, they apply; otherwise the
    policy of the base run does.
    """
    own, stored = settings.policy(), read_stored_policy(base)
    if settings.proposed is not None:
        changes = (*policy_differences(own, settings.proposed.policy()), *ignored_changes(settings, settings.proposed))
        return ChosenPolicy(own, tuple(f"{change}{_NOT_APPLIED}" for change in changes))
    if settings.policy_problem:
        return ChosenPolicy(own, problem=settings.policy_problem)
    if stored is None:
        return ChosenPolicy(own, problem=(_NO_BASE if base is None else _NO_POLICY) if own.of_base else "")
    changed = tuple(policy_differences(stored, own))
    if own.of_base or stored.of_base:
        if problem := _find_recorded_change(stored, own):
            return ChosenPolicy(own, problem=problem)
        suites = {glob: _mark_origins(limits) for glob, limits in stored.suites.items()}
        policy = replace(stored, default=_mark_origins(stored.default), suites=suites, of_base=True)
        return ChosenPolicy(policy, tuple(f"{change}{_NOT_APPLIED}" for change in changed))
    return ChosenPolicy(own, changed)


def _find_recorded_change(stored: Policy, own: Policy) -> str:
    """Which settings that a run is recorded with differ from the base's; empty if none do."""
    if stored.criteria.score_settings != own.criteria.score_settings:
        return _OTHER_SCORES
    return _OTHER_CLUSTERS if stored.cluster_settings != own.cluster_settings else ""


def _mark_origins(limits: Limits) -> Limits:
    return replace(limits, origin={name: f"{place}{OF_BASE}" for name, place in limits.origin.items()})


def read_stored_policy(run: Run | None) -> Policy | None:
    """The policy that a run was judged by; None if it has none that can be read."""
    if run is None or not run.policy:
        return None
    try:
        # Thresholds of events are strict, also about being objects; here they are data.
        policy = _adapter().validate_python(_gather_tables(run.policy), strict=False)
    except ValidationError:
        return None
    values = ((name, value) for limits in policy.all_limits for name, value in limits.more.items())
    return policy if all(_is_possible(name, value) for name, value in values) else None


def _is_possible(name: str, value: object) -> bool:
    """Whether a limit of a feature may have this value, if that is a text."""
    choices = next((each.kind.choices for each in LIMITS if each.name == name), None)
    return not isinstance(value, str) or (choices is not None and value in {*choices})


def _gather_tables(policy: Mapping[str, Any]) -> dict[str, Any]:
    """A stored policy as the arguments of `Policy`, without limits that this version doesn't know."""
    suites = policy.get("suites", {})
    tables = {glob: _gather_table(table) for glob, table in suites.items()} if isinstance(suites, Mapping) else suites
    return {**policy, "default": _gather_table(policy.get("default", {})), "suites": tables}


def _gather_table(table: Any) -> Any:
    known = {*LimitFields.model_fields, "origin"}
    return gather_limits({k: v for k, v in table.items() if k in known}) if isinstance(table, Mapping) else table


@cache
def _adapter() -> TypeAdapter[Policy]:
    return TypeAdapter(Policy)
