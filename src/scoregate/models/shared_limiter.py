"""The limiter of a run on several machines, as a suite's process sees it: it asks the host for permits."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

from pydantic_core import to_json

from scoregate.errors import Unreachable
from scoregate.models.rate_limit import Limiter, Permit, get_limiter

# Set by the worker that runs the suite: the path of a Unix socket.
LIMITS_VARIABLE = "SCOREGATE_LIMITS"
_LIMIT_HEADERS = "x-ratelimit-"
_MOST_HEADERS, _LONGEST = 20, 100
_CONNECT_S = 10.0


class _Request(Future[Permit]):
    """A permit that was asked for; `number` is the call's."""

    number = 0


class PermitLink:
    """A connection on which this process asks for permits. Without it, no call starts.

    Args:
        path: the path of the socket.

    Raises:
        OSError: nothing listens there.
    """

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(_CONNECT_S)
        try:
            self._socket.connect(path)
        except OSError:
            self._socket.close()
            raise
        self._socket.settimeout(None)  # a permit may take minutes
        self._lock = threading.Lock()
        self._waiting: dict[int, _Request] = {}
        self._number = 0
        self._is_lost = False
        threading.Thread(target=self._read_permits, name="scoregate-permits", daemon=True).start()

    def acquire(self, address: str, model: str, *, is_retry: bool) -> Future[Permit]:
        """Ask for a permit."""
        request = _Request()
        with self._lock:
            self._number += 1
            request.number = self._number
            self._waiting[request.number] = request
        self.send({"do": "acquire", "id": request.number, "address": address, "model": model, "retry": is_retry})
        return request

    def cancel(self, future: Future[Permit]) -> None:
        """Stop waiting for a permit, or return it if it has arrived."""
        assert isinstance(future, _Request)
        with self._lock:
            self._waiting.pop(future.number, None)
        future.cancel()
        self.send({"do": "cancel", "id": future.number})

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message; if the connection is lost, all calls that wait end."""
        with self._lock:
            try:
                if not self._is_lost:
                    self._socket.sendall(to_json(message) + b"\n")
            except OSError:
                self._is_lost = True
        if self._is_lost:  # without the lock, which `_end` takes itself
            self._end()

    def _read_permits(self) -> None:
        rest = b""
        with suppress(OSError), self._socket:
            while chunk := self._socket.recv(1 << 16):
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    self._take_permit(int(line))
        self._end()

    def _take_permit(self, number: int) -> None:
        with self._lock:
            future = self._waiting.pop(number, None)
        if future is not None and future.set_running_or_notify_cancel():
            future.set_result(Permit(number, time.monotonic()))

    def _end(self) -> None:
        with self._lock:
            self._is_lost = True
            waiting, self._waiting = list(self._waiting.values()), {}
        for request in waiting:
            if request.set_running_or_notify_cancel():
                request.set_exception(
                    Unreachable("the rate limits of the run can't be reached, so this call was not made")
                )


class SharedLimiter:
    """A `Limiter` that all processes of a run share.

    Args:
        link: the connection to it.
        address: the base URL of the provider.
        model: the name of the model.
    """

    def __init__(self, link: PermitLink, address: str, model: str) -> None:
        self._link, self._address, self._model = link, address, model

    def acquire(self, *, is_retry: bool = False) -> Permit | Future[Permit]:
        """Return a future of a permit; a retry goes to the front of the queue."""
        return self._link.acquire(self._address, self._model, is_retry=is_retry)

    def release(self, permit: Permit, *, headers: Mapping[str, str] | None = None, is_answered: bool = True) -> None:
        """End an attempt that was answered, or failed for another reason than a rate limit."""
        limits = _filter_headers(headers or {})
        self._link.send({"do": "release", **_describe(permit), "headers": limits, "answered": is_answered})

    def release_refused(self, permit: Permit, headers: Mapping[str, str], after_s: float | None) -> None:
        """End an attempt that the server refused because of a rate limit.

        Args:
            permit: the permit of the attempt.
            headers: the headers of the response.
            after_s: the pause in seconds that the server asks for; None if it names none.
        """
        limits = _filter_headers(headers)
        self._link.send({"do": "refused", **_describe(permit), "headers": limits, "after_s": after_s})

    def give_back(self, permit: Permit) -> None:
        """Return the permit of an attempt that was not sent."""
        self._link.send({"do": "cancel", "id": permit.number})

    def cancel(self, future: Future[Permit]) -> None:
        """Stop waiting for a permit, or return it if it has been issued."""
        self._link.cancel(future)


def _describe(permit: Permit) -> dict[str, Any]:
    # A duration, since the clock of the host is another one.
    return {"id": permit.number, "took_s": time.monotonic() - permit.started_at}


def _filter_headers(headers: Mapping[str, str]) -> dict[str, str]:
    named = ((name.lower(), value) for name, value in headers.items())
    limits = [(name, value[:_LONGEST]) for name, value in named if name.startswith(_LIMIT_HEADERS)]
    return dict(limits[:_MOST_HEADERS])


_links: dict[tuple[int, str], PermitLink] = {}
_lock = threading.Lock()


def find_limiter(address: str, model: str) -> Limiter | SharedLimiter:
    """The limiter for a model at an address: that of the run on several machines, or that of this process.

    Raises:
        Unreachable: the limits of the run can't be reached.
    """
    path = os.environ.get(LIMITS_VARIABLE)
    if not path:
        return get_limiter(address, model)
    with _lock:
        key = (os.getpid(), path)  # a fork needs a connection of its own
        if key not in _links:
            try:
                _links[key] = PermitLink(path)
            except OSError as error:
                raise Unreachable(f"the rate limits of the run can't be reached: {error}") from None
        return SharedLimiter(_links[key], address, model)
