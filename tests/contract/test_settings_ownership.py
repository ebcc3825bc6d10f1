"""Every setting has an owner: the base or the change decides its value."""

from __future__ import annotations

from scoregate.ci.settings.limit_fields import LimitFields
from scoregate.ci.settings.model import setting_names
from scoregate.ci.settings.ownership import BASE_SETTINGS, HEAD_SETTINGS, WORKFLOW_SETTINGS

OWNERS = (BASE_SETTINGS, HEAD_SETTINGS, WORKFLOW_SETTINGS)


def test_every_setting_has_one_owner() -> None:
    assert sorted(setting_names()) == sorted(name for names in OWNERS for name in names)


def test_changes_own_no_limit() -> None:
    assert set(LimitFields.model_fields) <= BASE_SETTINGS
    assert {"key", "suite", "paths", "config", "commands", "baseline", "max_cases", "severity"} <= BASE_SETTINGS
