"""What is run again with `exec`: the command in the base's tree, and cases that newly fail."""

from __future__ import annotations

import sys

from tests.integration.host.conftest import Project, Ran
from tests.integration.host.foreign import foreign

FLAKY = """
import pathlib
tries = pathlib.Path(r'{folder}') / 'tries'
tries.write_text((tries.read_text() if tries.exists() else '') + 'x')
suite(good=12, bad=1, score={score})
"""


def run(project: Project, *arguments: str) -> Ran:
    return project.scoregate("exec", *arguments, "--", sys.executable, "run.py")


def test_the_command_runs_in_the_base_tree(project: Project) -> None:
    foreign(project, "suite(good=12)")
    project.commit()
    project.git("checkout", "-qb", "feature")
    foreign(project, "suite(good=11, bad=1)")
    outcome = run(project, "--baseline", "rerun:main", "--fail-on-regression")
    assert outcome.exit_code == 1
    assert (
        outcome.result["base"]["branch"] is None or outcome.result["base"]["commit"] != outcome.result["run"]["commit"]
    )
    assert (outcome.out / "base" / "run.json").exists()
    (row,) = outcome.result["rows"]
    assert row["base"] == 1
    assert outcome.result["totals"]["newly_failing"] == 0  # `bad 0` is new, `good 11` is gone


def test_an_untracked_program_is_taken_from_the_head(project: Project) -> None:
    foreign(project, "suite(good=12)")
    project.write(".gitignore", "bin/\nscoregate-out/\n")
    project.commit()
    program = project.write("bin/python", f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    program.chmod(0o755)
    outcome = project.scoregate("exec", "--baseline", "rerun:main", "--", "bin/python", "run.py")
    assert outcome.exit_code == 0, outcome.output
    assert outcome.result["rows"][0]["base"] == 1


def test_the_base_uses_installed_packages(project: Project) -> None:
    """Node finds packages next to the files that import them, and git does not track those."""
    foreign(project, "assert open('web/node_modules/x/index.js').read() == 'here'\nsuite(good=12)")
    project.write(".gitignore", "node_modules\nscoregate-out/\n")
    project.write("web/package.json", "{}")
    project.commit()
    project.write("web/node_modules/x/index.js", "here")
    web = Project.__new__(Project)
    web.root = project.root / "web"
    arguments = ("sh", "-c", f"cd .. && {sys.executable} run.py")
    outcome = project.finish(web.start("exec", "--baseline", "rerun:main", "--", *arguments))
    assert outcome.exit_code == 0, outcome.output
    assert outcome.result["rows"][0]["base"] == 1
    assert (web.root / "node_modules/x/index.js").read_text() == "here"


def test_each_confirmation_is_one_launch(project: Project) -> None:
    foreign(project, FLAKY.format(folder=project.root, score=1))
    assert run(project, "--out", "before").exit_code == 0
    foreign(project, FLAKY.format(folder=project.root, score=0))
    (project.root / "tries").unlink()
    outcome = run(project, "--baseline", "before", "--confirm", "all", "--min-pass-rate", "0.5")
    (confirmation,) = outcome.result["confirmations"]
    assert (confirmation["case"], confirmation["tries"]) == ("bad 0", [False, False, False])
    assert (project.root / "tries").read_text() == "xxxx"


def test_cases_that_differ_are_repeated_on_both_sides(project: Project) -> None:
    project.write(".gitignore", "tries\nscoregate-out/\n")
    foreign(project, FLAKY.format(folder=project.root, score=1))
    project.commit()
    project.git("checkout", "-qb", "feature")
    foreign(project, FLAKY.format(folder=project.root, score=0))
    outcome = run(project, "--baseline", "rerun:main", "--repeats", "auto", "--min-pass-rate", "0")
    assert [notice for notice in outcome.run["notices"] if "4 extra trials" in notice], outcome.run["notices"]
    assert (project.root / "tries").read_text() == 6 * "x"


def test_repeats_of_one_side_do_not_count(project: Project) -> None:
    """The repeats of the base read what the change's run wrote."""
    foreign(project, FLAKY.format(folder=project.root, score=1))
    project.commit()
    project.git("checkout", "-qb", "feature")
    foreign(project, FLAKY.format(folder=project.root, score=0))
    outcome = run(project, "--baseline", "rerun:main", "--repeats", "auto", "--min-pass-rate", "0")
    notices = " ".join(outcome.run["notices"])
    assert "--repeats auto stopped in round 1, whose trials don't count: rerun of main@" in notices
    assert "opened tries in" in notices
    assert "--repeats auto: 0 extra trials" in notices
