"""Mistakes of the first hour: each gives one line with the place and the remedy."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.integration.host.conftest import Project, clean_environment, suite

_RUN = ("run", "--baseline", "none")
_SETTINGS = "error: these settings are not valid:\n  "
_EVENTS = """
import json, os, pathlib
folder = pathlib.Path(os.environ["SCOREGATE_EVENTS"])
lines = [{"v": 1, "type": "suite_started", "suite": "s", "time": 0}]
(folder / "s.jsonl").write_text("".join(json.dumps(line) + "\\n" for line in lines) + "{not json}\\n")
"""


@dataclass(frozen=True)
class Mistake:
    """A mistake, what makes it, and the line that explains it."""

    name: str
    arguments: tuple[str, ...]
    message: str
    exit_code: int = 2
    files: tuple[tuple[str, str], ...] = ()
    environment: tuple[tuple[str, str], ...] = ()


MISTAKES = (
    Mistake(
        "limits in a table of their own",
        ("list",),
        f"{_SETTINGS}scoregate.toml:3: there is no table 'gates'; min_pass_rate is a setting of the top level: "
        "write it above the first table",
        files=(("scoregate.toml", "# Limits\nmax_cases = 3\n[gates]\nmin_pass_rate = 0.9\n"),),
    ),
    Mistake(
        "a misspelled limit",
        ("list",),
        f"{_SETTINGS}scoregate.toml:2: there is no setting 'min_passrate'; did you mean 'min_pass_rate'?",
        files=(("scoregate.toml", "max_cases = 3\nmin_passrate = 0.9\n"),),
    ),
    Mistake(
        "a misspelled limit in pyproject.toml",
        ("list",),
        f'{_SETTINGS}pyproject.toml:4 [tool.scoregate.suites."*"]: suites.*.min_pass_rat: there is no setting '
        "'min_pass_rat'; did you mean 'min_pass_rate'?",
        files=(("pyproject.toml", '[project]\nname = "x"\n[tool.scoregate.suites."*"]\nmin_pass_rat = 1\n'),),
    ),
    Mistake(
        "a misspelled evaluator",
        ("overrides", "add", "is-equal", "--original", "0", "--score", "1", "--output", "x"),
        "error: there is no scorer 'is-equal'; did you mean 'is-equals'?\n"
        "Correct the name, or add --new if it is a new scorer.",
    ),
    Mistake(
        "an unknown variable",
        ("list",),
        f"{_SETTINGS}SCOREGATE_MIN_PASS_RAT: there is no such variable; did you mean SCOREGATE_MIN_PASS_RATE?",
        environment=(("SCOREGATE_MIN_PASS_RAT", "1"),),
    ),
    Mistake(
        "a settings file as a test config",
        ("run", "--config", "scoregate.toml"),
        "error: --config scoregate.toml: --config names test configs, not a settings file\nscoregate.toml is read "
        "without an option, in the top folder of the repository or in --working-directory DIR.",
    ),
    Mistake(
        "an invalid line of events",
        ("exec", "--baseline", "none", "--", sys.executable, "events.py"),
        "1 line of its event logs can't be read: line 2 of s.jsonl: not an event: key must be a "
        "string at line 1 column 2",
        exit_code=3,
        files=(("events.py", _EVENTS),),
    ),
    Mistake(
        "reports into the folder of suites",
        (*_RUN, "--out", "evals"),
        "/evals: it holds suites, such as eval_demo.py\nChoose a folder for reports only with --out, such as "
        "scoregate-out.",
    ),
    Mistake(
        "a file without a suite",
        (*_RUN, "empty"),
        "empty/eval_nothing.py was skipped: starts no suite of scoregate",
        exit_code=3,
        files=(("empty/eval_nothing.py", "print('hello')\n"),),
    ),
    Mistake(
        "a file without a suite, listed",
        ("list", "empty"),
        "note: empty/eval_nothing.py was skipped: starts no suite of scoregate",
        exit_code=3,
        files=(("empty/eval_nothing.py", "print('hello')\n"),),
    ),
    Mistake(
        "a config without a dataset",
        ("config", "add", "nightly", "--dataset", "questions", "--judge", "tone"),
        "error: Failed to create test config 'nightly': Dataset not found: questions\n"
        "`scoregate dataset add` creates one.",
    ),
)


def test_every_mistake_shows_its_line(project: Project) -> None:
    project.write("evals/eval_demo.py", suite())
    assert project.scoregate(*_RUN).exit_code == 0
    for mistake in MISTAKES:
        paths = [project.write(name, text) for name, text in mistake.files]
        outcome = project.scoregate(*mistake.arguments, **dict(mistake.environment), COLUMNS="1000")
        assert mistake.message in outcome.output, (mistake.name, outcome.output)
        assert outcome.exit_code == mistake.exit_code, (mistake.name, outcome.output)
        for path in paths:
            path.unlink()


def test_a_new_evaluator_with_a_similar_name_can_be_accepted(project: Project) -> None:
    arguments = ("--original", "0", "--score", "1", "--output", "x")
    assert project.scoregate("overrides", "add", "tone-of-voice", *arguments).exit_code == 0
    assert project.scoregate("overrides", "add", "tone-of-voices", *arguments).exit_code == 2
    assert project.scoregate("overrides", "add", "tone-of-voices", *arguments, "--new").exit_code == 0


def test_a_long_output_is_limited_in_the_log_and_complete_in_a_file(project: Project) -> None:
    project.write("evals/eval_demo.py", suite("for number in range(100_000): print(f'{number:06} ' + 'x' * 93)\n"))
    outcome = project.scoregate(*_RUN)
    assert outcome.exit_code == 0, outcome.output[-2000:]
    assert 200_000 < len(outcome.output) < 400_000
    assert "… the complete output is in scoregate-out/output-evals-eval_demo.py.log" in outcome.output
    lines = (outcome.out / "output-evals-eval_demo.py.log").read_text().splitlines()
    assert [line[:6] for line in lines] == [f"{number:06}" for number in range(100_000)]
    project.write("evals/eval_demo.py", suite())
    assert project.scoregate(*_RUN).exit_code == 0
    assert not list(outcome.out.glob("output-*"))


def test_a_file_run_by_itself_fails_if_nothing_was_measured(tmp_path: Path) -> None:
    error, twice = "lambda case: 1 / 0", "import atexit\natexit.register(print, 'ended')\n"
    cases: dict[str, tuple[str, int]] = {
        "every case has an error": (suite(twice, fn=error), 3),
        "a later exception wins": (suite(fn=error) + "raise RuntimeError\n", 1),
        "some cases have an error": (suite(fn="lambda case: 1 / case.input.count('bad')", bad=1), 0),
        "imported": ("", 0),
    }
    (tmp_path / "eval_inner.py").write_text(suite(fn=error))
    for name, (text, expected) in cases.items():
        (tmp_path / "eval_x.py").write_text(text or "import eval_inner\n")
        environ = {**clean_environment(), "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
        process = subprocess.run(
            [sys.executable, "eval_x.py"], cwd=tmp_path, env=environ, capture_output=True, text=True, check=False
        )
        assert process.returncode == expected, (name, process.stdout, process.stderr)
        assert "ZeroDivisionError" in process.stdout
        assert ("ended" in process.stdout) == (twice in text)
