"""A socket on a worker, over which suites ask the host for permits of calls."""

from __future__ import annotations

import shutil
import socket
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from socketserver import StreamRequestHandler, ThreadingMixIn, UnixStreamServer
from typing import TypeAlias

_MOST_CONNECTIONS = 500
_LONGEST_MESSAGE = 16 * 1024
# The path of a Unix socket has at most 103 bytes on macOS.
_LONGEST_FOLDER = 70
_CLOSE_POLL_S = 0.05

# The number of a connection and a message of it; an empty one is its end.
CallLine: TypeAlias = tuple[int, bytes]


class CallRelay(ThreadingMixIn, UnixStreamServer):
    """Passes messages of suites on, and permits back.

    Args:
        path: where it listens.
        send: gets the messages, in the thread of a connection.
    """

    daemon_threads = True
    block_on_close = False  # suites that still run keep their connections open

    def __init__(self, path: str, send: Callable[[list[CallLine]], None]) -> None:
        super().__init__(path, _Handler)
        self.path, self.send = path, send
        self._sockets: dict[int, socket.socket] = {}
        self._lock = threading.Lock()
        self._number = 0

    def add(self, connection: socket.socket) -> int:
        """Add a connection; returns its number, or 0 if there are too many."""
        with self._lock:
            if len(self._sockets) >= _MOST_CONNECTIONS:
                return 0
            self._number += 1
            self._sockets[self._number] = connection
            return self._number

    def remove(self, number: int) -> None:
        """Remove a connection."""
        with self._lock:
            self._sockets.pop(number, None)

    def deliver(self, permits: Iterable[tuple[int, int]]) -> None:
        """Send permits, by connection and number of the call. A process that doesn't read them loses its connection."""
        for connection, number in permits:
            with self._lock:
                target = self._sockets.get(connection)
            if target is not None and not _send_at_once(target, b"%d\n" % number):
                self._end(connection, target)

    def end_connections(self) -> None:
        """End all connections, so that no process waits for a permit."""
        with self._lock:
            sockets = dict(self._sockets)
        for number, target in sockets.items():
            self._end(number, target)

    def _end(self, number: int, target: socket.socket) -> None:
        self.remove(number)
        with suppress(OSError):  # it is closed already
            target.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: object, client_address: object) -> None:
        """A process that ended is no problem of the worker."""


def _send_at_once(target: socket.socket, line: bytes) -> bool:
    """Whether a line could be sent without waiting."""
    try:
        return target.send(line, socket.MSG_DONTWAIT) == len(line)
    except OSError:
        return False


class _Handler(StreamRequestHandler):
    server: CallRelay

    def handle(self) -> None:
        number = self.server.add(self.connection)
        rest = b""
        try:
            while number and len(rest) <= _LONGEST_MESSAGE and (chunk := self.connection.recv(1 << 16)):
                *lines, rest = (rest + chunk).split(b"\n")
                if lines:
                    self.server.send([(number, line) for line in lines if line])
        finally:
            self.server.remove(number)
            if number:
                self.server.send([(number, b"")])


@contextmanager
def open_call_relay(send: Callable[[list[CallLine]], None]) -> Iterator[CallRelay]:
    """Listen in a folder that only this user can read, until the block ends.

    Args:
        send: gets the messages, in the thread of a connection.
    """
    is_long = len(tempfile.gettempdir().encode()) > _LONGEST_FOLDER
    folder = tempfile.mkdtemp(prefix="scoregate-", dir="/tmp" if is_long else None)
    try:
        with CallRelay(f"{folder}/calls", send) as relay:
            serving = threading.Thread(target=relay.serve_forever, args=(_CLOSE_POLL_S,), daemon=True)
            serving.start()
            try:
                yield relay
            finally:
                relay.shutdown()
                serving.join()
                relay.end_connections()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
