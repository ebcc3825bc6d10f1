"""A project of one's own: a real git repository in which the real command line runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pytest
from tests.cli import run_cli
from tests.warm_program import program_command

SUITE = """
from dataclasses import dataclass

from scoregate.testing.evaluators import BaseIsEquals
from scoregate.testing.models import BaseTestCase
from scoregate.testing.run import run_test_suite


@dataclass
class Case(BaseTestCase):
    input: str
    expected: str

    def hash(self):
        return self.input


class IsEquals(BaseIsEquals[Case, str]):
    id = "is-equals"

    def test_case_mapper(self, test_case):
        return test_case.expected

    def output_mapper(self, output):
        return output

"""


def suite(body: str = "", *, fn: str = "lambda case: case.input", good: int = 3, bad: int = 0, **options: str) -> str:
    """The source of a suite file: `good` cases that pass and `bad` ones that fail."""
    arguments = "".join(f", {name}={value}" for name, value in options.items())
    return (
        f"{SUITE}{body}\n"
        f"cases = [Case(f'good {{i}}', f'good {{i}}') for i in range({good})]\n"
        f"cases += [Case(f'bad {{i}}', 'something else') for i in range({bad})]\n"
        f"run_test_suite(id='demo', test_cases=cases, fn={fn}, evaluators=[IsEquals()]{arguments})\n"
    )


@dataclass
class Ran:
    """What a command left behind."""

    exit_code: int
    output: str
    out: Path

    @property
    def result(self) -> dict[str, Any]:
        return json.loads((self.out / "result.json").read_text(encoding="utf-8"))

    @property
    def run(self) -> dict[str, Any]:
        return json.loads((self.out / "run" / "run.json").read_text(encoding="utf-8"))

    @property
    def comment(self) -> str:
        return (self.out / "comment.md").read_text(encoding="utf-8")

    @property
    def statuses(self) -> dict[str, int]:
        return {name: count for name, count in self.run["suites"][0]["statuses"].items() if count}


# Without the plug-ins that are installed, which take longer than the tests, the process of pytest is forked.
PYTEST_ENVIRONMENT = {
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    "PYTEST_PLUGINS": "scoregate.pytest_plugin",
    "PYTEST_ADDOPTS": "-p no:cacheprovider",
}
# Without maintenance, a commit starts one process fewer.
CONFIG = "[user]\n\tname = Dev\n\temail = dev@example.com\n[maintenance]\n\tauto = false\n"


class Project:
    """A repository with one commit on main."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.git("init", "-q", "-b", "main")
        config = root / ".git" / "config"
        if CONFIG not in (text := config.read_text(encoding="utf-8")):
            config.write_text(text + CONFIG, encoding="utf-8")

    def git(self, *words: str) -> str:
        return subprocess.run(["git", *words], cwd=self.root, check=True, capture_output=True, text=True).stdout

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def commit(self, message: str = "change") -> None:
        self.git("add", "-A")
        self.git("commit", "-qm", message)

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        """Start a command in a process of its own, which is forked from a warm one."""
        return start_program(*arguments, cwd=self.root, environ={**clean_environment(), **environment})

    def start_python(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        """Start a command in a new Python, where its start or all of its processes are what is tested."""
        return subprocess.Popen(
            [sys.executable, "-m", "scoregate", *arguments],
            cwd=self.root,
            env={**clean_environment(), **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def scoregate(self, *arguments: str, **environment: str) -> Ran:
        """Run a command in this process."""
        environ = {**clean_environment(), **environment}
        outcome = run_cli(*arguments, cwd=self.root, environ=environ, merge_stderr=True)
        return Ran(outcome.returncode, outcome.stdout, self.root / "scoregate-out")

    def run_process(self, *arguments: str, **environment: str) -> Ran:
        """Run a command in a new Python, where that process is what is tested."""
        return self.finish(self.start_python(*arguments, **environment))

    def finish(self, process: subprocess.Popen[str]) -> Ran:
        try:
            output, _ = process.communicate(timeout=180)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise
        return Ran(process.returncode, output, self.root / "scoregate-out")


def start_program(
    *arguments: str, cwd: Path, environ: Mapping[str, str], output: int | IO[bytes] = subprocess.PIPE, **options: Any
) -> subprocess.Popen[str]:
    """Start a command in a process that is forked from a warm one. Signals to its program reach it, also SIGKILL.

    Args:
        arguments: what follows `scoregate` on the command line.
        cwd: the working directory.
        environ: the whole environment of the command.
        output: where its standard output and error go.
        options: others of `subprocess.Popen`.
    """
    # With other variables of Python's, a new Python would start.
    unset = ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED")
    return subprocess.Popen(
        [*program_command(), *arguments],
        cwd=cwd,
        env={name: value for name, value in environ.items() if name not in unset},
        stdout=output,
        text=True,
        **{"stdin": subprocess.DEVNULL, "stderr": subprocess.STDOUT, **options},
    )


def clean_environment() -> dict[str, str]:
    """The environment without variables of CI, of the user's environment or of another test."""
    drop = ("SCOREGATE_", "INPUT_", "GITHUB_", "AUTOBLOCKS_", "VIRTUAL_ENV")
    return {name: value for name, value in os.environ.items() if not name.startswith(drop)}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)
