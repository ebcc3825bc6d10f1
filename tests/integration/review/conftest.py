"""Runs in which battles wait for people, and a page that serves them."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from tests.integration.host.conftest import Project
from tests.integration.page.conftest import browser  # noqa: F401 (a fixture)

HOSTILE = (
    "<img src=x onerror='window.pwned = 1'>",
    "</pre></script><script>window.pwned = 1</script>",
    "left\u202eright\u2066 \x1b[31mred",
)
SUITE = """
import sys
from dataclasses import dataclass
from scoregate.testing.evaluators import BaseManualBattle
from scoregate.testing.models import BaseTestCase, BaseTestEvaluator, Evaluation, Threshold
from scoregate.testing.run import run_test_suite

TEXTS = {texts}

@dataclass
class Case(BaseTestCase):
    input: str

    def hash(self):
        return self.input

class Better(BaseManualBattle[Case, str]):
    id = "better"
    criteria = "The better answer is short."

    def output_mapper(self, output):
        return output

    def baseline_mapper(self, test_case):
        return "old " + test_case.input

class Tone(BaseTestEvaluator[Case, str]):
    id = "tone"

    def evaluate_test_case(self, test_case, output):
        return Evaluation(0.5, Threshold(gte=0.4), {{"reason": "a little curt " + test_case.input}})

run_test_suite(
    id="demo", test_cases=[Case(text) for text in TEXTS], fn=lambda case: "new " + case.input,
    evaluators=[Better(), Tone()],
)
"""


@dataclass(frozen=True)
class Reviewed:
    """A project with a run in which battles wait."""

    project: Project
    run: Path

    def gate(self, **environment: str) -> tuple[int, str]:
        """The exit code, and what was printed."""
        outcome = self.project.scoregate("gate", str(self.run), **environment)
        return outcome.exit_code, outcome.output

    def words(self, kind: str, evaluator: str) -> list[dict[str, str]]:
        """What the store has."""
        path = self.project.root / ".scoregate" / kind / f"{evaluator}.jsonl"
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []

    @contextmanager
    def reviewing(self, *arguments: str, **environment: str) -> Iterator[str]:
        """The address of a page, as long as it is served."""
        process = self.project.start("review", str(self.run), *arguments, **environment)
        try:
            yield _address(process)
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=180)
        assert process.returncode == 0


def _address(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    seen = []
    for line in process.stdout:
        seen.append(line)
        if line.startswith("http://127.0.0.1:"):
            return line.strip()
    raise AssertionError("".join(seen))


@contextmanager
def open_client(address: str) -> Iterator[httpx.Client]:
    """A client that has the cookie and sends its origin, as a page does."""
    parts = urlsplit(address)
    origin = f"{parts.scheme}://{parts.netloc}"
    with httpx.Client(base_url=origin, headers={"Origin": origin}, timeout=60) as client:
        assert client.get(f"/?{parts.query}").status_code == 200
        yield client


Maker = Callable[..., Reviewed]


@pytest.fixture(scope="session")
def reviewed(tmp_path_factory: pytest.TempPathFactory) -> Maker:
    """Makes a project with a run of a suite of these cases; the next of the same cases gets a copy."""
    made_before: dict[tuple[str, ...], Path] = {}

    def made(*texts: str) -> Reviewed:
        root = tmp_path_factory.mktemp("review")
        if (known := made_before.get(texts)) is None:
            known = made_before[texts] = tmp_path_factory.mktemp("made")
            made_in(known, *texts)
        shutil.copytree(known, root, dirs_exist_ok=True)
        return Reviewed(Project(root), root / "scoregate-out" / "run")

    def made_in(root: Path, *texts: str) -> None:
        project = Project(root)
        project.write("evals/demo.py", SUITE.format(texts=repr(texts or ("a", "b", "c"))))
        project.commit()
        outcome = project.scoregate("run", "--baseline", "none")
        assert outcome.exit_code == 0, outcome.output

    return made
