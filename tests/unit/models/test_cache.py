"""Answers in a file: stored, bounded, and never an obstacle."""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from scoregate.models.cache import FILE_NAME, Cache

OpenCache = Callable[..., Cache]
KEY, OTHER = b"k" * 16, b"o" * 16


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def open_cache(folder: Path) -> Iterator[OpenCache]:
    """Opens the cache of the folder at each call; all are closed after the test."""
    with ExitStack() as opened:

        def open_one(**options: Any) -> Cache:
            cache = Cache(folder, **options)
            opened.callback(cache.close)
            return cache

        yield open_one


def test_an_answer_is_stored_for_the_next_process(open_cache: OpenCache) -> None:
    stored = open_cache().put(KEY, b"answer", model="m")
    found = open_cache().get(KEY)
    assert found == stored
    assert open_cache().get(OTHER) is None


def test_a_second_answer_has_another_name(open_cache: OpenCache) -> None:
    cache = open_cache()
    first, second = cache.put(KEY, b"one", model="m"), cache.put(KEY, b"two", model="m")
    assert first.name != second.name
    assert cache.get(KEY) == second


def test_answers_are_read_by_name(open_cache: OpenCache) -> None:
    cache = open_cache()
    assert list(open_cache(writes=False).read_answers({"0" * 16})) == []
    first, second = (cache.put(key, body, model="m") for key, body in ((KEY, b"one"), (OTHER, b"two")))
    assert list(cache.read_answers({first.name, "0" * 16})) == [(first.name, "m", b"one")]
    assert {name for name, *_ in cache.read_answers({first.name, second.name})} == {first.name, second.name}
    assert cache.get(KEY) == first  # others can use it again


def test_git_ignores_the_folder(folder: Path, open_cache: OpenCache) -> None:
    open_cache().put(KEY, b"answer", model="m")
    assert (folder / ".gitignore").read_text() == "*\n"


def test_reading_writes_nothing(folder: Path, open_cache: OpenCache) -> None:
    assert open_cache().get(KEY) is None
    assert not folder.exists()


def test_a_reader_works_in_a_read_only_folder(folder: Path, open_cache: OpenCache) -> None:
    writer = open_cache()
    writer.put(KEY, b"answer", model="m")
    writer.close()
    before = (folder / FILE_NAME).read_bytes()
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        reader = open_cache(writes=False)
        reader.put(OTHER, b"more", model="m")
        found = reader.get(KEY)
        reader.close()
    finally:
        folder.chmod(stat.S_IRWXU)
    assert found is not None
    assert found.body == b"answer"
    assert (folder / FILE_NAME).read_bytes() == before


def test_the_least_recently_used_goes_first(folder: Path, open_cache: OpenCache) -> None:
    cache = open_cache(max_bytes=400_000)
    for number in range(600):
        cache.put(number.to_bytes(16, "big"), b"x" * 1000, model="m")
        if number == 0:
            with sqlite3.connect(folder / FILE_NAME) as connection:
                connection.execute("UPDATE answers SET used = used - 100000")
            connection.close()
    cache.prune()
    assert cache.get((0).to_bytes(16, "big")) is None
    assert cache.get((599).to_bytes(16, "big")) is not None
    cache.close()
    assert (folder / FILE_NAME).stat().st_size <= 400_000


def test_a_damaged_file_is_a_miss(folder: Path, open_cache: OpenCache) -> None:
    folder.mkdir()
    (folder / FILE_NAME).write_bytes(b"no database, but long enough to look like one" * 100)
    cache = open_cache()
    assert cache.get(KEY) is None
    assert cache.put(KEY, b"answer", model="m").body == b"answer"


def test_an_uncreatable_folder_is_a_miss(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    cache = Cache(tmp_path / "file" / "cache")
    assert cache.put(KEY, b"answer", model="m").body == b"answer"
    assert cache.get(KEY) is None


def test_a_file_of_another_version_is_reset(folder: Path, open_cache: OpenCache) -> None:
    first = open_cache()
    first.put(KEY, b"answer", model="m")
    first.close()
    with sqlite3.connect(folder / FILE_NAME) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    cache = open_cache()
    assert cache.get(KEY) is None
    cache.put(KEY, b"anew", model="m")
    assert cache.get(KEY) is not None
