"""A test set: tests of one type under one name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Self
from uuid import UUID

from scoregate.entities.base import to_id
from scoregate.entities.endpoint import Endpoint
from scoregate.entities.test import Test, dump_test_line
from scoregate.entities.test_set_base import TestSetBase, check_tests, common_type
from scoregate.entities.test_set_properties import EXAMPLE_COUNT, LabelNames, suggest_properties
from scoregate.entities.test_storage import dump_stored_test, find_test
from scoregate.enums import ExecutionMode, TestType
from scoregate.errors import EntityError
from scoregate.execution.execute import execute_test_set, load_last_run, rescore_test_set
from scoregate.execution.options import ExecutionOptions
from scoregate.execution.preflight import PreflightResult, run_preflight
from scoregate.store import TEST_SETS, Store, Writer, current_store
from scoregate.store.lookup import find_document
from scoregate.store.test_sets import load_stored_tests, write_tests

if TYPE_CHECKING:
    from scoregate.entities.test_run import TestRun
    from scoregate.models import Model


class TestSet(TestSetBase):
    """A named set of tests. `tests` is None if they were not read, as in lists of sets; `pull` reads them.

    `metrics` are the names of metrics for all tests, instead of those of their behaviors.
    """

    __test__ = False

    def push(self) -> dict[str, Any]:
        """Store the set with its tests. A second push replaces the stored set.

        An invalid set changes nothing. Without ids the set gets one from its name, and each test a new one. Without a
        type the set gets that of its tests. If `tests` is None, the stored tests stay.

        Raises:
            EntityError: a field is missing, or the tests have different types.
            StoreError: it cannot be written.
        """
        self._check_required()
        if self.tests is not None or not self.id:
            check_tests(self.tests or ())
            self.test_set_type = common_type(self.tests or (), self.test_set_type)
        return {**super().push(), "test_count": self.test_count}

    def pull(self, include_tests: bool = True) -> Self:
        """Load its fields from the store, and return it; as `Entity.pull`.

        Args:
            include_tests: whether to read the tests, too; otherwise the field `tests` does not change.
        """
        super().pull()
        if include_tests:
            self.tests = list(self._kept_tests(current_store()))
        return self

    def fetch_tests(self, skip: int = 0, limit: int | None = None) -> list[Test]:
        """Read tests from the store. The field `tests` does not change.

        Args:
            skip: how many tests to skip.
            limit: how many tests to read at most; default: all.

        Raises:
            EntityError: the set has no id.
            StoreError: the tests cannot be read.
        """
        end = None if limit is None else skip + limit
        return list(islice(self._kept_tests(current_store()), skip, end))

    def execute(
        self,
        endpoint: Endpoint,
        *,
        mode: ExecutionMode | str | None = None,
        metrics: Iterable[Any] | None = None,
        execution_model: str | Model | None = None,
        evaluation_model: str | Model | None = None,
        run_name: str | None = None,
        max_concurrency: int | None = None,
        execution_model_id: str | None = None,
        evaluation_model_id: str | None = None,
    ) -> dict[str, Any]:
        """Run every test against an endpoint, evaluate the answers and store the results.

        The name of the set is the id of the suite. A test is evaluated by `metrics`, else by the metrics of the set,
        else by those of its behavior in the store, else by whether the answer shows the behavior. If the endpoint or
        a metric fails, the status of the test is Error.

        Args:
            endpoint: the endpoint under test.
            mode: "Parallel" or "Sequential".
            metrics: names of metrics in the store, `{"id": …, "name": …}` of these, metrics, or evaluators of
                `scoregate.testing`.
            execution_model: the model of the simulated user: "provider/name", an OpenAI model name or a `Model`;
                default: the project's model.
            evaluation_model: the model of judges that name none; as `execution_model`.
            run_name: the name of the run.
            max_concurrency: how many tests run in parallel; default: the limit of the endpoint.
            execution_model_id: another name of `execution_model`.
            evaluation_model_id: another name of `evaluation_model`.

        Returns:
            `status` (completed, partial, failed; skipped if a filter excludes the set), `message`, `test_set_id`,
            `test_set_name`, `endpoint_id`, `endpoint_name`, `test_run_id`, `test_count`, `pass_rate` in [0, 1], and
            `test_configuration_id` and `task_id`, which are None.

        Raises:
            EntityError: the set or the endpoint has no id, or is invalid.
            EndpointError: a variable that the endpoint needs is not set.
            MetricError: a metric is invalid.
            ModelError: there is no model of this name.
            StoreError: the store cannot be read or written.
        """
        user, judge = execution_model or execution_model_id, evaluation_model or evaluation_model_id
        options = ExecutionOptions(mode, metrics, user, judge, max_concurrency)
        return execute_test_set(self, endpoint, options, run_name=run_name)

    def rescore(
        self,
        endpoint: Endpoint,
        run: TestRun | str | None = None,
        *,
        mode: ExecutionMode | str | None = None,
        metrics: Iterable[Any] | None = None,
        evaluation_model: str | Model | None = None,
        evaluation_model_id: str | None = None,
    ) -> dict[str, Any]:
        """Evaluate the answers of a run again, without calling the endpoint.

        Args:
            endpoint: the endpoint of the run.
            run: the run, its id or its name; default: the last run with answers.
            mode: see `execute`.
            metrics: see `execute`.
            evaluation_model: see `execute`.
            evaluation_model_id: see `execute`.

        Returns:
            The same keys as `execute`.

        Raises:
            EntityError: there is no such run; otherwise as `execute`.
        """
        options = ExecutionOptions(mode, metrics, evaluation_model=evaluation_model or evaluation_model_id)
        return rescore_test_set(self, endpoint, None if run is None else to_id(run), options)

    def last_run(self, endpoint: Endpoint) -> dict[str, Any] | None:
        """The last finished run against an endpoint; None if there is none.

        Returns:
            `id`, `nano_id`, `name`, `status`, `created_at`, `test_count` and `pass_rate`.

        Raises:
            EntityError: the set or the endpoint has no id.
            StoreError: a run cannot be read.
        """
        return load_last_run(self, endpoint)

    def preflight(
        self,
        endpoint: Endpoint,
        *,
        metrics: Iterable[Any] | None = None,
        execution_model: str | Model | None = None,
        evaluation_model: str | Model | None = None,
        execution_model_id: str | None = None,
        evaluation_model_id: str | None = None,
    ) -> PreflightResult:
        """Check the tests, the metrics and the models, and send the endpoint a message. Arguments as in `execute`.

        A failed check is in the result. It is not raised.
        """
        user, judge = execution_model or execution_model_id, evaluation_model or evaluation_model_id
        return run_preflight(self, endpoint, ExecutionOptions(None, metrics, user, judge))

    def add_tests(self, tests: Sequence[Test | dict[str, Any] | UUID | str]) -> dict[str, Any]:
        """Add tests to the stored set and to this object.

        Args:
            tests: tests, their fields, or ids of stored tests.

        Returns:
            `success`, `total_tests` in the store now, and a `message`.

        Raises:
            EntityError: the set has no id, or a test cannot be added; then no test is added.
            StoreError: the set cannot be written.
        """
        store, own = current_store(), self._id_for("adding tests")
        resolved = [resolve_test(store, each) for each in tests]
        new, total = add_tests(store, own, resolved)
        if self.tests is not None:
            by_id = {test.id: test for test in resolved}
            known = {test.id for test in self.tests}
            self.tests = [by_id.get(test.id, test) for test in self.tests] + [t for t in resolved if t.id not in known]
        return {"success": True, "total_tests": total, "message": f"{new} added, {len(resolved) - new} replaced"}

    def remove_tests(self, tests: Sequence[Test | dict[str, Any] | UUID | str]) -> dict[str, Any]:
        """Remove tests from the stored set and from this object.

        Returns:
            The keys of `add_tests`, and the number of removed tests as `removed_associations`.

        Raises:
            EntityError: the set has no id, or there is no such test in the store; then none is removed.
            StoreError: the set cannot be written.
        """
        gone, total = remove_tests(current_store(), self._id_for("removing tests"), tests)
        if self.tests is not None:
            ids = {to_id(each) for each in tests}
            self.tests = [test for test in self.tests if test.id not in ids]
        return {
            "success": True,
            "total_tests": total,
            "removed_associations": gone,
            "message": f"{gone} removed, {len(tests) - gone} were not there",
        }

    def set_properties(self, model: Model) -> None:
        """Set the name and the descriptions with a model.

        If the answer of the model is unusable, the set is named after its topics, with a warning.

        Raises:
            EntityError: the set has no tests.
            ModelError: the model cannot be called.
        """
        about = LabelNames(self.categories, self.topics, self.behaviors)
        properties = suggest_properties(list(islice(self._tests(), EXAMPLE_COUNT)), about, model)
        self.name, self.description, self.short_description = (
            properties.name,
            properties.description,
            properties.short_description,
        )

    def _id_for(self, doing: str) -> str:
        if not self.id:
            raise EntityError(f"Test set ID must be set before {doing}")
        return self.id

    def _write(self, writer: Writer, document: Any) -> None:
        """Write the tests first: a new set exists only with its document."""
        for test in self.tests or ():
            test.ensure_id()
            test.test_type = test.turns
        if self.tests is not None or not self.id:
            write_tests(writer, document.id, map(dump_test_line, self.tests or ()))
        super()._write(writer, document)


def resolve_test(store: Store, given: Any) -> Test:
    """A test, given as a test, as fields or as an id.

    Raises:
        EntityError: there is no test with this id.
    """
    if isinstance(given, Test):
        return given
    if isinstance(given, Mapping) and given.keys() != {"id"}:
        return Test.model_validate(given)
    if (stored := find_test(store, own := _resolve_id(given))) is None:
        raise _unresolved_error(own)
    return Test.read(stored)


def _resolve_id(given: Any) -> str:
    try:
        return to_id(given)
    except TypeError:
        raise _unresolved_error(given) from None


def _unresolved_error(given: object) -> EntityError:
    return EntityError(
        f"Cannot resolve test reference: there is no test {given!r:.200}",
        advice="Give a test that has an id, a dict with an 'id', or the id of a stored test.",
    )


def add_tests(store: Store, own: str, tests: list[Test]) -> tuple[int, int]:
    """Add or replace tests of a stored set; return the number of new tests and of all tests.

    Raises:
        EntityError: there is no such set, or a test does not fit.
        StoreError: the set cannot be written.
    """
    check_tests(tests)
    with store.open_writer() as writer:
        present = _stored_ids(store, own)
        for test in tests:
            test.ensure_id()
        new = {str(test.id): dump_test_line(test) for test in tests}
        head = find_document(store, TEST_SETS, own)
        # The first tests of an empty set decide its type.
        kind = common_type(tests, TestType(head.test_set_type) if present else None)
        if tests and kind != head.test_set_type:
            changed = head.model_copy(update={"test_set_type": kind.value})
            writer.update(TEST_SETS, (own,), lambda _: [changed])
        kept = (new.get(test.id) or dump_stored_test(test) for test in load_stored_tests(store, own))
        fresh = [line for key, line in new.items() if key not in present]
        write_tests(writer, own, chain(kept, fresh))
    return len(fresh), len(present) + len(fresh)


def remove_tests(store: Store, own: str, given: Iterable[Any]) -> tuple[int, int]:
    """Remove tests from a stored set by id; return the number of removed and of remaining tests.

    Raises:
        EntityError: there is no such set, or the store has no test with one of the ids.
        StoreError: the set cannot be written.
    """
    gone = {_resolve_id(each) for each in given}
    with store.open_writer() as writer:
        present = _stored_ids(store, own)
        if unknown := [each for each in sorted(gone - present) if find_test(store, each) is None]:
            raise _unresolved_error(unknown[0])
        write_tests(
            writer, own, (dump_stored_test(test) for test in load_stored_tests(store, own) if test.id not in gone)
        )
    return len(present & gone), len(present - gone)


def _stored_ids(store: Store, own: str) -> set[str]:
    if find_document(store, TEST_SETS, own) is None:
        raise EntityError(f"there is no test set {own!r:.200}", advice="Push it first.")
    return {test.id for test in load_stored_tests(store, own)}
