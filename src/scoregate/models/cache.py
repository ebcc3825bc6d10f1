"""Answers kept in an SQLite file that processes share; bounded, and pruned of what was not used for longest."""

from __future__ import annotations

import atexit
import contextlib
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from pydantic_core import PydanticSerializationError

from scoregate.core.json_io import dump, sort_sets, to_plain
from scoregate.models.budget import CallAccounting
from scoregate.models.calls import Call
from scoregate.models.settings import CacheMode

FILE = "answers.sqlite"
MOST_BYTES = 512 * 1024 * 1024
_SCHEMA = 1
_WAIT_S = 30.0
_WAIT_AT_EXIT_S = 1.0
# Looked at so seldom: whether the file has grown too large, and whether an answer is still used.
_STORES_BETWEEN_LOOKS = 200
_STALE_S = 6 * 3600
_TABLE = """CREATE TABLE IF NOT EXISTS answers (
    key BLOB PRIMARY KEY, name TEXT NOT NULL, model TEXT NOT NULL, body BLOB NOT NULL, used INTEGER NOT NULL
)"""


class Stored(NamedTuple):
    """An answer as the server gave it; `name` is its own, another for every answer ever kept."""

    name: str
    body: bytes


class Cache:
    """The answers in one folder. Every trouble with the file is a miss: a cache never stands in the way.

    Args:
        folder: made when there is something to keep, with a .gitignore that hides it. writes: False only reads.
        most_bytes: of the file; over that, what was not used for longest goes, until 4/5 are left.
    """

    def __init__(self, folder: Path, *, writes: bool = True, most_bytes: int = MOST_BYTES) -> None:
        self._folder, self._writes, self._most = folder, writes, most_bytes
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._tried = False
        self._stores = 0

    def get(self, key: bytes) -> Stored | None:
        """The answer that is kept under a key."""
        with self._lock, contextlib.suppress(sqlite3.Error):
            if (connection := self._opened(to_write=False)) is None:
                return None
            row = connection.execute("SELECT name, body, used FROM answers WHERE key = ?", (key,)).fetchone()
            if row is None:
                return None
            if self._writes and (now := int(time.time())) - row[2] > _STALE_S:
                connection.execute("UPDATE answers SET used = ? WHERE key = ?", (now, key))
            return Stored(row[0], row[1])
        return None

    def put(self, key: bytes, body: bytes, *, model: str) -> Stored:
        """Keep an answer, instead of an older one under the key."""
        stored = Stored(secrets.token_hex(8), body)
        with self._lock, contextlib.suppress(sqlite3.Error, OSError):
            if self._writes and (connection := self._opened(to_write=True)) is not None:
                row = (key, stored.name, model, body, int(time.time()))
                connection.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?)", row)
                if self._stores % _STORES_BETWEEN_LOOKS == 0:
                    self._prune(connection)
                self._stores += 1
        return stored

    def prune(self) -> None:
        """Bring the file below its bound."""
        with self._lock, contextlib.suppress(sqlite3.Error, OSError):
            if self._writes and (connection := self._opened(to_write=True)) is not None:
                self._prune(connection)

    def close(self, *, wait_s: float = -1) -> None:
        """Let go of the file; what is written is complete.

        Args:
            wait_s: how long to wait for a thread that uses the file, which then keeps it; negative: until it is done.
        """
        if self._lock.acquire(timeout=wait_s):
            try:
                if self._connection is not None:
                    self._connection.close()
                self._connection, self._tried = None, False
            finally:
                self._lock.release()

    def _opened(self, *, to_write: bool) -> sqlite3.Connection | None:
        if self._connection is None:
            path = self._folder / FILE
            if to_write or (not self._tried and path.exists()):
                self._tried = True
                self._connection = self._open_to_write(path) if self._writes else _open_to_read(path)
        return self._connection

    def _open_to_write(self, path: Path) -> sqlite3.Connection:
        _make(self._folder)
        path.touch()  # sqlite would leave the group of its folder no right to write to it
        connection = sqlite3.connect(path, timeout=_WAIT_S, isolation_level=None, check_same_thread=False)
        try:
            _prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prune(self, connection: sqlite3.Connection) -> None:
        size = sum(_pragma(connection, name) * sign for name, sign in (("page_count", 1), ("freelist_count", -1)))
        page = _pragma(connection, "page_size")
        if size * page <= self._most:
            return
        count = connection.execute("SELECT count(*) FROM answers").fetchone()[0]
        surplus = int(count * (1 - 0.8 * self._most / (size * page))) + 1
        connection.execute(
            "DELETE FROM answers WHERE key IN (SELECT key FROM answers ORDER BY used LIMIT ?)", (surplus,)
        )
        connection.executescript("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(PASSIVE)")


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    if _pragma(connection, "user_version") not in (0, _SCHEMA):
        connection.execute("DROP TABLE IF EXISTS answers")
    connection.execute(_TABLE)
    connection.execute(f"PRAGMA user_version = {_SCHEMA}")


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


def _make(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n")


def _open_to_read(path: Path) -> sqlite3.Connection:
    """Also where nothing may be written beside it, as in a checkout that somebody else owns."""
    for options in ("mode=ro", "mode=ro&immutable=1"):
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?{options}", uri=True, check_same_thread=False)
        with contextlib.suppress(sqlite3.Error):
            connection.execute("SELECT count(*) FROM answers LIMIT 1").fetchone()
            return connection
        connection.close()
    raise sqlite3.OperationalError(f"{path} cannot be read")


_caches: dict[tuple[Path, bool, int], Cache] = {}
_lock = threading.Lock()


def cache_in(folder: Path, *, writes: bool) -> Cache:
    """The one of this process for a folder; a forked child gets its own."""
    with _lock:
        place = (folder, writes, os.getpid())
        if place not in _caches:
            _caches[place] = Cache(folder, writes=writes)
        return _caches[place]


@atexit.register
def _close_caches() -> None:
    """Close the files of this process. A parent's connections are not closed in a fork: SQLite forbids it."""
    for (_, _, process), cache in list(_caches.items()):
        if process == os.getpid():
            cache.close(wait_s=_WAIT_AT_EXIT_S)


# How a question is sent, not what is asked.
_TRANSPORT = {"user", "safety_identifier", "service_tier", "metadata", "store", "prompt_cache_key", "stream_options"}


def question_of(provider: str, path: str, body: Mapping[str, Any]) -> str:
    """A digest of a question: provider, kind of answer, model, messages, schema and parameters."""
    asked = {name: body[name] for name in sorted(body) if name not in _TRANSPORT}
    return blake2b(_written([provider, path, asked]), digest_size=16).hexdigest()


def _written(value: object) -> bytes:
    try:
        return dump(value)
    except PydanticSerializationError:
        return dump(to_plain(sort_sets(value)))


def key_of(question: str, *, repeat: int, occurrence: int) -> bytes:
    """The key under which the answer is kept; another repeat, or the same question again, is another one."""
    return blake2b(f"{question} {repeat} {occurrence}".encode(), digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """One answer's place in a cache; `reads` is False where it is to be asked anew."""

    cache: Cache
    account: CallAccounting
    question: str
    key: tuple[Path, bytes]
    reads: bool

    def read(self) -> Stored | None:
        """The answer, if it is there and may be used."""
        return self.cache.get(self.key[1]) if self.reads else None

    def keep(self, body: bytes, *, model: str) -> Stored:
        """Put it there."""
        return self.cache.put(self.key[1], body, model=model)

    def count(self) -> None:
        """The question was asked here: the next time it is another one."""
        self.account.meter.ask(self.question)


def place_of(call: Call, account: CallAccounting) -> CacheEntry | None:
    """Where its answer is kept; None where nothing is."""
    around = account.around
    if around.cache is CacheMode.OFF:
        return None
    cache = cache_in(around.cache_folder, writes=around.cache is not CacheMode.READONLY)
    question = question_of(call.provider, call.path, call.question)
    key = key_of(question, repeat=account.meter.repeat, occurrence=account.meter.asked(question))
    return CacheEntry(cache, account, question, (around.cache_folder, key), around.cache is not CacheMode.REFRESH)
