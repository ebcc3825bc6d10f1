"""The result files that frameworks wrote, and what becomes of one."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from scoregate.ci.importers import Reader
from scoregate.core.cases import CaseResult
from scoregate.core.reducer import RunReducer
from scoregate.core.run import SuiteResult

DATA = Path(__file__).parent / "data"
FORMATS = {
    "deepeval-conversation.json": "deepeval",
    "deepeval-repeat.json": "deepeval",
    "deepeval.json": "deepeval",
    "inspect.eval": "inspect",
    "inspect.json": "inspect",
    "junit-gotestsum.xml": "junit",
    "junit-jest.xml": "junit",
    "junit-node.xml": "junit",
    "junit-playwright.xml": "junit",
    "junit-promptfoo.xml": "junit",
    "junit-pytest-repeat.xml": "junit",
    "junit-pytest-reruns.xml": "junit",
    "junit-pytest.xml": "junit",
    "junit-surefire.xml": "junit",
    "junit-vitest.xml": "junit",
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


def imported(
    format_name: str,
    data: bytes | str,
    *,
    name: str = "results",
    alone: bool = True,
    more: tuple[bytes, ...] = (),
    scores: tuple[str, ...] = (),
) -> Imported:
    fold = RunReducer()
    cases: list[CaseResult] = []
    file = io.BytesIO(data.encode() if isinstance(data, str) else data)
    others = tuple(partial(io.BytesIO, each) for each in more)
    events = Reader(lambda line: line)(format_name, file, name=name, alone=alone, more=others, scores=scores)
    cases += [case for event in events if (case := fold.apply(name, None, event)) is not None]
    cases += fold.close()
    return Imported({suite.id: suite for suite in fold.results()}, cases)


def imported_file(name: str, *, alone: bool = True, scores: tuple[str, ...] = ()) -> Imported:
    return imported(FORMATS[name], (DATA / name).read_bytes(), name=name, alone=alone, scores=scores)


def raw(name: str) -> Any:
    return json.loads((DATA / name).read_bytes())
