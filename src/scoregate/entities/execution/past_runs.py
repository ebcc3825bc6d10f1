"""Runs that were kept, and the answers in them, to be judged once more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scoregate.core.conversation import Conversation
from scoregate.core.target import Reply
from scoregate.entities.execution.asked import Asked
from scoregate.entities.execution.cases import cases_of
from scoregate.entities.execution.subjects import Answer
from scoregate.entities.naming import id_of
from scoregate.errors import EntityError
from scoregate.store import TEST_RUNS, Store
from scoregate.store.heads import heads
from scoregate.store.test_runs import StoredTestResult, StoredTestRun, results_of

_ENDED = ("Completed", "Partial", "Failed")


def last_run(store: Store, test_set: str, endpoint: str, ended: Sequence[str] = _ENDED) -> StoredTestRun | None:
    """The newest run of a set against an endpoint that has ended so; None where there is none.

    Raises:
        StoreError: a run cannot be read.
    """
    runs = (run for run in _runs(store, test_set, endpoint) if run.status in ended)
    return max(runs, key=lambda run: run.created_at.timestamp() if run.created_at else 0.0, default=None)


def run_to_rescore(store: Store, test_set: str, endpoint: str, given: Any) -> StoredTestRun:
    """The run that is given: itself, by its id or its name; if none is, the newest that has answers.

    Raises:
        EntityError: there is none. StoreError: a run cannot be read.
    """
    if given is None:
        found = last_run(store, test_set, endpoint, _ENDED[:2])
        said = "No completed test run found for this test set and endpoint"
    else:
        wanted = id_of(given)
        runs = list(_runs(store, test_set, endpoint))
        named = (run for run in runs if run.name.casefold() == wanted.casefold())
        found = next((run for run in runs if run.id == wanted), None) or next(named, None)
        said = f"there is no test run {wanted!r:.200} of this test set and endpoint"
    if found is None:
        raise EntityError(said, advice="Execute the test set first.")
    return found


def _runs(store: Store, test_set: str, endpoint: str) -> Iterator[StoredTestRun]:
    return (run for run in heads(store, TEST_RUNS) if (run.test_set_id, run.endpoint_id) == (test_set, endpoint))


class Replay:
    """Gives the answers of a run that was kept, as if they had been asked for now."""

    def __init__(self, store: Store, run: StoredTestRun, tests: Sequence[Asked]) -> None:
        kept = {str(each.metadata.get("case")): each for each in results_of(store, run.id)}
        self._kept = {id(case.value): kept.get(case.hash) for case in cases_of(tests, 1)}
        self._run = run.id

    async def ask(self, test: Asked) -> Answer:
        """What came back then.

        Raises:
            EntityError: nothing did.
        """
        kept = self._kept.get(id(test))
        if kept is None or kept.metadata.get("unanswered"):
            why = "the test was not in it" if kept is None else str(kept.metadata.get("error", ""))
            raise EntityError(f"the run {self._run!r:.100} has no answer to this test: {why:.500}")
        return _answer(kept)


def _answer(kept: StoredTestResult) -> Answer:
    beside: Mapping[str, Any] = kept.metadata.get("beside") or {}
    return Conversation.read(kept.test_output) or Reply(kept.test_output, **beside)
