"""Runs of test sets, and the results of their tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import chain
from typing import Any, ClassVar, Self
from uuid import uuid4

from pydantic import Field

from scoregate.entities.base import Entity, StoredEntity, build_document
from scoregate.enums import RunStatus
from scoregate.errors import EntityError
from scoregate.store import TEST_RUNS, Store, current_store
from scoregate.store.lookup import find_document, list_documents
from scoregate.store.test_runs import RESULT_LINES, StoredTestResult, read_results, write_results


class TestResult(Entity):
    """The result of a test. `status` is Pass, Fail or Error, `execution_time` is in milliseconds."""

    __test__: ClassVar[bool] = False
    push_required = ("test_run_id", "status")

    test_run_id: str | None = None
    test_id: str | None = None
    prompt_id: str | None = None
    status: str | None = None
    test_output: Any = None
    test_metrics: dict[str, Any] | None = None
    execution_time: float | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)

    def push(self) -> dict[str, Any]:
        """Store it among the results of its run; as `Entity.push`."""
        self._check_required()
        store_results(current_store(), str(self.test_run_id), [self])
        return self.to_dict()

    def pull(self) -> Self:
        """Load its fields from the store; as `Entity.pull`."""
        own = self._own_id()
        if (result := _find_result(current_store(), own)) is None:
            raise EntityError(f"there is no test result {own!r:.200}")
        for name in StoredTestResult.model_fields:
            setattr(self, name, getattr(result, name))
        return self

    def delete(self) -> bool:
        """Delete it from the results of its run; as `Entity.delete`."""
        own, store = self._own_id(), current_store()
        if (result := _find_result(store, own)) is None:
            return False
        with store.open_writer() as writer:
            run = str(result.test_run_id)
            write_results(writer, run, (each for each in read_results(store, run) if each.id != own))
        return True


class TestRun(StoredEntity):
    """A run of a test set against an endpoint.

    `pass_rate` is the share of tests that pass, in [0, 1], of those that were judged; None without any. A repeated test
    counts once, with the share of its trials.
    """

    __test__ = False
    kind = TEST_RUNS

    status: RunStatus = RunStatus.PROGRESS
    test_set_id: str | None = None
    endpoint_id: str | None = None
    created_at: datetime | None = None
    completed_at: datetime | None = None
    test_count: int = Field(default=0, ge=0)
    pass_rate: float | None = Field(default=None, ge=0, le=1)
    metadata: dict[str, Any] = Field(default_factory=dict)

    def get_test_results(self) -> list[TestResult]:
        """The results in the order of their completion.

        Raises:
            EntityError: the run has no id.
            StoreError: the results cannot be read.
        """
        return list(_read_results(current_store(), self._own_id()))

    def add_test_results(self, results: Iterable[TestResult]) -> None:
        """Store results in one step. A result with a present id replaces the present one.

        Raises:
            EntityError: the run has no id or is not in the store, or a result has no status.
            StoreError: the results cannot be written.
        """
        store_results(current_store(), self._own_id(), results)


def store_results(store: Store, run: str, results: Iterable[TestResult]) -> None:
    """Store results of a run; as `TestRun.add_test_results`."""
    new = {}
    for result in results:
        result.id = result.id or str(uuid4())
        result.test_run_id = run
        new[result.id] = build_document(RESULT_LINES, result.model_dump(exclude_none=True), None)
    with store.open_writer() as writer:
        if find_document(store, TEST_RUNS, run) is None:
            raise EntityError(f"there is no test run {run!r:.200}", advice="Push it first.")
        kept = (each for each in read_results(store, run) if each.id not in new)
        write_results(writer, run, chain(kept, new.values()))


def read_all_results(store: Store) -> Iterator[TestResult]:
    """The results of all runs."""
    return chain.from_iterable(_read_results(store, head.id) for head in list_documents(store, TEST_RUNS))


def _find_result(store: Store, own: str) -> TestResult | None:
    return next((each for each in read_all_results(store) if each.id == own), None)


def _read_results(store: Store, run: str) -> Iterator[TestResult]:
    return (TestResult.model_validate(each.model_dump()) for each in read_results(store, run))
