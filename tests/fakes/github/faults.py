"""What goes wrong on demand: refusals, lost answers, dropped connections, slowness, and races."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from tests.fakes.github.exchange import Exchange


@dataclass
class Fault:
    """One thing that goes wrong `times` times; with `after`, the request is carried out first."""

    method: str
    path: str
    status: int | None = None
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    times: float = 1
    after: bool = False
    drop: bool = False
    delay: float = 0.0

    def hits(self, exchange: Exchange) -> bool:
        return self.times > 0 and matches(self.method, self.path, exchange)


@dataclass
class Hook:
    method: str
    path: str
    call: Callable[[Exchange], None]
    times: float = 1


def matches(method: str, path: str, exchange: Exchange) -> bool:
    return method in ("*", exchange.method) and fnmatchcase(exchange.path, path)


class Faulty:
    """A server on which things can be made to go wrong; paths are globs, as "*/issues/*/comments"."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.violations: list[str] = []
        self.hooks: list[Hook] = []

    def fail(
        self,
        method: str,
        path: str,
        *,
        status: int = 500,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        times: float = 1,
        after: bool = False,
    ) -> Fault:
        """Answer with a status; after=True carries the request out first. `times` may be math.inf."""
        return self._add(Fault(method, path, status, body, headers or {}, times, after))

    def drop(self, method: str, path: str, *, times: float = 1, after: bool = False) -> Fault:
        """Close the connection instead of answering; after=True carries the request out first."""
        return self._add(Fault(method, path, times=times, after=after, drop=True))

    def slow(self, method: str, path: str, seconds: float, *, times: float = 1) -> Fault:
        """Wait for some seconds before handling the request normally."""
        return self._add(Fault(method, path, times=times, delay=seconds))

    def rate_limit(
        self,
        method: str,
        path: str,
        *,
        status: int = 403,
        retry_after: int | None = None,
        reset_in: int | None = None,
        times: float = 1,
    ) -> Fault:
        """A secondary limit (retry_after, in seconds) or the primary one (reset_in, in seconds from now)."""
        if reset_in is None:
            headers = {} if retry_after is None else {"retry-after": str(retry_after)}
            message = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
        else:
            headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(time.time()) + reset_in)}
            message = "API rate limit exceeded for installation."
        return self.fail(method, path, status=status, body={"message": message}, headers=headers, times=times)

    def before(self, method: str, path: str, call: Callable[[Exchange], None], *, times: float = 1) -> None:
        """Call a function before a request is handled: what another user does in that moment."""
        self.hooks.append(Hook(method, path, call, times))

    def take_fault(self, exchange: Exchange) -> Fault | None:
        for fault in self.faults:
            if fault.hits(exchange):
                fault.times -= 1
                return fault
        return None

    def take_hooks(self, exchange: Exchange) -> list[Callable[[Exchange], None]]:
        due = [hook for hook in self.hooks if hook.times > 0 and matches(hook.method, hook.path, exchange)]
        for hook in due:
            hook.times -= 1
        return [hook.call for hook in due]

    def _add(self, fault: Fault) -> Fault:
        self.faults.append(fault)
        return fault
