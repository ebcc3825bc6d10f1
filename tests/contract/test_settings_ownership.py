"""Every setting has an owner: the base or the change decides its value."""

from __future__ import annotations

from pathlib import Path

import pytest

from scoregate.errors import SettingsError
from scoregate.features.steps import load_all_steps
from scoregate.features.table import FEATURES
from scoregate.kernel.gate import SUITE_CHECKS
from scoregate.kernel.judge.settings import load_settings
from scoregate.kernel.judge.settings.limit_fields import FEATURE_LIMITS, LimitFields
from scoregate.kernel.judge.settings.model import setting_names
from scoregate.kernel.judge.settings.ownership import BASE_SETTINGS, HEAD_SETTINGS, WORKFLOW_SETTINGS
from scoregate.kernel.types.declarations.kernel import LIMITS


def test_every_setting_has_one_owner() -> None:
    assert not HEAD_SETTINGS & WORKFLOW_SETTINGS
    assert sorted(setting_names()) == sorted((*BASE_SETTINGS, *HEAD_SETTINGS, *WORKFLOW_SETTINGS))


def test_changes_own_no_limit() -> None:
    assert set(LimitFields.model_fields) <= BASE_SETTINGS
    assert {"key", "suite", "paths", "config", "commands", "baseline", "max_cases", "severity"} <= BASE_SETTINGS


def test_a_setting_is_the_base_s_unless_it_can_weaken_no_gate() -> None:
    assert {"approved", "executor", "github_token", "scheduler", "working_directory"} == WORKFLOW_SETTINGS
    environment = {"install", "install_groups", "max_suites", "python", "python_version", "retries", "timeout"}
    assert {*environment, "keep_runs", "message", "out"} == HEAD_SETTINGS


@pytest.mark.parametrize("name", sorted(WORKFLOW_SETTINGS))
def test_no_file_sets_what_the_workflow_owns(name: str, tmp_path: Path) -> None:
    (tmp_path / "scoregate.toml").write_text(f'{name} = "x"\n')
    with pytest.raises(SettingsError, match=name):
        load_settings(tmp_path, {})


def test_every_limit_is_declared_and_checked() -> None:
    checked = [limit.name for check in SUITE_CHECKS for limit in check.limits]
    assert sorted(checked) == sorted(limit.name for limit in LIMITS)
    of_features = {
        (limit.name, rule.name) for feature in FEATURES for limit in feature.limits for rule in feature.rules
    }
    checks = [check for step in load_all_steps() for check in step.checks]
    assert {(limit.name, rule.name) for each in checks for limit in each.limits for rule in each.rules} == of_features
    declared = {limit.name for limit in (*LIMITS, *FEATURE_LIMITS)}
    assert declared == LimitFields.model_fields.keys() - {"cluster", "severity"}
