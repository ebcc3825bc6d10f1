"""The result files of frameworks, and how one is imported."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from scoregate.features.imports.reader import Reader
from scoregate.kernel.run.plan import RowColumns
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.reducer import RunReducer
from scoregate.kernel.types.runs.run import SuiteResult
from scoregate.kernel.types.test_outcomes import TestOutcomes

DATA = Path(__file__).parent / "data"
FORMATS = {
    "ctrf-jest.json": "ctrf",
    "ctrf-pytest.json": "ctrf",
    "deepeval-conversation.json": "deepeval",
    "deepeval-repeat.json": "deepeval",
    "deepeval.json": "deepeval",
    "evalite.json": "evalite",
    "inspect.eval": "inspect",
    "inspect.json": "inspect",
    "junit-gotestsum.xml": "junit",
    "junit-jest.xml": "junit",
    "junit-node.xml": "junit",
    "junit-playwright.xml": "junit",
    "junit-promptfoo.xml": "junit",
    "junit-pytest-repeat.xml": "junit",
    "junit-pytest-reruns.xml": "junit",
    "junit-pytest-subtests.xml": "junit",
    "junit-pytest.xml": "junit",
    "junit-surefire.xml": "junit",
    "junit-vitest.xml": "junit",
    "lm-eval.jsonl": "lm-eval",
    "promptfoo.json": "promptfoo",
    "pydantic-evals-once.json": "pydantic-evals",
    "pydantic-evals.json": "pydantic-evals",
    "rows-mlflow.json": "rows",
    "rows-ragas.csv": "rows",
    "skill-benchmark.json": "skill-benchmark",
    "skill-grading.json": "skill-benchmark",
    "vitest-evals.json": "vitest",
}
COLUMNS = {
    "rows-mlflow.json": RowColumns(
        scores=("*/value",),
        input=("request",),
        output="response",
        expected="expected_response/value",
        reason="{score}/rationale",
    ),
    "rows-ragas.csv": RowColumns(
        scores=("exact_match", "*_similarity"), input=("user_input",), output="response", expected="reference"
    ),
}


@dataclass(frozen=True)
class Imported:
    """What a file came to, and what the report says about it."""

    suites: dict[str, SuiteResult]
    cases: list[CaseResult]
    notes: list[str] = field(default_factory=list)

    def case(self, hash_: str, *, repeat: int = 0, suite: str | None = None) -> CaseResult:
        index = list(self.suites).index(suite) if suite is not None else None
        (case,) = [c for c in self.cases if (c.hash, c.repeat) == (hash_, repeat) and index in (None, c.suite)]
        return case


def imported(
    format_name: str,
    data: bytes | str,
    *,
    name: str = "results",
    alone: bool = True,
    more: tuple[bytes, ...] = (),
    scores: tuple[str, ...] = (),
    columns: RowColumns | None = None,
    tests: TestOutcomes | None = None,
) -> Imported:
    fold = RunReducer()
    cases: list[CaseResult] = []
    file = io.BytesIO(data.encode() if isinstance(data, str) else data)
    others = tuple(partial(io.BytesIO, each) for each in more)
    read = Reader(lambda line: line)
    notes: list[str] = []
    options: dict[str, Any] = {"alone": alone, "more": others, "scores": scores, "columns": columns, "notes": notes}
    options["tests"] = tests
    events = read(format_name, file, name=name, **options)
    cases += [case for event in events if (case := fold.apply(name, None, event)) is not None]
    cases += fold.close()
    return Imported({suite.id: suite for suite in fold.results()}, cases, notes)


def imported_file(
    name: str, data: bytes | None = None, *, alone: bool = True, scores: tuple[str, ...] = ()
) -> Imported:
    """The file of this name, or other data in its place."""
    data = (DATA / name).read_bytes() if data is None else data
    return imported(FORMATS[name], data, name=name, alone=alone, scores=scores, columns=COLUMNS.get(name))


def raw(name: str) -> Any:
    return json.loads((DATA / name).read_bytes())


def promptfoo_document(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The results of promptfoo with other rows."""
    document: dict[str, Any] = raw("promptfoo.json")
    document["results"] |= {"results": rows, "stats": {"successes": len(rows), "failures": 0, "errors": 0}}
    return document
