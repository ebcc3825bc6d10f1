"""The temporary project in which the blocks of a page are executed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType

import pytest
from tests.docs.page import Block
from tests.docs.workflows import check_workflow
from tests.fakes.chat_service import ChatService
from tests.fakes.openai import OpenAIServer
from tests.warm_program import program_folder
from tests.warm_scripts import run_script

ROOT = Path(__file__).parents[2]
SHELL = ("sh", "bash")
_DROP = ("CI", "COLUMNS", "GITHUB_", "OPENAI_", "PYTEST_", "PYTHON", "SCOREGATE_", "VIRTUAL_ENV")
_INSTALL = re.compile(r"(?:python3? -m )?pip install |uv (?:pip install|add|tool install) |npm install ")
_EXTRAS = re.compile(r"scoregate\[([\w,-]+)\]")
_IMPORTED = ("openai", "scoregate.entities", "scoregate.synthesizers", "scoregate.metrics", "scoregate.datasets")
_PERSON = {"GIT_AUTHOR_NAME": "You", "GIT_AUTHOR_EMAIL": "you@example.org"}
_PERSON["GIT_AUTHOR_DATE"] = "2026-11-02T09:00:00Z"  # random samples depend on the base's commit
_PERSON |= {name.replace("AUTHOR", "COMMITTER"): value for name, value in _PERSON.items()}


class Project:
    """An empty git repository of a reader, and the outside world that the page needs.

    Attributes:
        folder: the repository.
        page: the page, in the documentation.
        models: answers every question to a model; `answers` makes it give a certain answer.
        environment: variables that blocks get besides the machine's.
        outputs: what each executed block printed.
    """

    def __init__(self, folder: Path, page: Path, stack: ExitStack) -> None:
        self.folder, self.page, self._stack = folder, page, stack
        self.models = stack.enter_context(OpenAIServer.start())
        self.environment: dict[str, str] = {**self.models.environment, **_PERSON}
        self.outputs: list[str] = []
        subprocess.run(["git", "init", "--quiet", "--initial-branch=main", folder], check=True)

    def start_chat_service(self) -> ChatService:
        """Start a service that answers "You said: …" at `url` + "/chat"."""
        return self._stack.enter_context(ChatService.start())

    def write(self, path: str, text: str) -> None:
        """Write a file of the project."""
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        """Run a command as the reader would, without this machine's variables of CI and of scoregate."""
        return subprocess.run(
            command, cwd=self.folder, env=self._environ(), capture_output=True, text=True, timeout=300, check=False
        )

    def run_python(self, text: str) -> subprocess.CompletedProcess[str]:
        """Run a program whose warnings are errors, in a process that has imported what most programs import."""
        script = self.folder.parent / f"{self.folder.name}-block" / "block.py"
        script.parent.mkdir(exist_ok=True)
        filters = "import sys, warnings; sys.path[0] = ''; warnings.simplefilter('error')"
        script.write_text(f"{filters}\n{text}", encoding="utf-8")
        return run_script(script, self._environ(), _IMPORTED, self.folder)

    def _environ(self) -> dict[str, str]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith(_DROP)}
        path = os.pathsep.join([str(program_folder()), str(Path(sys.executable).parent), environment["PATH"]])
        return {**environment, "PATH": path, **self.environment}


def execute(block: Block, project: Project, module: ModuleType | None) -> None:
    """Handle a block as `tests/docs/README.md` describes."""
    if "not run" in block.marks or block.language == "mermaid":
        return
    if name := block.marks.get("run by"):
        function: Callable[[Project, Block], str] = getattr(module, name)
        project.outputs.append(function(project, block))
    elif block.path:
        project.write(block.path, block.content)
        _check_file(block, project)
    elif block.language in SHELL and _installs(block.text):
        _check_extras(block)
    elif block.language == "python":
        _check(block, project, project.run_python(block.text))
    elif block.language in SHELL:
        _check(block, project, project.run(["bash", "-ec", block.text]))
    elif block.language == "text":
        assert project.outputs, f"{block.place}: no block before this one has an output to compare with"
        assert matches(block.text, project.outputs[-1]), f"{block.place}: the output is\n{project.outputs[-1]}"
    elif block.language == "yaml":
        check_workflow(block.place, block.text)
    else:
        pytest.fail(f"{block.place}: begin the block with a comment that names its file, or mark it as not run")


def matches(expected: str, output: str) -> bool:
    """Whether an output is the expected one, in which "..." matches any text.

    What takes milliseconds takes seconds on a busy machine.
    """
    pattern = ".*".join(re.escape(part) for part in expected.strip().split("..."))
    pattern = pattern.replace(r".*\ ms", r".*\ m?s")
    return re.fullmatch(pattern, output.strip(), re.DOTALL) is not None


def _check(block: Block, project: Project, done: subprocess.CompletedProcess[str]) -> None:
    output = f"{block.place} printed\n{done.stdout}\n{done.stderr}"
    assert done.returncode == int(block.marks.get("exit", 0)), f"exit code {done.returncode}: {output}"
    assert "Traceback" not in done.stderr, output
    assert done.stderr == "" or block.language in SHELL, output
    project.outputs.append(done.stdout or done.stderr)


def _installs(text: str) -> bool:
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return bool(lines) and all(_INSTALL.match(line) for line in lines)


def _check_extras(block: Block) -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    named = {extra for found in _EXTRAS.findall(block.text) for extra in found.split(",")}
    assert named <= set(extras), f"{block.place}: scoregate has no extra {named - set(extras)}"


def _check_file(block: Block, project: Project) -> None:
    assert block.path is not None
    if block.path in ("scoregate.toml", "pyproject.toml"):
        outcome = project.run(["scoregate", "list"])
        assert outcome.returncode != 2, f"{block.place}: {outcome.stderr}"
    elif block.path.startswith(".github/workflows/"):
        check_workflow(block.place, block.text)
