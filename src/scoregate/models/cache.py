"""A cache of answers in an SQLite file that processes share. Its size is limited; the least recently used go first."""

from __future__ import annotations

import atexit
import contextlib
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from pydantic_core import PydanticSerializationError

from scoregate.kernel.types.json_io import dump, to_stable_plain
from scoregate.models.budget import CallAccounting
from scoregate.models.calls import Call
from scoregate.models.settings import CacheMode

FILE_NAME = "answers.sqlite"
MAX_BYTES = 512 * 1024 * 1024
_SCHEMA = 1
_WAIT_S = 30.0
_WAIT_AT_EXIT_S = 1.0
# How often to check whether the file is too large, and to update when an answer was last used.
_STORES_BETWEEN_CHECKS = 200
_USE_PRECISION_S = 6 * 3600
_TABLE = """CREATE TABLE IF NOT EXISTS answers (
    key BLOB PRIMARY KEY, name TEXT NOT NULL, model TEXT NOT NULL, body BLOB NOT NULL, used INTEGER NOT NULL
)"""


class StoredAnswer(NamedTuple):
    """An answer as the server sent it; `name` is unique among all answers ever stored."""

    name: str
    body: bytes


class Cache:
    """The answers in one folder. An error of the file counts as a miss, so the cache never stops a run.

    Args:
        folder: the folder; it is created with a .gitignore when the first answer is stored.
        writes: False only reads.
        max_bytes: the size limit of the file. Above it, the least recently used answers are removed, down to 4/5.
    """

    def __init__(self, folder: Path, *, writes: bool = True, max_bytes: int = MAX_BYTES) -> None:
        self._folder, self._writes, self._max_bytes = folder, writes, max_bytes
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._is_opened_once = False
        self._stores = 0

    @property
    def is_busy(self) -> bool:
        """Whether another thread uses the file now, so that `get` has to wait."""
        return self._lock.locked()

    def get(self, key: bytes) -> StoredAnswer | None:
        """Return the answer with a key."""
        with self._lock, contextlib.suppress(sqlite3.Error):
            if (connection := self._connect(to_write=False)) is None:
                return None
            row = connection.execute("SELECT name, body, used FROM answers WHERE key = ?", (key,)).fetchone()
            if row is None:
                return None
            if self._writes and (now := int(time.time())) - row[2] > _USE_PRECISION_S:
                connection.execute("UPDATE answers SET used = ? WHERE key = ?", (now, key))
            return StoredAnswer(row[0], row[1])
        return None

    def find_names(self, names: Collection[str]) -> set[str]:
        """Return the names of those answers that are stored; none if the file can't be read."""
        with self._lock, contextlib.suppress(sqlite3.Error):
            if names and (connection := self._connect(to_write=False)) is not None:
                return {name for (name,) in connection.execute("SELECT name FROM answers") if name in names}
        return set()

    def read_answers(self, names: Collection[str]) -> Iterator[tuple[str, str, bytes]]:
        """Yield those answers that are stored: the name, the model and the body; none if the file can't be read.

        The cache can't be used by others until all are read.
        """
        with self._lock, contextlib.suppress(sqlite3.Error):
            if names and (connection := self._connect(to_write=False)) is not None:
                for key, name in connection.execute("SELECT key, name FROM answers").fetchall():
                    if name in names:
                        query = "SELECT name, model, body FROM answers WHERE key = ?"
                        yield from connection.execute(query, (key,)).fetchall()

    def put(self, key: bytes, body: bytes, *, model: str) -> StoredAnswer:
        """Store an answer, and replace an older one with the same key."""
        stored = StoredAnswer(secrets.token_hex(8), body)
        with self._lock, contextlib.suppress(sqlite3.Error, OSError):
            if self._writes and (connection := self._connect(to_write=True)) is not None:
                row = (key, stored.name, model, body, int(time.time()))
                connection.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?)", row)
                if self._stores % _STORES_BETWEEN_CHECKS == 0:
                    self._prune(connection)
                self._stores += 1
        return stored

    def prune(self) -> None:
        """Reduce the file to its size limit."""
        with self._lock, contextlib.suppress(sqlite3.Error, OSError):
            if self._writes and (connection := self._connect(to_write=True)) is not None:
                self._prune(connection)

    def close(self, *, wait_s: float = -1) -> None:
        """Close the file.

        Args:
            wait_s: seconds to wait for a thread that uses the file, which stays open after that; negative for no limit.
        """
        if self._lock.acquire(timeout=wait_s):
            try:
                if self._connection is not None:
                    self._connection.close()
                self._connection, self._is_opened_once = None, False
            finally:
                self._lock.release()

    def _connect(self, *, to_write: bool) -> sqlite3.Connection | None:
        if self._connection is None:
            path = self._folder / FILE_NAME
            if to_write or (not self._is_opened_once and path.exists()):  # no file is made only to read it
                self._is_opened_once = True
                self._connection = self._open_to_write(path) if self._writes else _open_to_read(path)
        return self._connection

    def _open_to_write(self, path: Path) -> sqlite3.Connection:
        self._folder.mkdir(parents=True, exist_ok=True)
        ignore = self._folder / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n")
        path.touch()  # sqlite would create the file without write permission for the group of the folder
        connection = sqlite3.connect(path, timeout=_WAIT_S, isolation_level=None, check_same_thread=False)
        try:
            # Before the first table: SQLite can't change it later.
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")  # an answer that a power cut loses is asked for again
            if _pragma(connection, "user_version") not in (0, _SCHEMA):
                connection.execute("DROP TABLE IF EXISTS answers")
            connection.execute(_TABLE)
            connection.execute(f"PRAGMA user_version = {_SCHEMA}")
        except BaseException:
            connection.close()
            raise
        return connection

    def _prune(self, connection: sqlite3.Connection) -> None:
        size = sum(_pragma(connection, name) * sign for name, sign in (("page_count", 1), ("freelist_count", -1)))
        page = _pragma(connection, "page_size")
        if size * page <= self._max_bytes:
            return
        count = connection.execute("SELECT count(*) FROM answers").fetchone()[0]
        # To four fifths, so that the next check has nothing to delete.
        surplus = int(count * (1 - 0.8 * self._max_bytes / (size * page))) + 1
        connection.execute(
            "DELETE FROM answers WHERE key IN (SELECT key FROM answers ORDER BY used LIMIT ?)", (surplus,)
        )
        connection.executescript("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(PASSIVE)")


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


def _open_to_read(path: Path) -> sqlite3.Connection:
    """Open the file even if its folder is read-only, as in a checkout of another user."""
    for options in ("mode=ro", "mode=ro&immutable=1"):  # a folder that can't be written can't hold the files of WAL
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?{options}", uri=True, check_same_thread=False)
        with contextlib.suppress(sqlite3.Error):
            connection.execute("SELECT count(*) FROM answers LIMIT 1").fetchone()
            return connection
        connection.close()
    raise sqlite3.OperationalError(f"{path} cannot be read")


_caches: dict[tuple[Path, bool, int], Cache] = {}
_lock = threading.Lock()


def get_cache(folder: Path, *, writes: bool) -> Cache:
    """The cache of this process for a folder; a forked child gets its own."""
    with _lock:
        key = (folder, writes, os.getpid())
        if key not in _caches:
            _caches[key] = Cache(folder, writes=writes)
        return _caches[key]


@atexit.register
def _close_caches() -> None:
    """Close the files of this process. A fork doesn't close its parent's connections, because SQLite forbids it."""
    for (_, _, process), cache in list(_caches.items()):
        if process == os.getpid():
            cache.close(wait_s=_WAIT_AT_EXIT_S)


# Parameters that change how a question is sent, but not its answer.
_TRANSPORT = {"user", "safety_identifier", "service_tier", "metadata", "store", "prompt_cache_key", "stream_options"}


def digest_question(provider: str, path: str, body: Mapping[str, Any]) -> str:
    """Return a digest of a question: provider, API path, model, messages, schema and parameters."""
    question = [provider, path, {name: body[name] for name in sorted(body) if name not in _TRANSPORT}]
    try:
        text = dump(question)
    except PydanticSerializationError:
        text = dump(to_stable_plain(question))
    return blake2b(text, digest_size=16).hexdigest()


def build_key(question: str, *, repeat: int, occurrence: int) -> bytes:
    """Return the key of an answer. Another repeat, or the same question again, has another key."""
    return blake2b(f"{question} {repeat} {occurrence}".encode(), digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """The entry of one answer in a cache; `reads` is False if the model is asked again."""

    cache: Cache
    account: CallAccounting
    question: str
    key: tuple[Path, bytes]
    reads: bool

    def read(self) -> StoredAnswer | None:
        """Return the answer if it is stored and may be used."""
        return self.cache.get(self.key[1]) if self.reads else None

    def store(self, body: bytes, *, model: str) -> StoredAnswer:
        """Store the answer."""
        return self.cache.put(self.key[1], body, model=model)

    def count_question(self) -> None:
        """Count the question, so that the next same question has another key."""
        self.account.meter.add_question(self.question)


def find_entry(call: Call, account: CallAccounting) -> CacheEntry | None:
    """Return the cache entry of a call; None if the cache is off."""
    settings = account.settings
    if settings.cache is CacheMode.OFF:
        return None
    cache = get_cache(settings.cache_folder, writes=settings.cache is not CacheMode.READONLY)
    question = digest_question(call.provider, call.path, call.question)
    key = build_key(question, repeat=account.meter.repeat, occurrence=account.meter.count_question(question))
    return CacheEntry(cache, account, question, (settings.cache_folder, key), settings.cache is not CacheMode.REFRESH)
