"""The setting `gates`: which limits a set gives, and that a limit which is set by itself keeps its value."""

from __future__ import annotations

from pathlib import Path

import pytest

from scoregate.errors import SettingsError
from scoregate.kernel.judge.settings import Settings, load_settings
from scoregate.kernel.judge.settings.sources import make_file_layer

USUAL = {"fail_on_regression": True, "fail_on_critical": True}
STRICT = {**USUAL, "max_error_rate": 0.0, "max_lost_scores": 0.0, "fail_on_broken_cases": "all"}


def load(folder: Path, text: str = "", *, base: str | None = None, **environ: str) -> Settings:
    (folder / "scoregate.toml").write_text(text)
    layer = None if base is None else make_file_layer(base.encode(), None, where="base")
    return load_settings(folder, environ, base=layer)


def list_limits(settings: Settings) -> dict[str, object]:
    return {name: getattr(settings, name) for name in STRICT}


def test_a_set_gives_its_limits_and_no_others(tmp_path: Path) -> None:
    without = load(tmp_path)
    assert list_limits(load(tmp_path, 'gates = "usual"')) == {**list_limits(without), **USUAL}
    strict = load(tmp_path, 'gates = "strict"')
    assert list_limits(strict) == STRICT
    changed = {name for name in Settings.model_fields if getattr(strict, name) != getattr(without, name)}
    assert changed == {*STRICT, "gates", "origins", "file_values"}


def test_a_limit_that_is_set_wins_over_the_set_whatever_sets_it(tmp_path: Path) -> None:
    text = 'gates = "strict"\nmax_error_rate = 0.1\n[suites."a"]\nfail_on_regression = false\n'
    assert load(tmp_path, text).policy().default.is_from_set("max_error_rate") is False
    settings = load(tmp_path, text, SCOREGATE_FAIL_ON_CRITICAL="false")
    assert list_limits(settings) == {**STRICT, "max_error_rate": 0.1, "fail_on_critical": False}
    policy = settings.policy()
    assert (policy.default.fail_on_regression, policy.suites["a"].fail_on_regression) == (True, False)


def test_a_limit_of_a_set_was_set_where_the_set_is_named(tmp_path: Path) -> None:
    settings = load(tmp_path, 'gates = "strict"')
    assert settings.origin("max_lost_scores") == "scoregate.toml (gates)"
    assert settings.policy().default.is_from_set("max_lost_scores")
    assert settings.is_from_file("max_lost_scores")
    settings = load(tmp_path, 'gates = "strict"', SCOREGATE_GATES="usual")
    assert settings.origin("fail_on_critical") == "SCOREGATE_GATES (gates)"
    assert list_limits(settings)["max_lost_scores"] is None
    assert settings.is_for_run("fail_on_critical")


def test_a_change_cant_leave_the_set_of_the_base(tmp_path: Path) -> None:
    settings = load(tmp_path, "", base='gates = "strict"')
    assert list_limits(settings) == STRICT
    assert settings.origin("max_lost_scores") == "scoregate.toml of the base (gates)"
    assert (settings.is_from_file("max_lost_scores"), settings.is_from_change("max_lost_scores")) == (True, False)
    assert load(tmp_path, 'gates = "strict"').is_from_change("max_lost_scores")
    assert list_limits(load(tmp_path, 'gates = "strict"', base="")) == list_limits(load(tmp_path))


def test_a_file_cant_weaken_the_set_of_the_workflow(tmp_path: Path) -> None:
    settings = load(tmp_path, "fail_on_regression = false\nmax_error_rate = 0.5\n", SCOREGATE_GATES="strict")
    assert list_limits(settings) == STRICT
    settings = load(tmp_path, 'gates = "usual"\nfail_on_critical = false\n', SCOREGATE_GATES="strict")
    assert list_limits(settings) == STRICT


def test_a_table_of_gates_is_explained(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="there is no table 'gates'; min_score is a setting of the top level"):
        load(tmp_path, "[gates]\nmin_score = 0.9")


def test_a_set_is_of_the_whole_project(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"suites\.a\.gates: gates is a setting of the whole project"):
        load(tmp_path, '[suites.a]\ngates = "strict"')


@pytest.mark.parametrize("value", ['"usal"', '["usual"]', "{ usual = true }", "3"])
def test_another_set_is_an_error_with_its_place(tmp_path: Path, value: str) -> None:
    with pytest.raises(SettingsError, match=r"scoregate.toml:1: gates(\.usual)? = .*: must be 'usual' or 'strict'"):
        load(tmp_path, f"gates = {value}")
