"""The JSON Schema of scoregate.toml, and the settings that it must agree with."""

from __future__ import annotations

import json
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
from tests.cli import run_cli
from tests.integration.host.conftest import clean_environment
from tools import reference
from tools.settings_schema import write_schema

from scoregate.errors import SettingsError
from scoregate.kernel.judge.settings import load_settings
from scoregate.kernel.judge.settings.model import setting_names

TEXT = files("scoregate.kernel.judge.settings").joinpath("scoregate.schema.json").read_text(encoding="utf-8")
SCHEMA: dict[str, Any] = json.loads(TEXT)
STARTER = files("scoregate.cli").joinpath("starter", "scoregate.toml.txt").read_text(encoding="utf-8")
VALID = (
    "",
    "min_pass_rate = 0.9\nmax_error_rate = 0\ntimeout = 30\nalpha = 0.01",
    'paths = "evals"\nsuite = ["a*", "b"]\ninstall_groups = "dev"',
    'repeats = "auto"\nbaseline = "rerun"',
    "repeats = 3",
    "min_score = 0.5\nmax_drop = { a = 0.1 }\nseverity = { drop = 'warn' }",
    'comment = "changes"\nconfirm = "all"\npolicy_from = "base"\nshow_outputs = "none"',
    '[[commands]]\nname = "x"\nrun = "pytest"\njunit = "a.xml"\nimports = ["promptfoo:a.json"]',
    '[[commands]]\nname = "x"\nrun = ["pytest", "-q"]\ncwd = "a"',
    '[[configs]]\nname = "x"\ndataset_version = 3\njudge_versions = [{ a = "1.0" }]',
    '[suites."s*"]\nmin_pass_rate = 0.5\nrepeats = 2\nneeds = "KEY"',
    '[evaluators."words"]\nscale = [0, 500]\nthreshold = { gte = 100 }',
    '[prices."gpt-*"]\ninput = 1.5',
    STARTER,
)
INVALID = (
    "min_pass_rate = 1.5",
    "min_passrate = 0.5",
    "repeats = 0",
    "alpha = 0",
    "timeout = 0",
    "max_cases = 1.5",
    "annotations = 'yes please'",
    "comment = 'sometimes'",
    "severity = { drops = 'warn' }",
    "max_drop = 2",
    "[gates]\nmin_pass_rate = 0.9",
    '[[commands]]\nname = "x"',
    '[[commands]]\nname = "x"\nrun = "a"\nshell = true',
    '[suites."s*"]\nmax_suites = 2',
    '[evaluators."words"]\nthreshold = { above = 1 }',
    '[prices."gpt-*"]\noutput = 1.5',
    "github_token = 'x'",
)


def test_the_schema_matches_the_model() -> None:
    assert write_schema(reference.read_fields, reference.NOT_IN_FILES) == TEXT, "run `python tools/reference.py`"
    assert (Path(reference.ROOT) / "docs" / "scoregate.schema.json").read_text("utf-8") == TEXT
    assert SCHEMA["properties"].keys() == set(setting_names()) - set(reference.NOT_IN_FILES)
    assert all(each["description"] for each in SCHEMA["properties"].values())
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert not any(f'"{name}":' in TEXT for name in ("ge", "le"))


def test_the_schema_and_the_model_accept_the_same_files(tmp_path: Path) -> None:
    validator = jsonschema.Draft202012Validator(SCHEMA)
    for text in (*VALID, *INVALID):
        (tmp_path / "scoregate.toml").write_text(text, encoding="utf-8")
        try:
            load_settings(tmp_path, {})
            is_valid = True
        except SettingsError:
            is_valid = False
        assert is_valid == (text in VALID), text
        assert validator.is_valid(tomllib.loads(text)) == is_valid, text


def test_new_files_name_the_schema_and_the_command_prints_it(tmp_path: Path) -> None:
    done = run_cli("init", cwd=tmp_path, environ=clean_environment())
    assert done.returncode == 0, done.stderr
    first, _, _ = (tmp_path / "scoregate.toml").read_text("utf-8").partition("\n")
    assert first == f"#:schema {SCHEMA['$id']}"
    assert run_cli("settings", "--schema", cwd=tmp_path, environ=clean_environment()).stdout == TEXT


def test_settings_are_printed_with_their_origin(tmp_path: Path) -> None:
    (tmp_path / "scoregate.toml").write_text(
        'min_pass_rate = 0.9\n[suites."a*"]\nmax_drop = 0.1\n[model_headers]\nkey = "secret-header"\n', "utf-8"
    )
    environ = {**clean_environment(), "SCOREGATE_TIMEOUT": "60", "SCOREGATE_GITHUB_TOKEN": "secret-token"}
    printed = run_cli("settings", cwd=tmp_path, environ=environ).stdout
    rows = [line.split(maxsplit=1) for line in printed.splitlines()]
    assert {name for name, *_ in rows[1:]} >= set(setting_names()) - {"suites", "model_headers"}
    cells = {name: " ".join(rest[0].split()) for name, *rest in rows}
    assert cells["min_pass_rate"] == "0.9 scoregate.toml"
    assert cells["timeout"] == "60.0 SCOREGATE_TIMEOUT"
    assert cells["baseline"] == "auto default"
    assert cells['suites."a*".max_drop'] == '{"*": 0.1} scoregate.toml [suites."a*"]'
    listed = json.loads(run_cli("settings", "--json", cwd=tmp_path, environ=environ).stdout)
    assert {"name": "timeout", "value": 60.0, "origin": "SCOREGATE_TIMEOUT"} in listed
    assert len(listed) == len(rows) - 1
    assert "secret-" not in printed + json.dumps(listed)
    (one,) = json.loads(run_cli("settings", "alpha", "--json", cwd=tmp_path, environ=environ).stdout)
    assert one == {"name": "alpha", "value": 0.05, "origin": "default"}
    unknown = run_cli("settings", "alfa", cwd=tmp_path, environ=environ)
    assert (unknown.returncode, unknown.stderr) == (
        2,
        "error: there is no setting 'alfa'\n`scoregate settings` lists all settings.\n",
    )
