"""The rate limits of models in a run on several machines: one limiter for each model, which gives permits to calls."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import field
from functools import cache, partial
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, TypeAdapter, ValidationError

from scoregate.kernel.types.records import record
from scoregate.models.rate_limit import Limiter, Permit

# A process alone has at most a hundred running calls. Permits are on their way for a part of a call's time, so few
# calls at a time could not reach the rate that a server accepts.
_MOST_RUNNING, _LEAST_RUNNING = 1_000, 100
# Permits take different times to their workers.
_RESERVE = 0.3
_MOST_LIMITERS, _MOST_LEASES = 1_000, 10_000
_LONGEST_MESSAGE = 16 * 1024

_Name: TypeAlias = Annotated[str, Field(max_length=1000)]
_HeaderText: TypeAlias = Annotated[str, Field(max_length=100)]
_Seconds: TypeAlias = Annotated[float, Field(ge=0, le=86_400, allow_inf_nan=False)]
# The connection of a process at its worker, and the number of the call on it.
_CallName: TypeAlias = tuple[int, int]


@record
class CallMessage:
    """What a suite's process reports of a call.

    Attributes:
        do: `acquire`: the call waits for a permit. The others return it: `release` after an answer or a failure,
            `refused` after a rate limit, `cancel` if the call was not made.
        id: the number of the call.
        address: the base URL of the provider.
        model: the name of the model.
        retry: whether the call was refused before.
        answered: whether the call was answered.
        headers: the limits in the headers of the answer.
        after_s: the pause in seconds that the provider asks for.
        took_s: the time from the permit's arrival to the answer's, in seconds.
    """

    do: Literal["acquire", "release", "refused", "cancel"]
    id: Annotated[int, Field(ge=1, le=2**53)]
    address: _Name = ""
    model: _Name = ""
    retry: bool = False
    answered: bool = False
    headers: Annotated[Mapping[_HeaderText, _HeaderText], Field(max_length=20)] = field(default_factory=dict)
    after_s: _Seconds | None = None
    took_s: _Seconds | None = None


@cache
def _adapter() -> TypeAdapter[Any]:
    return TypeAdapter(CallMessage)


class RateLimits:
    """One limiter for each model at an address, for all processes of a run."""

    def __init__(self) -> None:
        self._limiters: dict[tuple[str, str], Limiter] = {}

    def find(self, address: str, model: str) -> Limiter:
        """The limiter of a model."""
        key = (address, model)
        if key not in self._limiters and len(self._limiters) >= _MOST_LIMITERS:
            key = ("", "")  # suites choose the names of models
        return self._limiters.setdefault(key, Limiter(_MOST_RUNNING, min_running=_LEAST_RUNNING, reserve=_RESERVE))


class CallLeases:
    """The permits of an attempt of a part. They end with it, so those of a dead worker return.

    Args:
        limits: the limits of the run.
        grant: gets the connection and the number of a call that may start, in any thread.
    """

    def __init__(self, limits: RateLimits, grant: Callable[[int, int], None]) -> None:
        self._limits, self._grant = limits, grant
        self._leases: dict[_CallName, tuple[Limiter, Permit | Future[Permit]]] = {}

    def receive(self, connection: int, line: bytes) -> None:
        """Take a message of a process, or its end, which is empty.

        Raises:
            ValueError: it is not valid.
        """
        if not line:
            self._end([name for name in self._leases if name[0] == connection])
            return
        if len(line) > _LONGEST_MESSAGE:
            raise ValueError(f"a message about a call has {len(line):,} bytes")
        try:
            message: CallMessage = _adapter().validate_json(line)
        except ValidationError as error:
            raise ValueError(f"a message about a call is not valid: {error.errors()[0]['msg']}") from None
        name = (connection, message.id)
        if message.do == "acquire":
            self._acquire(name, message)
        elif name in self._leases:
            self._release(*self._leases.pop(name), message)

    def close(self) -> None:
        """Return all permits."""
        self._end(list(self._leases))

    def _end(self, names: Sequence[_CallName]) -> None:
        leases = [self._leases.pop(name) for name in names]
        # Those that wait go first, or they would get what the others return.
        for limiter, permit in sorted(leases, key=lambda lease: not isinstance(lease[1], Future) or lease[1].done()):
            self._return(limiter, permit)

    def _acquire(self, name: _CallName, message: CallMessage) -> None:
        if name in self._leases or len(self._leases) >= _MOST_LEASES:
            raise ValueError("a suite asks for too many calls at a time")
        limiter = self._limits.find(message.address, message.model)
        permit = limiter.acquire(is_retry=message.retry)
        self._leases[name] = limiter, permit
        if isinstance(permit, Future):
            permit.add_done_callback(partial(self._notify, name))
        else:
            self._grant(*name)

    def _notify(self, name: _CallName, permit: Future[Permit]) -> None:
        if not permit.cancelled():
            self._grant(*name)

    def _release(self, limiter: Limiter, permit: Permit | Future[Permit], message: CallMessage) -> None:
        if isinstance(permit, Future) and not permit.done():
            limiter.cancel(permit)
            return
        issued = permit.result() if isinstance(permit, Future) else permit
        if message.do == "cancel":
            limiter.give_back(issued)
            return
        if message.took_s is not None:  # it started when the permit arrived, and not when it was issued
            issued = Permit(issued.number, max(issued.started_at, time.monotonic() - message.took_s))
        if message.do == "refused":
            limiter.release_refused(issued, message.headers, message.after_s)
        else:
            limiter.release(issued, headers=message.headers, is_answered=message.answered)

    def _return(self, limiter: Limiter, permit: Permit | Future[Permit]) -> None:
        """Return the permit of a process that ended; it may have sent its call."""
        if isinstance(permit, Future) and not permit.done():
            limiter.cancel(permit)
        else:
            limiter.release(permit.result() if isinstance(permit, Future) else permit, is_answered=False)
