"""Where a single test is kept: in the sets that have it, or by itself."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from scoregate.store import LOOSE_TESTS, TEST_SETS, Store, Writer
from scoregate.store.rows import line_of, row_of
from scoregate.store.test_lines import StoredTest
from scoregate.store.test_sets import LOOSE, TESTS, put_tests, tests_of


def every_test(store: Store) -> Iterator[StoredTest]:
    """All tests, those by themselves first; one that several sets have comes once."""
    seen: set[str] = set()
    for test in _all_lines(store):
        if test.id not in seen:
            seen.add(test.id)
            yield test


def find_test(store: Store, own: str) -> StoredTest | None:
    """The test of this id; None where there is none."""
    loose = (test for test in store.read(LOOSE_TESTS, LOOSE) if test.id == own)
    if (found := next(loose, None)) is not None:
        return found
    in_sets = (test for name in _sets_with(store, own) for test in tests_of(store, name) if test.id == own)
    return next(in_sets, None)


def put_test(store: Store, own: str, line: bytes) -> None:
    """Put a test in the place of the one of its id, in every set that has it; by itself where none has.

    Args:
        line: as the store has it.
    """
    test = StoredTest.model_validate(row_of(line))
    with store.writing() as writer:
        names = _sets_with(store, own)
        for name in names:
            _rewrite(writer, name, (test if each.id == own else each for each in tests_of(store, name)))
        if not names or any(each.id == own for each in store.read(LOOSE_TESTS, LOOSE)):
            writer.update(LOOSE_TESTS, LOOSE, lambda present: [*present, test])


def drop_test(store: Store, own: str) -> bool:
    """Take a test out of wherever it is; whether it was anywhere."""
    with store.writing() as writer:
        names = _sets_with(store, own)
        for name in names:
            _rewrite(writer, name, (each for each in tests_of(store, name) if each.id != own))
        loose = list(store.read(LOOSE_TESTS, LOOSE))
        rest = [each for each in loose if each.id != own]
        if len(rest) < len(loose):
            writer.update(LOOSE_TESTS, LOOSE, lambda _: rest)
    return bool(names) or len(rest) < len(loose)


def line_again(test: StoredTest) -> bytes:
    """A test that was read, as the store has it."""
    return line_of(test.model_dump(exclude_defaults=True))


def _rewrite(writer: Writer, name: str, tests: Iterable[StoredTest]) -> None:
    put_tests(writer, name, map(line_again, tests))


def _all_lines(store: Store) -> Iterator[StoredTest]:
    yield from store.read(LOOSE_TESTS, LOOSE)
    for (name,) in store.shelves(TEST_SETS):
        yield from tests_of(store, name)


def _sets_with(store: Store, own: str) -> list[str]:
    return [
        name
        for (name,) in store.shelves(TEST_SETS)
        if _may_have(store, name, own) and any(test.id == own for test in tests_of(store, name))
    ]


def _may_have(store: Store, name: str, own: str) -> bool:
    """A look at the bytes alone: most sets do not have it."""
    if (file := store.open(TEST_SETS, (name,), TESTS)) is None:
        return False
    with file:
        if not own.isascii():
            return True
        text = json.dumps(own).encode()
        return any(text in line or not line.startswith(b'{"id": "') for line in file)
