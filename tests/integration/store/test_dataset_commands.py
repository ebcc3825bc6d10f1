"""`scoregate dataset`, as child processes."""

from __future__ import annotations

import json

import pytest
from tests.integration.store.conftest import Project
from tests.integration.store.test_commands import HOSTILE, assert_harmless, on_a_terminal


@pytest.fixture
def golden(project: Project) -> Project:
    """A dataset of two versions, of which the newest was edited by hand."""
    (project.root / "a.csv").write_text("input;n\nWhen?;1\nWhere?;2\n")
    outcome = project.scoregate("dataset", "add", "golden", "a.csv", "--column", "n=integer", "--description", "ours")
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout == "golden: version 1, 2 rows, in .scoregate/datasets/golden/rows.jsonl\n"
    rows = project.file("datasets/golden/rows.jsonl")
    rows.write_text(rows.read_text().replace("Where?", "Who?"))
    return project


def run_dataset(project: Project, *words: str) -> str:
    outcome = project.scoregate("dataset", *words)
    assert outcome.returncode == 0, outcome.stderr
    return outcome.stdout


def test_a_dataset_is_listed_and_shown_at_any_version(golden: Project) -> None:
    assert "Who?" in run_dataset(golden, "show", "golden")
    assert "golden: version 2, 2 of 2 rows" in run_dataset(golden, "show", "golden")
    assert "Where?" in run_dataset(golden, "show", "golden", "--version", "1")
    assert run_dataset(golden, "show", "golden", "--limit", "1").endswith("golden: version 2, 1 of 2 rows\n")
    assert run_dataset(golden, "ls").split() == [
        "dataset",
        "version",
        "rows",
        "columns",
        "golden",
        "2",
        "2",
        "input,",
        "n",
    ]
    (info,) = json.loads(run_dataset(golden, "ls", "--json"))
    assert (info["name"], info["entries"], info["current_version"], info["description"]) == ("golden", 2, 2, "ours")
    second, first = json.loads(run_dataset(golden, "versions", "golden", "--json"))
    assert (second["version_number"], first["version_number"], first["item_count"]) == (2, 1, 2)
    for version in (first, second):
        text = run_dataset(golden, "show", info["dataset_id"], "--version", str(version["version_id"]), "--json")
        assert [json.loads(line)["n"] for line in text.splitlines()] == [1, 2]
    assert str(first["version_id"]) in run_dataset(golden, "versions", "golden")


def test_a_difference_shows_the_rows_of_one_side(golden: Project) -> None:
    assert run_dataset(golden, "diff", "golden").splitlines() == [
        '- 2  {"input": "Where?", "n": 2}',
        '+ 3  {"input": "Who?", "n": 2}',
        "golden: version 1 -> 2: 1 removed, 1 added, 1 kept",
    ]
    assert "version 2 -> 1" in run_dataset(golden, "diff", "golden", "2", "1")
    content = json.loads(run_dataset(golden, "diff", "golden", "1", "2", "--json"))
    (removed,) = content["removed"]
    assert removed.items() >= {"example_id": 2, "input": "Where?", "n": 2}.items()
    assert removed["created_at"] < content["added"][0]["created_at"]
    assert (content["old"], content["new"], content["kept"], len(content["added"])) == (1, 2, 1, 1)
    (golden.root / "more.jsonl").write_text("".join(f'{{"input": "{n}", "n": {n}}}\n' for n in range(99)))
    run_dataset(golden, "add", "golden", "more.jsonl")
    assert "+ and 97 more" in run_dataset(golden, "diff", "golden", "--limit", "2")


def test_rows_are_added_to_a_dataset_and_it_is_deleted(golden: Project) -> None:
    assert run_dataset(golden, "add", "golden", "a.csv").startswith("golden: version 3, 4 rows")
    assert run_dataset(golden, "rm", "golden") == "golden: deleted\n"
    assert run_dataset(golden, "ls") == "There are no datasets.\n"
    assert not golden.file("datasets/golden").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["show", "gold"], "there is no dataset 'gold'\nDid you mean 'golden'?"),
        (["show", "golden", "--version", "9"], "Dataset version 9 does not exist"),
        (["show", "golden", "--version", "new"], "'new' is neither the number nor the id of a version"),
        (["diff", "golden", "1", "7"], "Dataset version 7 does not exist"),
        (["add", "golden", "missing.csv"], "missing.csv cannot be read"),
        (["add", "golden", "a.xlsx"], "a file of rows ends in"),
        (["add", "golden", "a.csv", "--column", "n=number"], "the dataset 'golden' exists"),
        (["add", "new", "a.csv", "--column", "m=number"], "not NAME=TYPE of one of the columns input, n"),
        (["add", "new", "a.csv", "--column", "n=float"], "the type of column 'n' must be one of"),
        (["add", "new", "a.csv", "--column", "input=integer"], "a.csv, row 2: column 'input': must be an integer"),
        (["rm", "gold"], "there is no dataset 'gold'\nDid you mean 'golden'?"),
    ],
)
def test_invalid_usage_fails(golden: Project, words: list[str], message: str) -> None:
    outcome = golden.scoregate("dataset", *words)
    assert outcome.returncode == 2, outcome.stdout + outcome.stderr
    assert message in outcome.stderr
    assert "new" not in run_dataset(golden, "ls")


def test_hostile_rows_are_escaped(project: Project) -> None:
    name, column = "gol\x1b[31mden", "in\u202eput\x1b[2J"
    (project.root / "a.json").write_text(json.dumps([{column: HOSTILE}]))
    for _ in range(2):
        run_dataset(project, "add", name, "a.json")
    commands = (["ls"], ["ls", "--json"], ["show", name], ["show", name, "--json"], ["diff", name])
    for output in on_a_terminal(project, [["dataset", *words] for words in commands]):
        assert output
        assert_harmless(output)
