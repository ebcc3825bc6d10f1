"""Settings: precedence of layers, origin of values, and messages about errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoregate.errors import SettingsError
from scoregate.kernel.judge.policy import choose_policy, read_stored_policy
from scoregate.kernel.judge.settings import BaselineKind, Settings, load_settings
from scoregate.kernel.run.recording import read_conditions
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd


def write(root: Path, text: str, name: str = "scoregate.toml") -> Path:
    (root / name).write_text(text, encoding="utf-8")
    return root


def problems(root: Path, environ: dict[str, str] | None = None, **flags: object) -> str:
    with pytest.raises(SettingsError) as exc_info:
        load_settings(root, environ or {}, flags=flags)
    assert exc_info.value.exit_code == 2
    return str(exc_info.value)


def test_defaults_apply_without_settings(tmp_path: Path) -> None:
    settings = load_settings(tmp_path, {})
    assert (settings.paths, settings.baseline, settings.out) == ((), "auto", "scoregate-out")
    assert (settings.min_pass_rate, settings.max_error_rate) == (1.0, 0.05)
    assert settings.max_suites >= 1
    assert settings.origin("min_pass_rate") == "default"


def test_each_layer_wins_over_the_one_below_and_is_named(tmp_path: Path) -> None:
    write(tmp_path, "max_cases = 1\nrepeats = 1\ntimeout = 1\nmin_pass_rate = 0.1")
    environ = {
        "SCOREGATE_REPEATS": "2",
        "SCOREGATE_TIMEOUT": "2",
        "INPUT_TIMEOUT": "3",
        "SCOREGATE_MIN_PASS_RATE": "0.2",
    }
    settings = load_settings(tmp_path, environ, flags={"min_pass_rate": 0.4, "max_cases": None})
    assert (settings.max_cases, settings.origin("max_cases")) == (1, "scoregate.toml")
    assert (settings.repeats, settings.origin("repeats")) == (2, "SCOREGATE_REPEATS")
    assert (settings.timeout, settings.origin("timeout")) == (3.0, "INPUT_TIMEOUT")
    assert (settings.min_pass_rate, settings.origin("min_pass_rate")) == (0.4, "--min-pass-rate")


def test_pyproject_is_read_like_our_file(tmp_path: Path) -> None:
    write(tmp_path, '[project]\nname = "x"\n[tool.scoregate]\npaths = "evals"', "pyproject.toml")
    settings = load_settings(tmp_path, {})
    assert (settings.paths, settings.origin("paths")) == (("evals",), "pyproject.toml")


def test_another_pyproject_sets_nothing(tmp_path: Path) -> None:
    write(tmp_path, "[tool.ruff]\nline-length = 100\n", "pyproject.toml")
    write(tmp_path, "repeats = 2")
    assert load_settings(tmp_path, {}).repeats == 2


@pytest.mark.parametrize("variable", ["INPUT_MAX-CASES", "INPUT_MAX_CASES", "SCOREGATE_MAX_CASES"])
def test_variables_of_every_spelling_are_read(tmp_path: Path, variable: str) -> None:
    settings = load_settings(tmp_path, {variable: " 7 "})
    assert (settings.max_cases, settings.origin("max_cases")) == (7, variable)


def test_an_empty_variable_sets_nothing(tmp_path: Path) -> None:
    write(tmp_path, "repeats = 4")
    assert load_settings(tmp_path, {"INPUT_REPEATS": "", "SCOREGATE_REPEATS": "  "}).repeats == 4


def test_variables_accept_common_forms_of_lists_and_tables(tmp_path: Path) -> None:
    environ = {
        "INPUT_PATHS": "evals\nmore evals, third\n",
        "SCOREGATE_SUITE": '["a,b", "[xy]*"]',
        "SCOREGATE_MIN_SCORE": "correct=0.5, a=b=1",
        "SCOREGATE_SUITES": '{"s*": {"min_pass_rate": 0.25}}',
        "SCOREGATE_COMMANDS": '[{"name": "js", "run": ["npx", "tsx", "e.ts"]}]',
    }
    settings = load_settings(tmp_path, environ)
    assert settings.paths == ("evals", "more evals", "third")
    assert settings.suite == ("a,b", "[xy]*")
    assert settings.min_score == {"correct": 0.5, "a=b": 1.0}
    assert settings.suites["s*"].min_pass_rate == 0.25
    assert settings.commands[0].run == ("npx", "tsx", "e.ts")


def test_tables_are_merged_key_by_key(tmp_path: Path) -> None:
    write(tmp_path, "[min_score]\na = 0.1\nb = 0.2")
    settings = load_settings(tmp_path, {"SCOREGATE_MIN_SCORE": "b=0.3"}, flags={"min_score": {"c": 0.4}})
    assert settings.min_score == {"a": 0.1, "b": 0.3, "c": 0.4}
    origins = settings.policy().default.origin
    assert origins["min_score.a"] == "scoregate.toml [min_score]"
    assert (origins["min_score.b"], origins["min_score.c"]) == ("SCOREGATE_MIN_SCORE", "--min-score")


def test_the_policy_has_the_origin_of_every_limit(tmp_path: Path) -> None:
    table = '[tool.scoregate.suites."support-*"]\nmin_pass_rate = 0.5\nmin_score = { tone = 0.7 }'
    write(tmp_path, table, "pyproject.toml")
    policy = load_settings(tmp_path, {}, flags={"max_error_rate": 0.1}).policy()
    assert policy.default.find_origin("min_pass_rate") == "default"
    assert policy.default.find_origin("max_error_rate") == "--max-error-rate"
    narrow = policy.suites["support-*"]
    assert (narrow.min_pass_rate, narrow.max_error_rate, narrow.min_score) == (0.5, None, {"tone": 0.7})
    assert narrow.origin["min_pass_rate"] == 'pyproject.toml [tool.scoregate.suites."support-*"]'
    assert narrow.origin["min_score.tone"] == 'pyproject.toml [tool.scoregate.suites."support-*".min_score]'


def test_all_errors_are_reported_at_once(tmp_path: Path) -> None:
    write(
        tmp_path,
        "max-cases = 3\nhidden = 1\nrepeats = true\npaths = [1]\nretries = -1\n"
        '[suites."s"]\nrepeat = 2\nmin_pass_rate = 7',
    )
    message = problems(tmp_path, {"SCOREGATE_TIMEOUT": "soon", "INPUT_MAX-SUITES": "0"}, min_pass_rate=float("nan"))
    assert message.splitlines()[1:] == [
        "  scoregate.toml:1: there is no setting 'max-cases'; did you mean 'max_cases'?",
        "  scoregate.toml:2: there is no setting 'hidden'; `scoregate settings` lists all settings",
        "  --min-pass-rate: min_pass_rate = nan: must be a finite number",
        "  INPUT_MAX-SUITES: max_suites = '0': must be at least 1",
        "  SCOREGATE_TIMEOUT: timeout = 'soon': must be a number",
        "  scoregate.toml:3: repeats = True: must be a number",
        "  scoregate.toml:4: paths[0] = 1: must be text",
        "  scoregate.toml:5: retries = -1: must be at least 0",
        "  scoregate.toml:7 [suites.s]: suites.s.repeat: there is no setting 'repeat'; did you mean 'repeats'?",
        "  scoregate.toml:8 [suites.s]: suites.s.min_pass_rate = 7: must be at most 1",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("timeout = 0", "must be more than 0"),
        ("timeout = inf", "must be a finite number"),
        ("repeats = 1.5", "must be a whole number"),
        ("min_pass_rate = -0.1", "must be at least 0"),
        ("min_score = 3", "must be at most 1"),
        ("min_score = true", "must be a table"),
        ("severity = { pass_rate = 'maybe' }", "must be 'fail', 'warn' or 'off'"),
        ("severity = { pasrate = 'warn' }", "did you mean 'pass_rate'?"),
        ("evaluators = { a = { min_efect = 0.1 } }", "did you mean 'min_effect'?"),
        ("evaluators = { a = { scale = [1, 5], threshold = { gte = 0.8 } } }", "is outside the scale [1, 5]"),
        ("evaluators = { a = { scale = [1, 5], threshold = { lte = 5 } } }", "holds for every score"),
        ("suites = { a = 1 }", "must be a table"),
        ("out = ''", "must not be empty"),
        ("max_cases = 'many'", "must be a whole number"),
        ("commands = [{ name = 'a' }]", "commands[0].run is missing"),
        ("commands = [{ name = 'a', run = '' }]", "must name a program"),
        ("commands = [{ name = 'a', run = 'it\"s' }]", "can't be split into arguments"),
        ("commands = [{ name = 'a', run = 'x && y' }]", 'write it as ["sh", "-c"'),
        ("commands = [{ name = 'a', run = 'x' }, { name = 'a', run = 'y' }]", "a is used twice"),
        ("commands = [{ name = 'a', run = 'x', cdw = 'y' }]", "did you mean 'cwd'?"),
        ("commands = [{ name = 'a', run = 'x', imports = 'nose:y' }]", "must be FORMAT:FILE, where FORMAT is one of"),
        ("commands = [{ name = 'a', run = 'x', imports = ['inspect:'] }]", "must be FORMAT:FILE"),
        ("message = 2024-01-01", "must be text"),
    ],
)
def test_an_invalid_value_lists_allowed_values(tmp_path: Path, text: str, expected: str) -> None:
    message = problems(write(tmp_path, text))
    assert expected in message
    assert "scoregate.toml" in message


def test_an_invalid_table_in_a_variable_shows_the_form(tmp_path: Path) -> None:
    assert "write it as JSON" in problems(tmp_path, {"SCOREGATE_EVALUATORS": "high"})
    assert "SCOREGATE_SUITES" in problems(tmp_path, {"SCOREGATE_SUITES": "{"})


def test_a_plain_limit_applies_to_every_evaluator(tmp_path: Path) -> None:
    write(tmp_path, "max_drop = 0.05\nfail_on_regression = true\n[suites.s]\nmin_score = { tone = 0.7 }")
    policy = load_settings(tmp_path, {"SCOREGATE_MIN_SCORE": "0.6"}).policy()
    assert policy.default.max_drop == {"*": 0.05}
    assert policy.default.min_score == {"*": 0.6}
    assert policy.default.find_origin("max_drop.*", "max_drop") == "scoregate.toml"
    assert policy.default.fail_on_regression is True
    assert policy.suites["s"].min_score == {"tone": 0.7}


def test_criteria_are_settings(tmp_path: Path) -> None:
    write(tmp_path, 'alpha = 0.01\n[evaluators."lat*"]\nhigher_is_better = false\nmin_effect = 0.1')
    criteria = load_settings(tmp_path, {}).criteria()
    assert criteria.alpha == 0.01
    assert criteria.evaluator_criteria("latency").higher_is_better is False
    assert criteria.evaluator_criteria("latency").min_effect == 0.1
    assert criteria.evaluator_criteria("other").min_effect == 0.01


def test_two_files_are_an_error(tmp_path: Path) -> None:
    write(tmp_path, "[tool.scoregate]", "pyproject.toml")
    assert "Keep one of them" in problems(write(tmp_path, "repeats = 2"))


@pytest.mark.parametrize("content", [b"repeats = ", b"\xff\xfe", b"[tool]\nscoregate = 1"])
def test_an_unreadable_file_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "pyproject.toml").write_bytes(content)
    assert "pyproject.toml" in problems(tmp_path)


def test_a_byte_order_mark_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "scoregate.toml").write_bytes(b"\xef\xbb\xbfrepeats = 2")
    assert load_settings(tmp_path, {}).repeats == 2


def test_misspelt_variables_are_errors_and_internal_ones_are_not(tmp_path: Path) -> None:
    environ = {"SCOREGATE_MAXCASES": "1", "SCOREGATE_EVENTS": "/x", "SCOREGATE_ROOT": "/", "INPUT_TOKEN": "x"}
    environ["SCOREGATE_REVIEWER"] = "Ann"
    assert problems(tmp_path, environ).splitlines()[1:] == [
        "  SCOREGATE_MAXCASES: there is no such variable; did you mean SCOREGATE_MAX_CASES?"
    ]
    load_settings(tmp_path, {name: value for name, value in environ.items() if name != "SCOREGATE_MAXCASES"})


def test_paths_in_a_subfolder_become_relative_to_the_root(tmp_path: Path) -> None:
    write(tmp_path, "out = 'from-file'")
    flags = {"paths": ["evals", "../more"], "baseline": "base/run", "python": ".venv/bin/python"}
    settings = load_settings(tmp_path, {}, flags=flags, cwd=tmp_path / "sub")
    assert settings.paths == ("sub/evals", "more")
    assert (settings.baseline, settings.python) == ("sub/base/run", "sub/.venv/bin/python")
    assert settings.out == "from-file"


@pytest.mark.parametrize("word", ["none", "rerun", "rerun:a/b"])
def test_keywords_are_no_paths(tmp_path: Path, word: str) -> None:
    flags = {"baseline": word, "python": "python3"}
    settings = load_settings(tmp_path, {}, flags=flags, cwd=tmp_path / "sub")
    assert (settings.baseline, settings.python) == (word, "python3")


def test_a_baseline_is_a_keyword_or_a_path() -> None:
    assert Settings().baseline_kind is BaselineKind.AUTO
    assert Settings(baseline="out/run").baseline_kind is BaselineKind.FILE
    assert (Settings(baseline="rerun").baseline_kind, Settings(baseline="rerun").rerun_ref) == (
        BaselineKind.RERUN,
        None,
    )
    assert Settings(baseline="rerun:v1:x").rerun_ref == "v1:x"


def test_a_suite_process_gets_filters() -> None:
    settings = Settings(suite=["a*"], max_cases=3, repeats=2, message="hello", suites={"a*": {"repeats": 5}})
    assert settings.environment(("other",)) == {
        "SCOREGATE_FILTERS_TEST_SUITES": '["a*"]',
        "SCOREGATE_MAX_CASES": "3",
        "SCOREGATE_REPEATS": "2",
        "SCOREGATE_TEST_RUN_MESSAGE": "hello",
    }
    assert settings.environment(("ab",))["SCOREGATE_REPEATS"] == "5"
    assert Settings().environment(None) == {}


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Settings().repeats = 3  # type: ignore[misc]


@given(st.floats(0, 1), st.integers(1, 10**6))
def test_every_layer_keeps_numbers(rate: float, count: int) -> None:
    environ = {"SCOREGATE_MIN_PASS_RATE": repr(rate), "INPUT_MAX-CASES": str(count)}
    settings = load_settings(Path("/nowhere"), environ, flags={"repeats": count, "max_error_rate": rate})
    assert (settings.min_pass_rate, settings.max_error_rate) == (rate, rate)
    assert (settings.max_cases, settings.repeats) == (count, count)


def test_suites_get_model_settings(tmp_path: Path) -> None:
    settings = Settings(
        model="vllm/ours",
        model_headers={"X-Team": "a"},
        cache="readonly:kept",
        prices={"ours*": {"input": 1, "cached": 0.5}},
        max_cost=2.5,
    )
    message = settings.environment(None, root=tmp_path)
    assert (message["SCOREGATE_MODEL"], message["SCOREGATE_MAX_COST"]) == ("vllm/ours", "2.5")
    assert message["SCOREGATE_CACHE"] == f"readonly:{tmp_path / 'kept'}"
    assert json.loads(message["SCOREGATE_PRICES"]) == {"ours*": {"input": 1.0, "output": 0.0, "cached": 0.5}}
    assert json.loads(message["SCOREGATE_MODEL_HEADERS"]) == {"X-Team": "a"}
    assert Settings().environment(None, root=tmp_path) == {"SCOREGATE_CACHE": f"on:{tmp_path / '.scoregate-cache'}"}


@pytest.mark.parametrize(
    ("word", "suggestion"), [("none", "off"), ("Off", "off"), ("read-only", "readonly"), ("refesh:kept", "refresh")]
)
def test_a_misspelt_cache_mode_is_no_folder(tmp_path: Path, word: str, suggestion: str) -> None:
    message = problems(write(tmp_path, f"cache = '{word}'"))
    assert f"did you mean {suggestion}? A folder of this name is written ./{word.partition(':')[0]}" in message
    write(tmp_path, f"cache = './{word}'")
    assert load_settings(tmp_path, {}).cache == f"./{word}"


def test_the_policy_of_a_run_is_read_as_it_was_written() -> None:
    settings = Settings(
        policy_from="base",
        max_drop={"*": 0.1},
        severity={"pass_rate": "warn"},
        suites={"bot*": {"min_score": {"tone": 0.5}, "severity": {"cost": "off"}}},
        evaluators={
            "stars": {"scale": [1, 5], "threshold": {"gte": 3, "lt": 5}, "margin": 0.1},
            "*": {"ignore": True, "higher_is_better": False},
        },
    )
    run = Run("b", 0, RunEnd(0), RunCode("1"), policy=json.loads(json.dumps(settings.policy().to_record())))
    assert read_stored_policy(run) == settings.policy()


@pytest.mark.anyio
async def test_results_of_another_cluster_setting_are_not_reused(tmp_path: Path) -> None:
    suites = ({}, {"bot": {"cluster": "document"}}, {"bot": {"cluster": "topic"}}, {"*": {"cluster": "topic"}})
    chosen = [Settings(policy_from="base", suites=each) for each in suites]
    for own in chosen:
        base = Run("b", 0, RunEnd(0), RunCode("1"), policy=json.loads(json.dumps(own.policy().to_record())))
        problems = [choose_policy(other, base).problem for other in chosen]
        assert [not problem for problem in problems] == [other is own for other in chosen]
    conditions = [(await read_conditions(tmp_path, each, None)).settings for each in chosen]
    assert len(set(conditions)) == len(chosen)


@pytest.mark.anyio
async def test_results_of_other_features_settings_are_not_reused(tmp_path: Path) -> None:
    tables: list[dict[str, object]] = [
        *({}, {"python": "python3"}, {"install": "none"}, {"install_groups": ["dev"]}, {"otlp_receiver": True}),
        *({"gateway": {"mode": "replay"}}, {"gateway": {"mode": "on"}}, {"drift_control": 0.1}),
    ]
    chosen = [Settings.model_validate(table) for table in tables]
    *different, on, control = [(await read_conditions(tmp_path, each, None)).settings for each in chosen]
    assert len(set(different)) == len(different)
    assert {on, control} == {different[0]}  # the providers answer as without it


def test_a_wrong_cluster_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "[suites.bot]\ncluster = 'tag'")
    with pytest.raises(SettingsError, match="can't be the tags"):
        load_settings(tmp_path, {})


@pytest.mark.anyio
async def test_results_of_other_evaluator_settings_are_not_reused(tmp_path: Path) -> None:
    words, every = {"words": {"ignore": False}}, {"*": {"ignore": True}}
    chosen = [Settings(policy_from="base", evaluators=each) for each in (every | words, words | every, every)]
    for own in chosen:
        base = Run("b", 0, RunEnd(0), RunCode("1"), policy=json.loads(json.dumps(own.policy().to_record())))
        assert [not choose_policy(other, base).problem for other in chosen] == [other is own for other in chosen]
    conditions = [(await read_conditions(tmp_path, each, None)).settings for each in chosen]
    assert len(set(conditions)) == len(chosen)
