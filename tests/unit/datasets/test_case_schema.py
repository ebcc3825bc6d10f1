"""`scoregate schema cases` and `init --cases`: the files with which editors complete cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from click.testing import CliRunner

from scoregate import evaluate
from scoregate.cli.main import cli
from scoregate.datasets.case_schema import make_case_schema

ROWS: list[dict[str, Any]] = [
    {"input": {"question": "open?", "floor": 1}, "expected": ["9"], "language": "de"},
    {"input": {"question": "close?", "floor": 1.5}, "expected": "17", "tags": ["hours"]},
]


def invoke(*arguments: str) -> str:
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def is_valid(content: Any, schema: dict[str, Any]) -> bool:
    return not list(jsonschema.Draft7Validator(schema).iter_errors(content))


def test_the_schema_of_any_cases_checks_the_fields_that_it_knows() -> None:
    schema = json.loads(invoke("schema", "cases"))
    jsonschema.Draft7Validator.check_schema(schema)
    right = [{"input": "open?"}, {"question": "open?"}, {"id": 3, "tags": "a, b"}, {"id": "x", "tags": ["a"]}, ROWS[0]]
    assert all(is_valid([row], schema) for row in right)
    assert is_valid({"$schema": "cases.schema.json", "examples": right}, schema)
    wrong: list[Any] = [{"id": [1]}, {"tags": [1]}, {"metadata": "x"}, "open?"]
    assert not any(is_valid([row], schema) for row in wrong)
    assert not is_valid({"cases": right}, schema)


@pytest.mark.parametrize("name", ["cases.yaml", "cases.yml", "cases.json"])
def test_the_schema_of_a_file_has_the_fields_and_types_of_its_cases(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    content = {"examples": ROWS}
    file.write_text(json.dumps(content) if name.endswith("json") else yaml.safe_dump(content))
    schema = json.loads(invoke("schema", "cases", str(file)))
    assert is_valid(ROWS, schema)
    assert is_valid([{**ROWS[0], "id": None, "tags": None}], schema)
    assert is_valid({"name": "shop", "examples": ROWS}, schema)
    assert is_valid([{**ROWS[0], "id": 4, "metadata": {"by": "me"}}], schema)
    wrong = [
        {"input": {"question": "x", "floor": 1}, "expected": "y", "langage": "de"},
        {"input": {"question": "x"}, "expected": "y"},
        {"input": {"question": 3, "floor": 1}, "expected": "y"},
        {"input": {"question": "x", "floor": 1}},
    ]
    assert not any(is_valid([row], schema) for row in wrong)


def test_a_new_case_may_lack_what_only_describes_the_others() -> None:
    rows = [{"input": "a", "expected": "b", "id": n, "tags": ["x"], "metadata": {"by": "me"}} for n in range(2)]
    schema = make_case_schema(rows)
    assert is_valid([{"input": "a", "expected": "b"}, {"input": "a", "expected": "b", "metadata": {}}], schema)
    assert not is_valid([{"input": "a"}], schema)


def test_every_type_of_yaml_has_its_type_and_deep_values_end() -> None:
    deep: Any = 1
    for _ in range(100):
        deep = [deep]
    row = {"a": None, "b": True, "c": 1, "d": 0.5, "e": "x", "f": [], "g": {}, "h": deep}
    found = make_case_schema([row])["definitions"]["case"]["properties"]
    types = [found[name]["type"] for name in "abcdefg"]
    assert types == ["null", "boolean", "integer", "number", "string", "array", "object"]
    assert is_valid([row], make_case_schema([row]))
    assert is_valid([], make_case_schema([]))


def test_tables_and_invalid_rows_have_no_schema(tmp_path: Path) -> None:
    for name, text, message in (
        ("cases.csv", "input\nx\n", "is no file that has a schema"),
        ("cases.json", "[1]", "row 1: must be an object, not 1"),
    ):
        (tmp_path / name).write_text(text)
        result = CliRunner().invoke(cli, ["schema", "cases", str(tmp_path / name)])
        assert message in str(result.exception)


@pytest.mark.parametrize("name", ["evals/hours.csv", "evals/hours.yaml", "hours.json"])
def test_init_writes_a_file_of_cases_with_what_its_editor_needs(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert f"written  {name}\n" in invoke("init", "--cases", name)
    assert f'data="{name}",' in (tmp_path / "evals/eval_hours.py").read_text()
    text = (tmp_path / name).read_text()
    if name.endswith(".csv"):
        assert text.startswith("id,input,expected,tags\n")
    else:
        link = text.partition("$schema=")[2].split()[0] if "yaml" in name else json.loads(text)["$schema"]
        schema = json.loads((tmp_path / name).with_name(link).read_text())
        assert is_valid(yaml.safe_load(text), schema)
    result = evaluate("hours", data=name, task=lambda _: "From 9.", scorers=lambda output, expected: expected in output)
    assert sorted((case.hash, case.tags) for case in result.cases) == [("close", ("hours",)), ("open", ("hours",))]
    assert result.pass_rate == 0.5
    repeated = invoke("init", "--cases", name)
    assert f"kept     {name}\n" in repeated
    assert f'A suite reads the cases with data="{name}"' in repeated


def test_init_writes_cases_into_its_folder_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("../x.csv", "/tmp/x.csv", "x.txt", "x"):
        result = CliRunner().invoke(cli, ["init", "--cases", name])
        assert "--cases names a file in the folder that ends in .csv, .yaml, .json" in str(result.exception)
    assert [each.name for each in tmp_path.iterdir()] in ([], [".git"])
