"""The storage of single tests: in the sets that contain them, or on their own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain

from scoregate.store import LOOSE_TESTS, TEST_SETS, Store, Writer
from scoregate.store.json_lines import decode_row, encode_row
from scoregate.store.test_sets import LOOSE, TESTS, StoredTest, load_stored_tests, write_tests


def read_all_tests(store: Store) -> Iterator[StoredTest]:
    """All tests, those on their own first. A test in several sets is listed once."""
    seen: set[str] = set()
    in_sets = (test for (name,) in store.list_keys(TEST_SETS) for test in load_stored_tests(store, name))
    for test in chain(store.read(LOOSE_TESTS, LOOSE), in_sets):
        if test.id not in seen:
            seen.add(test.id)
            yield test


def find_test(store: Store, own: str) -> StoredTest | None:
    """The test with this id; None if there is none."""
    loose = (test for test in store.read(LOOSE_TESTS, LOOSE) if test.id == own)
    if (stored := next(loose, None)) is not None:
        return stored
    in_sets = (test for name in _sets_with(store, own) for test in load_stored_tests(store, name) if test.id == own)
    return next(in_sets, None)


def put_test(store: Store, own: str, line: bytes) -> None:
    """Replace a test in every set that contains it; store it on its own if none does.

    Args:
        store: the store.
        own: the id of the test.
        line: the stored form of the test.
    """
    test = StoredTest.model_validate(decode_row(line))
    with store.open_writer() as writer:
        names = _sets_with(store, own)
        for name in names:
            _rewrite(writer, name, (test if each.id == own else each for each in load_stored_tests(store, name)))
        if not names or any(each.id == own for each in store.read(LOOSE_TESTS, LOOSE)):
            writer.update(LOOSE_TESTS, LOOSE, lambda present: [*present, test])


def delete_test(store: Store, own: str) -> bool:
    """Delete a test everywhere; return whether it existed."""
    with store.open_writer() as writer:
        names = _sets_with(store, own)
        for name in names:
            _rewrite(writer, name, (each for each in load_stored_tests(store, name) if each.id != own))
        loose = list(store.read(LOOSE_TESTS, LOOSE))
        rest = [each for each in loose if each.id != own]
        if len(rest) < len(loose):
            writer.update(LOOSE_TESTS, LOOSE, lambda _: rest)
    return bool(names) or len(rest) < len(loose)


def dump_stored_test(test: StoredTest) -> bytes:
    """The line of a stored test."""
    return encode_row(test.model_dump(exclude_defaults=True))


def _rewrite(writer: Writer, name: str, tests: Iterable[StoredTest]) -> None:
    write_tests(writer, name, map(dump_stored_test, tests))


def _sets_with(store: Store, own: str) -> list[str]:
    return [
        name
        for (name,) in store.list_keys(TEST_SETS)
        if _may_have(store, name, own) and any(test.id == own for test in load_stored_tests(store, name))
    ]


def _may_have(store: Store, name: str, own: str) -> bool:
    """Search the bytes only, because most sets do not contain the test."""
    if (file := store.open(TEST_SETS, (name,), TESTS)) is None:
        return False
    with file:
        if not own.isascii():
            return True
        text = json.dumps(own).encode()
        return any(text in line or not line.startswith(b'{"id": "') for line in file)
