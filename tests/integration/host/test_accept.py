"""`scoregate accept` writes entries for what is worse, and keeps what is in the file."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.integration.host.conftest import Project, suite

FILE = ".scoregate/accepted.toml"
BROKEN = "lambda case: 'no' if case.input.startswith('good 1') else case.input"
REASON = ("--until", "2999-12-31", "--reason", 'the "new" parser\\', "--by", "ana")


@pytest.fixture
def project_with_regression(project: Project) -> Project:
    """A run of which one score is worse than in the run before."""
    project.write("scoregate.toml", "min_pass_rate = 0\nfail_on_regression = true\n")
    for answer in ("lambda case: case.input", BROKEN):
        project.write("evals/demo.py", suite(good=20, fn=answer))
        outcome = project.scoregate("run")
    assert outcome.exit_code == 1, outcome.output
    return project


def test_an_entry_is_written_and_the_gate_passes(project_with_regression: Project) -> None:
    path = project_with_regression.root / FILE
    path.parent.mkdir(exist_ok=True)
    path.write_text("# of the team\n", encoding="utf-8")
    outcome = project_with_regression.scoregate("accept", *REASON, "--issue", "#12")
    assert outcome.exit_code == 0, outcome.output
    assert f"{FILE}:3: demo · is-equals: a drop of up to 0.55 is accepted" in outcome.output
    text = path.read_text(encoding="utf-8")
    assert text == (
        '# of the team\n\n[[accepted]]\nsuite = "demo"\nevaluator = "is-equals"\nuntil = 2999-12-31\n'
        'reason = "the \\"new\\" parser\\\\"\nby = "ana"\nissue = "#12"\nat_most = 0.55\n'
    )
    gate = project_with_regression.scoregate("gate")
    assert gate.exit_code == 0, gate.output
    assert "Accepted regression: demo · is-equals" in gate.output
    second = project_with_regression.scoregate("accept", *REASON)
    assert second.exit_code == 2
    assert "every score that is worse is accepted already" in second.output
    assert path.read_text(encoding="utf-8") == text


def test_invalid_entries_are_refused(project_with_regression: Project) -> None:
    for arguments, message in (
        (("other", *REASON), "no score that is worse matches"),
        (("demo", "tone", *REASON), "Worse are: demo · is-equals."),
        (("--until", "2020-01-01", "--reason", "r"), "--until 2020-01-01 is over"),
        (("--until", "soon", "--reason", "r"), "does not match the format"),
        (("--until", "2999-12-31"), "Missing option '--reason'"),
        (("--until", "2999-12-31", "--reason", " ", "--by", "ana"), "--reason must have 1 to 500 characters"),
        (("--at-most", "0", *REASON), "--at-most"),
    ):
        outcome = project_with_regression.scoregate("accept", *arguments)
        assert outcome.exit_code == 2, outcome.output
        assert message in outcome.output
    assert not Path(project_with_regression.root / FILE).exists()
    project_with_regression.write(FILE, "[[accepted]\n")
    assert "accepted.toml is not valid TOML" in project_with_regression.scoregate("accept", *REASON).output
    assert project_with_regression.scoregate("run").exit_code == 2
    project_with_regression.write(FILE, "")
    (project_with_regression.root / FILE).unlink()
    project_with_regression.write("evals/demo.py", suite(good=20))
    project_with_regression.scoregate("run")
    project_with_regression.scoregate("run")
    nothing = project_with_regression.scoregate("accept", *REASON)
    assert (nothing.exit_code, "no score is significantly worse" in nothing.output) == (2, True)
