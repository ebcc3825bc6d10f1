"""If only rows of a data file changed, only their cases run; the others keep the results of the run before."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.features.affected.test_affected import carried_suites
from tests.integration.host.conftest import Project, Ran

SUITE = """
from pathlib import Path
from scoregate import evaluate
from scoregate.scorers import equals

def task(input):
    with Path({calls!r}).open("a") as file:
        file.write(input + "\\n")
    return Path("prompts/a.md").read_text() + input.removeprefix("bad ")

{more}
evaluate("rows", data={data!r}, task=task, scorers=[equals()])
"""


class Rows:
    """A project with a suite whose cases are rows of a file."""

    def __init__(self, project: Project, folder: Path, name: str = "data/rows.jsonl", more: str = "") -> None:
        self.project, self.name, self.calls = project, name, folder / "calls"
        project.write(".gitignore", "scoregate-out/\n__pycache__/\n.scoregate-cache/\n")
        project.write("scoregate.toml", "affected = true\nmin_pass_rate = 0\n")
        project.write("evals/rows.py", SUITE.format(calls=str(self.calls), data=name, more=more))
        project.write("prompts/a.md", "")
        self.write([f"q{index}" for index in range(20)])
        project.commit()
        assert self.run() == ([f"q{index}" for index in range(20)], 0)

    def write(self, inputs: list[str]) -> None:
        rows = [{"input": each, "expected": each} for each in inputs]
        if self.name.endswith("jsonl"):
            text = "".join(f"{json.dumps(row)}\n" for row in rows)
        elif self.name.endswith("csv"):
            text = "input,expected\n" + "".join(f"{each},{each}\n" for each in inputs)
        else:
            text = json.dumps(rows)  # JSON is YAML, too
        self.project.write(self.name, text)

    def run(self, *words: str) -> tuple[list[str], int]:
        """The inputs that were run, and the exit code."""
        self.calls.write_text("", encoding="utf-8")
        self.ran: Ran = self.project.scoregate("run", *words)
        return sorted(self.calls.read_text(encoding="utf-8").split("\n")[:-1], key=lambda name: (len(name), name)), (
            self.ran.exit_code
        )


CHANGED = ["q0", "bad q1", *(f"q{at}" for at in range(2, 19)), "q20", "q21"]  # one changed and removed, two added


def test_only_cases_with_changed_rows_run(project: Project, tmp_path: Path) -> None:
    for name in ("data/rows.jsonl", "data/rows.csv", "data/rows.json", "data/rows.yaml"):
        rows = Rows(project, tmp_path, name)
        rows.write(CHANGED)
        output = " ".join(project.scoregate("list", "--affected").output.split())
        assert f"runs: cases whose rows in {name} changed" in output, output
        assert rows.run() == (["q20", "q21", "bad q1"], 0), rows.ran.output
        (suite,) = rows.ran.result["suites"]
        assert (suite["trials"], suite["reused"], suite["passed"], suite["carried"]) == (21, 18, 20, None)
        assert suite["kept"]["name"].startswith("main@")
        text = " ".join(rows.ran.output.split())
        assert f"rows: 3 of 21 cases ran, because only rows of {name} changed" in text
        (row,) = rows.ran.result["rows"]
        # The results of 18 cases are those of the base, so they are no pairs, and the base has none of the new ones.
        assert (row["n"], row["label"], row["mean"], row["kept"]) == (0, "new", 20 / 21, 18), row
        # The record still has what only the other cases may have read.
        uses = {each[1]: each[0] for each in rows.ran.run["dependencies"]["table"]}
        assert uses[name] == "rows"
        assert uses["prompts/a.md"] == "file"
        project.git("clean", "-fdqx")
        project.git("checkout", "-q", ".")


def test_a_changed_expectation_is_measured_and_compared(project: Project, tmp_path: Path) -> None:
    rows = Rows(project, tmp_path)
    text = (project.root / rows.name).read_text(encoding="utf-8")
    project.write(rows.name, text.replace('"expected": "q3"', '"expected": "other"'))
    assert rows.run() == (["q3"], 0), rows.ran.output
    assert rows.ran.statuses == {"passed": 19, "failed": 1}
    (row,) = rows.ran.result["rows"]
    # The means are those of all cases, as gates count them; only the measured case is compared.
    assert (row["n"], row["delta"], row["mean"], row["base"], row["kept"]) == (1, -1.0, 0.95, 1.0, 19)
    comment = (rows.ran.out / "comment.md").read_text(encoding="utf-8")
    assert "compares only cases that ran; the means include 19 results of the base" in comment
    # Gates count the cases that did not run: 19 of 20 pass.
    project.write("scoregate.toml", "affected = true\nmin_pass_rate = 0.99\n")
    assert rows.run() == ([], 1), rows.ran.output
    assert carried_suites(rows.ran) == ["rows"]
    (row,) = rows.ran.result["rows"]
    assert (row["label"], row["mean"], row["base"], row["kept"]) == ("not affected", 0.95, 0.95, 0)
    assert row["reason"].endswith(" with uncommitted changes")  # the run that measured the row had them
    # Another change runs all cases again.
    project.write("prompts/a.md", "x")
    assert len(rows.run()[0]) == 20


def test_cases_with_other_tags_run(project: Project, tmp_path: Path) -> None:
    rows = Rows(project, tmp_path)
    text = (project.root / rows.name).read_text(encoding="utf-8")
    project.write(rows.name, text.replace('{"input": "q3"', '{"tags": ["formal"], "input": "q3"'))
    assert rows.run() == (["q3"], 0), rows.ran.output


def test_rows_that_are_only_moved_or_removed_run_nothing(project: Project, tmp_path: Path) -> None:
    rows = Rows(project, tmp_path)
    rows.write([f"q{index}" for index in reversed(range(20))])
    assert rows.run() == ([], 0), rows.ran.output
    assert carried_suites(rows.ran) == ["rows"]
    rows.write([f"q{index}" for index in range(15)])
    assert rows.run() == ([], 0), rows.ran.output
    (suite,) = rows.ran.result["suites"]
    assert (suite["trials"], suite["reused"], suite["carried"]) == (15, 15, None)
    (row,) = rows.ran.result["rows"]
    assert (row["label"], row["mean"]) == ("not affected", 1.0)


@pytest.mark.parametrize(
    "more",
    [
        'print(len(Path("data/rows.jsonl").read_text()))',  # it is read in another way, too
        'Path("data/rows.jsonl").stat()',
        "import lxml.etree",  # native code that may read it unseen
    ],
)
def test_other_readers_of_the_rows_run_all_cases(project: Project, tmp_path: Path, more: str) -> None:
    rows = Rows(project, tmp_path, more=more)
    rows.write(CHANGED)
    assert len(rows.run()[0]) == len(CHANGED)
    assert rows.ran.result["suites"][0]["kept"] is None


def test_more_changes_run_all_cases(project: Project, tmp_path: Path) -> None:
    rows = Rows(project, tmp_path)
    rows.write(CHANGED)
    project.write("prompts/a.md", "x")
    assert len(rows.run()[0]) == len(CHANGED)
    (project.root / rows.name).unlink()
    output = " ".join(project.scoregate("list", "--affected").output.split())
    assert "runs: data/rows.jsonl is gone" in output
