"""The store's Protocol: rows in order, streamed, and any number of names."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

import pytest
from pydantic import BaseModel
from tests.fakes.read_only import refuse_locks
from tests.unit.store.builders import correction

from scoregate import store as store_package
from scoregate.errors import StoreError
from scoregate.store import OVERRIDES, DirectoryStore, Kind, Store, add_override, open_store
from scoregate.store.json_lines import JSON_LINES


class Row(BaseModel):
    n: int


ROWS = Kind("rows", Row, JSON_LINES, ("dataset", "version"))


def test_kinds_have_separate_folders_and_files() -> None:
    names = [getattr(store_package, name) for name in store_package.__all__]
    kinds = [each for each in names if isinstance(each, Kind)]
    assert len(kinds) > 10
    assert len({(kind.name, kind.layout.suffix) for kind in kinds}) == len(kinds)


def test_rows_keep_order_and_repetitions(store: Store) -> None:
    store.update(ROWS, ("d", "1"), lambda _: [Row(n=n) for n in (3, 1, 3)])
    store.update(ROWS, ("d", "1"), lambda rows: [*rows, Row(n=0)])
    assert [row.n for row in store.read(ROWS, ("d", "1"))] == [3, 1, 3, 0]


def test_many_rows_are_streamed(store: Store) -> None:
    store.update(ROWS, ("d", "1"), lambda _: (Row(n=n) for n in range(20_000)))
    tracemalloc.start()
    store.update(ROWS, ("d", "1"), lambda rows: (Row(n=row.n + 1) for row in rows))
    assert sum(row.n for row in store.read(ROWS, ("d", "1"))) == sum(range(20_001))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 1_000_000


def test_an_empty_key_is_not_listed(store: Store) -> None:
    store.update(ROWS, ("d", "1"), lambda _: [Row(n=1)])
    store.update(ROWS, ("d", "1"), lambda _: [])
    assert list(store.list_keys(ROWS)) == []
    assert list(store.read(ROWS, ("d", "1"))) == []


def test_a_change_that_fails_changes_nothing(store: Store) -> None:
    store.update(ROWS, ("d", "1"), lambda _: [Row(n=1)])

    def fail_midway(rows: Iterator[Row]) -> Iterator[Row]:
        yield from rows
        raise RuntimeError("half-way")

    with pytest.raises(RuntimeError, match="half-way"):
        store.update(ROWS, ("d", "1"), fail_midway)
    assert [row.n for row in store.read(ROWS, ("d", "1"))] == [1]


def test_a_key_has_as_many_names_as_its_kind(store: Store) -> None:
    with pytest.raises(ValueError, match="dataset and version"):
        next(store.read(ROWS, ("d",)))


def test_an_open_reader_sees_the_old_items(store: Store) -> None:
    store.update(ROWS, ("d", "1"), lambda _: (Row(n=n) for n in range(1000)))
    reader = store.read(ROWS, ("d", "1"))
    first = [row.n for row in islice(reader, 1)]
    store.update(ROWS, ("d", "1"), lambda _: [Row(n=7)])
    assert first + [row.n for row in reader] == list(range(1000))


def test_listing_does_not_read(store: Store, tmp_path: Path) -> None:
    store.update(ROWS, ("d", "1"), lambda _: [Row(n=1)])
    (tmp_path / ".scoregate" / "rows" / "d" / "1.jsonl").write_text("not a row\n")
    assert list(store.list_keys(ROWS)) == [("d", "1")]


@pytest.mark.parametrize("marks", [(".git",), (".scoregate",), (".git", "inner/.scoregate")])
def test_the_top_of_the_work_tree_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, marks: tuple[str, ...]
) -> None:
    monkeypatch.delenv("SCOREGATE_ROOT", raising=False)
    inner = tmp_path / "inner" / "most"
    inner.mkdir(parents=True)
    for mark in marks:
        (tmp_path / mark).mkdir()
    monkeypatch.chdir(inner)
    assert open_store() == DirectoryStore(tmp_path / ".scoregate")
    monkeypatch.setenv("SCOREGATE_ROOT", str(inner))
    assert open_store() == DirectoryStore(inner / ".scoregate")


def test_threads_wait_for_each_other(store: Store) -> None:
    with ThreadPoolExecutor(8) as pool:
        added = list(pool.map(lambda n: add_override(store, "accuracy", correction(f"{n}")), range(80)))
    assert {each.id for each in store.read(OVERRIDES, ("accuracy",))} == {each.id for each in added}


def test_without_locks_reading_works_and_writing_names_the_reason(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_override(store, "accuracy", correction("a"))
    refuse_locks(monkeypatch)
    assert len(list(store.read(OVERRIDES, ("accuracy",)))) == 1
    with pytest.raises(StoreError, match=r"\.scoregate: Read-only file system"):
        add_override(store, "accuracy", correction("b"))


def test_errors_of_the_system_are_named(store: Store, tmp_path: Path) -> None:
    (tmp_path / ".scoregate").write_text("a file")
    with pytest.raises(StoreError, match=r"\.scoregate"):
        add_override(store, "accuracy", correction("a"))
