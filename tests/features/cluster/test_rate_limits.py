"""Rate limits of all workers: permits over a socket, what returns them, and messages that are not valid."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

import pytest

from scoregate.errors import Unreachable
from scoregate.features.cluster.call_relay import CallRelay, open_call_relay
from scoregate.features.cluster.rate_limits import CallLeases, RateLimits
from scoregate.models.rate_limit import Permit
from scoregate.models.shared_limiter import PermitLink, SharedLimiter, find_limiter


@contextmanager
def open_part(limits: RateLimits) -> Iterator[tuple[CallRelay, CallLeases]]:
    """A part on a worker whose messages reach the host immediately."""
    leases = CallLeases(limits, lambda connection, number: relay.deliver([(connection, number)]))

    def send(lines: list[tuple[int, bytes]]) -> None:
        for connection, line in lines:
            leases.receive(connection, line)

    with open_call_relay(send) as relay:
        yield relay, leases


def ask(limiter: Any, *, timeout: float = 60.0) -> Permit:
    future = limiter.acquire()
    assert isinstance(future, Future)
    return future.result(timeout)


def message(do: str, number: int, **more: Any) -> bytes:
    return json.dumps({"do": do, "id": number, "address": "a", "model": "m", **more}).encode()


def test_limits_are_shared_with_processes_on_other_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = RateLimits()
    with open_part(limits) as (one, _), open_part(limits) as (two, _):
        monkeypatch.setenv("SCOREGATE_LIMITS", one.path)
        first = find_limiter("a", "m")
        monkeypatch.setenv("SCOREGATE_LIMITS", two.path)
        second = find_limiter("a", "m")
        assert isinstance(first, SharedLimiter)
        first.release_refused(ask(first), {"X-RateLimit-Remaining-Requests": "0", "Set-Cookie": "secret"}, 0.6)
        while limits.find("a", "m").paused_until == 0.0:  # the message is on its way
            time.sleep(0.01)
        second.release(ask(second))
        assert time.monotonic() >= limits.find("a", "m").paused_until
        ask(find_limiter("a", "other"))
        assert limits.find("a", "other").paused_until == 0.0


def test_permits_of_an_ended_process_return() -> None:
    limits = RateLimits()
    with open_part(limits) as (relay, _):
        limiter = limits.find("a", "m")
        limiter._allowed_running = 1.0  # one call at a time
        with socket.socket(socket.AF_UNIX) as process:
            process.connect(relay.path)
            process.sendall(message("acquire", 1) + b"\n")
            assert process.recv(10) == b"1\n"
            link = PermitLink(relay.path)
            waiting = SharedLimiter(link, "a", "m").acquire()
            assert isinstance(waiting, Future)
            with pytest.raises(TimeoutError):
                waiting.result(0.2)
        assert waiting.result(60).number == 1


def test_permits_of_a_dead_worker_return_and_no_call_starts_without_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = RateLimits()
    limits.find("a", "m")._allowed_running = 1.0
    with open_part(limits) as (alive, _):
        with open_part(limits) as (dead, leases):
            held = SharedLimiter(PermitLink(dead.path), "a", "m")
            ask(held)
            later, cancelled = held.acquire(), held.acquire()
            assert isinstance(later, Future)
            assert isinstance(cancelled, Future)
            held.cancel(cancelled)
            waiting = SharedLimiter(PermitLink(alive.path), "a", "m").acquire()
            assert isinstance(waiting, Future)
            time.sleep(0.1)
            assert not waiting.done()
            leases.close()  # as if the worker were gone
        assert waiting.result(60)
        with pytest.raises(Unreachable, match="can't be reached"):
            later.result(60)
        with pytest.raises(Unreachable):
            held.acquire().result(60)
    monkeypatch.setenv("SCOREGATE_LIMITS", dead.path)
    with pytest.raises(Unreachable):
        find_limiter("a", "m")


def test_invalid_messages_are_refused() -> None:
    granted: list[tuple[int, int]] = []
    leases = CallLeases(RateLimits(), lambda connection, number: granted.append((connection, number)))
    bad: dict[str, bytes] = {
        "not valid": b"{",
        "Input should be": message("spend", 1),
        "less than or equal": message("refused", 1, after_s=1e9),
        "finite": b'{"do": "refused", "id": 1, "after_s": NaN}',
        "at most 100": message("release", 1, headers={"x-ratelimit-reset-requests": "1" * 200}),
        "bytes": message("acquire", 1, model="m" * 20_000),
        "at most 1000": message("acquire", 1, model="m" * 2_000),
    }
    for problem, line in bad.items():
        with pytest.raises(ValueError, match=problem):
            leases.receive(1, line)
    leases.receive(1, message("release", 7))  # nothing was given
    leases.receive(1, message("acquire", 1))
    with pytest.raises(ValueError, match="too many calls"):
        leases.receive(1, message("acquire", 1))
    assert granted == [(1, 1)]


def test_a_process_that_does_not_read_its_permits_loses_its_connection() -> None:
    with open_part(RateLimits()) as (relay, _), socket.socket(socket.AF_UNIX) as process:
        process.connect(relay.path)
        process.sendall(message("acquire", 1) + b"\n")
        assert process.recv(10) == b"1\n"
        started = time.monotonic()
        relay.deliver((1, 2**50) for _ in range(1_000_000))
        assert time.monotonic() - started < 30
        while process.recv(1 << 20):
            pass
