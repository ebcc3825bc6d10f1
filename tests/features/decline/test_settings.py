"""The settings of `max_decline`: where they can be set, what is refused, and how a run stores them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.kernel.builders import ExampleSuite, run_of, scored

from scoregate.errors import SettingsError
from scoregate.features.decline.declare import DECLINE_WINDOW, MAX_DECLINE, Window, parse_window
from scoregate.kernel.judge.policy import choose_policy, read_stored_policy
from scoregate.kernel.judge.settings import Settings, load_settings
from scoregate.kernel.run.partial_run import with_one_run_limits
from scoregate.kernel.types.runs.policy import list_one_run_limits
from scoregate.kernel.types.runs.run import Run

SUITES = '[suites."a*"]\nmax_decline = { fluency = 0.2 }\n'


def load(folder: Path, text: str = "", **environ: str) -> Settings:
    (folder / "scoregate.toml").write_text(text)
    return load_settings(folder, environ)


def store(settings: Settings, **other: object) -> Run:
    record = settings.policy().to_record()
    policy = json.loads(json.dumps({**record, "default": {**record["default"], **other}}))
    return replace(run_of(ExampleSuite(scored(1.0))), policy=policy)


def test_a_limit_is_set_for_all_suites_or_for_some(tmp_path: Path) -> None:
    policy = load(tmp_path, f"max_decline = 0.1\n{SUITES}").policy()
    assert MAX_DECLINE.of(policy.default) == {"*": 0.1}
    assert policy.default.find_origin("max_decline.*", "max_decline") == "scoregate.toml"
    (suite,) = run_of(ExampleSuite(scored(1.0), id="abc")).suites
    assert MAX_DECLINE.of(policy.limits_of(suite)) == {"*": 0.1, "fluency": 0.2}
    assert (MAX_DECLINE.is_set_for_any(policy), MAX_DECLINE.is_set_for_any(Settings().policy())) == (True, False)


def test_a_variable_wins_over_the_file(tmp_path: Path) -> None:
    variables = {"SCOREGATE_MAX_DECLINE": "fluency=0.2", "SCOREGATE_DECLINE_WINDOW": "3 days"}
    settings = load(tmp_path, 'max_decline = { "*" = 0.1 }\n', **variables)
    assert MAX_DECLINE.of(settings.policy().default) == {"*": 0.1, "fluency": 0.2}
    assert DECLINE_WINDOW.of(settings) == "3 days"
    assert settings.origin("decline_window") == "SCOREGATE_DECLINE_WINDOW"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("max_decline = 2\n", "scoregate.toml:1 [max_decline]: max_decline = 2: must be at most 1"),
        ("max_declin = 0.1\n", "did you mean 'max_decline'?"),
        ('decline_window = "x"\n', "scoregate.toml:1: decline_window = 'x': 'x' must be a number of runs or days"),
        ('[severity]\ndeclin = "off"\n', "did you mean 'decline'?"),
    ],
)
def test_a_wrong_value_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load(tmp_path, text)
    assert problem in caught.value.message


def test_a_window_is_a_number_of_runs_or_days() -> None:
    assert (parse_window("10 runs"), parse_window("1 day")) == (Window(10, "run"), Window(1, "day"))
    assert (str(Window(1, "run")), str(Window(30, "day"))) == ("1 run", "30 days")


def test_a_stored_policy_is_the_policy(tmp_path: Path) -> None:
    settings = load(tmp_path, f"max_decline = 0.1\n{SUITES}")
    run = store(settings, of_a_newer_version=0.5)
    assert read_stored_policy(run) == settings.policy()
    assert run.policy["default"]["max_decline"] == {"*": 0.1}
    assert list(Settings().policy().to_record()["default"])[6:9] == [
        "max_slice_drop",
        "max_decline",
        "fail_on_regression",
    ]
    changes = choose_policy(load(tmp_path, "max_decline = 0.3\n"), run).changes
    assert changes == ("max_decline.* for all suites: 0.1 → 0.3", "max_decline.fluency for suites 'a*': 0.2 → not set")


def test_a_limit_of_one_run_is_kept_for_judging_it_again(tmp_path: Path) -> None:
    run = store(load(tmp_path, SCOREGATE_MAX_DECLINE="0.1"))
    assert [each.name for each in list_one_run_limits(run.policy)] == ["max_decline"]
    again = with_one_run_limits(Settings(), run.policy)
    assert MAX_DECLINE.of(again.policy().default) == {"*": 0.1}
