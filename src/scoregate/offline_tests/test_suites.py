"""`client.test_suites`: cases with a check for each judge, in versions, as in judgeval 1.6."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import uuid4

from pydantic import ValidationError

from scoregate.errors import JudgmentConflictError, JudgmentValidationError
from scoregate.judges import JudgesFactory
from scoregate.store import TEST_SUITES, Store, StoredSuiteCase, StoredTestSuite
from scoregate.store.errors import error_message
from scoregate.store.judges import StoredCheck
from scoregate.store.lookup import find_document, list_documents, unused_id

Draft = Literal["draft"]


class TestSuitesFactory:
    """The test suites of a project: `client.test_suites`.

    Cases change in a draft, and `publish` makes it the next version. `test_suite_id` is an id or a name. Every method
    raises StoreError if a file cannot be read or written, and JudgmentValidationError if there is no such suite.
    """

    __test__ = False

    def __init__(self, store: Store, judges: JudgesFactory) -> None:
        self._store, self._judges = store, judges

    def create(self, name: str, description: str | None = None, labels: Sequence[str] | None = None) -> dict[str, Any]:
        """Create a test suite without cases.

        Raises:
            JudgmentConflictError: there is a suite with this name.
        """
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            raise JudgmentValidationError(f"the name of a test suite must be text on one line, not {name!r:.60}")
        now = datetime.now(UTC)
        with self._store.open_writer() as writer:
            if any(each.name == name for each in list_documents(self._store, TEST_SUITES)):
                raise JudgmentConflictError(
                    f"there is a test suite {name!r:.60} already", advice="Give it another name, or delete the other."
                )
            suite = StoredTestSuite(
                id=unused_id(self._store, TEST_SUITES, name),
                name=name,
                description=description,
                labels=tuple(labels or ()),
                created_at=now,
                updated_at=now,
            )
            writer.update(TEST_SUITES, (suite.id,), lambda _: [suite])
        return _suite_row(suite)

    def list(self, offset: int = 0, limit: int = 50) -> dict[str, Any]:
        """The test suites, the newest first: `test_suites`, and `next_offset` or None."""
        newest_first = sorted(
            list_documents(self._store, TEST_SUITES), key=lambda suite: (suite.created_at, suite.id), reverse=True
        )
        return paginate("test_suites", [_suite_row(suite) for suite in newest_first], offset, limit)

    def delete(self, test_suite_id: str) -> dict[str, Any]:
        """Delete a test suite with all its versions."""
        suite = self.load(test_suite_id)
        self._store.update(TEST_SUITES, (suite.id,), lambda _: ())
        return {"test_suite_id": suite.id}

    def list_cases(
        self, test_suite_id: str, version: int | Draft | None = None, offset: int = 0, limit: int = 100
    ) -> dict[str, Any]:
        """The cases of a published version, by default the newest, or of the draft: `version`, `cases`, `next_offset`.

        Raises:
            JudgmentValidationError: there is no such version.
        """
        suite = self.load(test_suite_id)
        if version in ("draft", str(len(suite.versions) + 1)) and suite.draft is not None:
            number, cases = len(suite.versions) + 1, suite.draft
        else:
            number = len(suite.versions) if version is None else version  # type: ignore[assignment]
            cases = published_cases(suite, number)
        rows = [case.model_dump(mode="json") for case in cases]
        return {"version": number, **paginate("cases", rows, offset, limit)}

    def add_cases(self, test_suite_id: str, cases: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Add cases to the draft, which begins as a copy of the newest version; returns their `case_ids`.

        Args:
            test_suite_id: the suite.
            cases: each has an `input`, and optionally `expected`, `tags`, `name` and `metadata`. `expected` has checks
                by the id or name of a judge: `judge_major_version`, `judge_minor_version`, `op` (eq, ne, lt, lte, gt,
                gte, in, not_in) and `expected`.

        Raises:
            JudgmentValidationError: a case is invalid, or a judge has no such version; then no case is added.
        """
        if isinstance(cases, Mapping | str):
            raise TypeError(f"cases must be a list of dicts, not {cases!r:.60}")

        def add(suite: StoredTestSuite) -> Sequence[StoredSuiteCase]:
            return [*(_latest(suite) if suite.draft is None else suite.draft), *new]

        number = len(self.load(test_suite_id).versions) + 1
        new = [self._parse_case(case, str(uuid4()), number) for case in cases]
        self._change_draft(test_suite_id, add)
        return {"case_ids": [case.case_id for case in new]}

    def update_case(self, test_suite_id: str, case_id: str, case: Mapping[str, Any]) -> dict[str, Any]:
        """Replace a case of the draft; as `add_cases`.

        Raises:
            JudgmentValidationError: there is no draft, or it has no such case.
        """

        def replace(suite: StoredTestSuite) -> Sequence[StoredSuiteCase]:
            draft = _draft_with(suite, case_id)
            return [
                self._parse_case(case, case_id, old.version_added) if old.case_id == case_id else old for old in draft
            ]

        self._change_draft(test_suite_id, replace)
        return {"case_id": case_id}

    def remove_case(self, test_suite_id: str, case_id: str) -> dict[str, Any]:
        """Remove a case from the draft; as `update_case`."""
        self._change_draft(
            test_suite_id, lambda suite: [old for old in _draft_with(suite, case_id) if old.case_id != case_id]
        )
        return {"case_id": case_id}

    def create_draft(self, test_suite_id: str) -> dict[str, Any]:
        """Copy the newest version into the draft; a draft that is there stays."""
        suite = self._change_draft(test_suite_id, lambda suite: _latest(suite) if suite.draft is None else suite.draft)
        return {"version": len(suite.versions) + 1}

    def publish(self, test_suite_id: str) -> dict[str, Any]:
        """Make the draft the next version; returns its number as `version`.

        Raises:
            JudgmentValidationError: there is no draft.
        """

        def publish(suite: StoredTestSuite) -> StoredTestSuite:
            if suite.draft is None:
                raise JudgmentValidationError(
                    f"the test suite {suite.name!r:.60} has no draft", advice="Add cases, or call create_draft."
                )
            return suite.model_copy(update={"versions": (*suite.versions, suite.draft), "draft": None})

        return {"version": len(self._change(test_suite_id, publish).versions)}

    def discard(self, test_suite_id: str) -> dict[str, Any]:
        """Drop the draft."""
        suite = self._change(test_suite_id, lambda suite: suite.model_copy(update={"draft": None}))
        return {"version": len(suite.versions)}

    def load(self, test_suite_id: str) -> StoredTestSuite:
        """A test suite as it is stored, by its id or its name."""
        suite: StoredTestSuite | None = find_document(self._store, TEST_SUITES, test_suite_id)
        if suite is None:
            suites = list(list_documents(self._store, TEST_SUITES))
            suite = next((each for each in suites if each.name == test_suite_id), None)
            if suite is None:
                names = ", ".join(each.id for each in suites)
                raise JudgmentValidationError(
                    f"there is no test suite {test_suite_id!r:.60}",
                    advice=f"There are {names:.300}." if names else "client.test_suites.create creates one.",
                )
        return suite

    def _parse_case(self, case: Mapping[str, Any], case_id: str, version: int) -> StoredSuiteCase:
        try:
            parsed = StoredSuiteCase.model_validate({**case, "case_id": case_id, "version_added": version})
        except ValidationError as error:
            raise JudgmentValidationError(
                f"the case with the input {case.get('input')!r:.60}: {error_message(error)}"
            ) from None
        return parsed.model_copy(
            update={"expected": {self._judge_id(judge, check): check for judge, check in parsed.expected.items()}}
        )

    def _judge_id(self, judge: str, check: StoredCheck) -> str:
        """The id of a judge, whose version must exist."""
        if (version := self._judges.get(judge, version=check.version)) is None:
            raise JudgmentValidationError(f"Judges not found: {judge:.60}")
        return version.id

    def _change_draft(
        self, test_suite_id: str, change: Callable[[StoredTestSuite], Sequence[StoredSuiteCase]]
    ) -> StoredTestSuite:
        return self._change(test_suite_id, lambda suite: suite.model_copy(update={"draft": tuple(change(suite))}))

    def _change(self, test_suite_id: str, change: Callable[[StoredTestSuite], StoredTestSuite]) -> StoredTestSuite:
        with self._store.open_writer() as writer:
            changed = change(self.load(test_suite_id)).model_copy(update={"updated_at": datetime.now(UTC)})
            writer.update(TEST_SUITES, (changed.id,), lambda _: [changed])
        return changed


def published_cases(suite: StoredTestSuite, version: Any) -> tuple[StoredSuiteCase, ...]:
    """The cases of a published version.

    Raises:
        JudgmentValidationError: there is no such version.
    """
    numbers = range(1, len(suite.versions) + 1)
    number = int(version) if isinstance(version, str) and version.isdecimal() else version
    if number not in numbers or number is True:
        known = f"It has the versions 1 to {len(suite.versions)}." if suite.versions else "None is published."
        raise JudgmentValidationError(
            f"the test suite {suite.name!r:.60} has no version {version!r:.60}",
            advice=f"{known} client.test_suites.publish makes the draft the next version.",
        )
    return suite.versions[number - 1]


def paginate(name: str, rows: Sequence[Any], offset: int, limit: int) -> dict[str, Any]:
    """The page of rows under a name, and the offset of the next page or None."""
    end = offset + limit
    return {name: list(rows[offset:end]), "next_offset": end if end < len(rows) else None}


def _latest(suite: StoredTestSuite) -> tuple[StoredSuiteCase, ...]:
    return suite.versions[-1] if suite.versions else ()


def _draft_with(suite: StoredTestSuite, case_id: str) -> tuple[StoredSuiteCase, ...]:
    if suite.draft is None or all(case.case_id != case_id for case in suite.draft):
        missing = "no draft" if suite.draft is None else f"no case {case_id!r:.60} in its draft"
        raise JudgmentValidationError(
            f"the test suite {suite.name!r:.60} has {missing}",
            advice="client.test_suites.create_draft copies the published cases into a draft.",
        )
    return suite.draft


def _suite_row(suite: StoredTestSuite) -> dict[str, Any]:
    fields = suite.model_dump(mode="json", include={"name", "description", "labels", "created_at", "updated_at"})
    return {"test_suite_id": suite.id, **fields, "version": len(suite.versions)}
