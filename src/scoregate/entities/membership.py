"""Tests that come into a set of the store, and tests that leave it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

from scoregate.entities.naming import id_of
from scoregate.entities.placing import find_test, line_again
from scoregate.entities.test import Test, line_of_test
from scoregate.entities.test_types import check_tests, set_type
from scoregate.enums import TestType
from scoregate.errors import EntityError
from scoregate.store import TEST_SETS, Store, Writer
from scoregate.store.heads import head_of
from scoregate.store.test_sets import put_tests, tests_of


def meant(store: Store, given: Any) -> Test:
    """The test that is given: itself, by its fields, or by its id.

    Raises:
        EntityError: there is no test of this id.
    """
    if isinstance(given, Test):
        return given
    if isinstance(given, Mapping) and given.keys() != {"id"}:
        return Test.model_validate(given)
    if (found := find_test(store, id_of(given))) is None:
        raise EntityError(f"there is no test {id_of(given)!r:.200}")
    return Test.read(found)


def add(store: Store, own: str, tests: list[Test]) -> tuple[int, int]:
    """Add tests to a set; one that it has is replaced. Returns how many are new, and how many there are.

    Raises:
        EntityError: there is no such set, or a test does not fit in. StoreError: it could not be written.
    """
    check_tests(tests)
    with store.writing() as writer:
        present = _present(store, own)
        for test in tests:
            test.settle_id()
        new = {str(test.id): line_of_test(test) for test in tests}
        _fit(store, writer, own, tests=tests, empty=not present)
        kept = (new.get(test.id) or line_again(test) for test in tests_of(store, own))
        fresh = [line for key, line in new.items() if key not in present]
        put_tests(writer, own, chain(kept, fresh))
    return len(fresh), len(present) + len(fresh)


def remove(store: Store, own: str, given: Iterable[Any]) -> tuple[int, int]:
    """Take tests out of a set, by id; they stay where else they are. Returns how many left, and how many stayed.

    Raises:
        EntityError: there is no such set. StoreError: it could not be written.
    """
    gone = {id_of(each) for each in given}
    with store.writing() as writer:
        present = _present(store, own)
        put_tests(writer, own, (line_again(test) for test in tests_of(store, own) if test.id not in gone))
    return len(present & gone), len(present - gone)


def _present(store: Store, own: str) -> set[str]:
    if head_of(store, TEST_SETS, own) is None:
        raise EntityError(f"there is no test set {own!r:.200}", advice="Push it first.")
    return {test.id for test in tests_of(store, own)}


def _fit(store: Store, writer: Writer, own: str, *, tests: list[Test], empty: bool) -> None:
    """A set without tests takes the type of the first that come."""
    head = head_of(store, TEST_SETS, own)
    found = set_type(tests, None if empty else TestType(head.test_set_type))
    if tests and found != head.test_set_type:
        changed = head.model_copy(update={"test_set_type": found.value})
        writer.update(TEST_SETS, (own,), lambda _: [changed])
