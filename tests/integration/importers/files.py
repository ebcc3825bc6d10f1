"""The result files that frameworks wrote, and what becomes of one."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scoregate.ci.importers import Reader
from scoregate.core.cases import CaseResult
from scoregate.core.reducer import RunReducer
from scoregate.core.run import SuiteResult

DATA = Path(__file__).parent / "data"
FORMATS = {
    "deepeval-conversation.json": "deepeval",
    "deepeval.json": "deepeval",
    "inspect.eval": "inspect",
    "inspect.json": "inspect",
    "junit-node.xml": "junit",
    "junit-promptfoo.xml": "junit",
    "junit-pytest.xml": "junit",
    "promptfoo.json": "promptfoo",
    "pydantic-evals-once.json": "pydantic-evals",
    "pydantic-evals.json": "pydantic-evals",
}


@dataclass(frozen=True)
class Imported:
    """What a file came to."""

    suites: dict[str, SuiteResult]
    cases: list[CaseResult]

    def case(self, hash_: str, *, repeat: int = 0, suite: str | None = None) -> CaseResult:
        index = list(self.suites).index(suite) if suite is not None else None
        (found,) = [c for c in self.cases if (c.hash, c.repeat) == (hash_, repeat) and index in (None, c.suite)]
        return found


def imported(format_name: str, data: bytes | str, *, name: str = "results", alone: bool = True) -> Imported:
    fold = RunReducer()
    cases: list[CaseResult] = []
    file = io.BytesIO(data.encode() if isinstance(data, str) else data)
    events = Reader(lambda line: line)(format_name, file, name=name, alone=alone)
    cases += [case for event in events if (case := fold.apply(name, None, event)) is not None]
    cases += fold.close()
    return Imported({suite.id: suite for suite in fold.results()}, cases)


def imported_file(name: str, *, alone: bool = True) -> Imported:
    return imported(FORMATS[name], (DATA / name).read_bytes(), name=name, alone=alone)


def raw(name: str) -> Any:
    return json.loads((DATA / name).read_bytes())
