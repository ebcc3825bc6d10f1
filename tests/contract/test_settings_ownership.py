"""Every setting has an owner: the base or the change decides its value."""

from __future__ import annotations

from scoregate.ci.settings.limit_fields import FEATURE_LIMITS, LimitFields
from scoregate.ci.settings.model import setting_names
from scoregate.ci.settings.ownership import BASE_SETTINGS, HEAD_SETTINGS, WORKFLOW_SETTINGS
from scoregate.core.declarations.kernel import LIMITS
from scoregate.core.gate import SUITE_CHECKS
from scoregate.features.steps import STEPS
from scoregate.features.table import FEATURES

OWNERS = (BASE_SETTINGS, HEAD_SETTINGS, WORKFLOW_SETTINGS)


def test_every_setting_has_one_owner() -> None:
    assert sorted(setting_names()) == sorted(name for names in OWNERS for name in names)


def test_changes_own_no_limit() -> None:
    assert set(LimitFields.model_fields) <= BASE_SETTINGS
    assert {"key", "suite", "paths", "config", "commands", "baseline", "max_cases", "severity"} <= BASE_SETTINGS


def test_every_limit_is_declared_and_checked() -> None:
    checked = [limit.name for check in SUITE_CHECKS for limit in check.limits]
    assert sorted(checked) == sorted(limit.name for limit in LIMITS)
    of_features = {
        (limit.name, rule.name) for feature in FEATURES for limit in feature.limits for rule in feature.rules
    }
    checks = [check for step in STEPS for check in step.checks]
    assert {(limit.name, rule.name) for each in checks for limit in each.limits for rule in each.rules} == of_features
    declared = {limit.name for limit in (*LIMITS, *FEATURE_LIMITS)}
    assert declared == LimitFields.model_fields.keys() - {"cluster", "severity"}
