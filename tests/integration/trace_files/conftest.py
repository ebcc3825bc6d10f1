"""A project with exports of traces."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.integration.host.conftest import Project
from tests.integration.page.conftest import browser  # noqa: F401 (a fixture)

DATA = Path(__file__).with_name("data")


@dataclass(frozen=True)
class TraceProject:
    """A project and its store."""

    project: Project

    @property
    def root(self) -> Path:
        """Its folder."""
        return self.project.root

    def run(self, *words: str, code: int = 0, **environment: str) -> str:
        """The output of a command, after its exit code was checked."""
        outcome = self.project.scoregate(*words, **environment)
        assert outcome.exit_code == code, outcome.output
        return outcome.output

    def add(self, *words: str, code: int = 0, **environment: str) -> str:
        """The output of `dataset add-traces shop`."""
        return self.run("dataset", "add-traces", "shop", *words, code=code, **environment)

    def copy(self, *names: str) -> None:
        """Copy exports into the folder."""
        for name in names:
            shutil.copy(DATA / name, self.root / name)

    def write(self, name: str, *rows: Any) -> Path:
        """Write rows as JSON lines."""
        path = self.root / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    def candidates(self) -> list[dict[str, Any]]:
        """What waits, or was reviewed."""
        path = self.root / ".scoregate" / "candidates" / "shop.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def rows(self) -> dict[str, dict[str, Any]]:
        """The rows of the candidates by input."""
        return {each["row"]["input"]: each["row"] for each in self.candidates()}

    def review(self, decision: str = "keep", **changes: Any) -> str:
        """Decide all rows that wait, by a file."""
        path = self.root / "review.jsonl"
        self.run("review", "--dataset", "shop", "--export", path.name)
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        path.write_text("".join(json.dumps({**line, "decision": decision, **changes}) + "\n" for line in lines))
        return self.run("review", "--dataset", "shop", "--import", path.name, "--by", "ann")


@pytest.fixture
def shop(tmp_path: Path) -> TraceProject:
    root = tmp_path / "project"
    root.mkdir()
    return TraceProject(Project(root))


def make_run(question: str, answer: str = "At nine.", **fields: Any) -> dict[str, Any]:
    """A run of LangSmith that is a whole trace."""
    times = {"start_time": "2026-11-02T09:00:00", "end_time": "2026-11-02T09:00:05"}
    found = {"id": f"run-{question}", "run_type": "chain", "name": "shop", "inputs": {"question": question}, **times}
    return {**found, "outputs": {"output": answer}, **fields}
