"""Stored runs of test sets: a document and the results in their order. Git ignores them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

from pydantic import AwareDatetime, Field, FiniteFloat

from scoregate.store.json_lines import JSON_LINES, JsonDocument
from scoregate.store.kinds import Kind
from scoregate.store.protocol import Store, Writer
from scoregate.store.review_records import Item

RESULTS = "results.jsonl"
Progress = Literal["Progress", "Completed", "Partial", "Failed"]
Outcome = Literal["Pass", "Fail", "Error"]


class StoredTestRun(Item):
    """A run of a test set against an endpoint. `pass_rate` is in [0, 1]; None if nothing was judged."""

    id: str = Field(default="", max_length=200)
    name: str = ""
    status: Progress = "Progress"
    test_set_id: str | None = None
    endpoint_id: str | None = None
    created_at: AwareDatetime | None = None
    completed_at: AwareDatetime | None = None
    test_count: int = Field(default=0, ge=0)
    pass_rate: FiniteFloat | None = Field(default=None, ge=0, le=1)
    metadata: dict[str, Any] = Field(default_factory=dict)


class StoredTestResult(Item):
    """The result of one test."""

    id: str = Field(default="", max_length=200)
    test_run_id: str = ""
    test_id: str | None = None
    prompt_id: str | None = None
    status: Outcome
    test_output: Any = None
    test_metrics: dict[str, Any] | None = None
    execution_time: FiniteFloat | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)


TEST_RUNS = Kind(
    "test_runs", StoredTestRun, JsonDocument("test_run.json"), ("test run",), extra_files=(RESULTS,), ignored=True
)
RESULT_LINES = Kind("test_results", StoredTestResult, JSON_LINES, ("test result",))


def read_results(store: Store, test_run: str) -> Iterator[StoredTestResult]:
    """The results of a run in their order; no results if there is no such run.

    Raises:
        StoreError: lists all invalid results, after the valid ones.
    """
    if file := store.open(TEST_RUNS, (test_run,), RESULTS):
        with file:
            yield from JSON_LINES.read(file, RESULT_LINES, origin=store.location(TEST_RUNS, (test_run,), RESULTS))


def write_results(writer: Writer, test_run: str, results: Iterable[StoredTestResult]) -> None:
    """Put results in the place of those that a run has."""
    writer.replace(TEST_RUNS, (test_run,), RESULTS, pieces=JSON_LINES.write(results))
