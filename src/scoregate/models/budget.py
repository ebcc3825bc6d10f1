"""What a run may spend, and has spent: one sum over all its processes."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from scoregate.core.evaluation import Usage
from scoregate.errors import BudgetSpent
from scoregate.models.surroundings import Surroundings

_BEGUN, _ENDED = "+", "-"


class Purse:
    """What is spent and about to be, as a file to which every process of the run appends a line for all that happens.

    A line is appended in one call, so that no two mix; what others wrote is read on from where we were. A call is
    announced before it is weighed: of two processes that ask at once, each sees the other's.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._read_to = 0
        self._rest = b""
        self.cost = 0.0
        self.tokens = 0
        self.calls = 0
        self.under_way = 0

    def spend(self, usage: Usage) -> None:
        """Add an answer's tokens and dollars."""
        with self._lock:
            self._tell(f"{usage.cost or 0.0!r} {usage.input_tokens + usage.output_tokens}")

    def check(self, around: Surroundings) -> None:
        """Whether one more call is within the budget, if all under way take what the calls so far took on average.

        Before the first answer nothing is known of that, so that calls which begin at once, begin.

        Raises:
            BudgetSpent: it is not.
        """
        with self._lock:
            self._tell(_BEGUN)
            self._read_on()
            share = self.under_way / max(1, self.calls)
            cost, tokens = self.cost * (1 + share), self.tokens * (1 + share)
            what = None
            if around.max_cost is not None and (cost > around.max_cost or self.cost >= around.max_cost):
                what = f"${self.cost:.4f} of max_cost = ${around.max_cost:g}"
            elif around.max_tokens is not None and (tokens > around.max_tokens or self.tokens >= around.max_tokens):
                what = f"{self.tokens:,} tokens of max_tokens = {around.max_tokens:,.0f}"
            if what is not None:
                self._tell(_ENDED)
                raise _spent(what)

    def over(self) -> None:
        """A call that was checked has ended."""
        with self._lock:
            self._tell(_ENDED)

    def _tell(self, line: str) -> None:
        if self._path is None:
            self._count(line)
            return
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            os.write(descriptor, f"{line}\n".encode())
        finally:
            os.close(descriptor)

    def _read_on(self) -> None:
        if self._path is None:
            return
        with self._path.open("rb") as file:
            file.seek(self._read_to)
            new = file.read()
        self._read_to += len(new)
        *lines, self._rest = (self._rest + new).split(b"\n")
        for line in lines:
            self._count(line.decode())

    def _count(self, line: str) -> None:
        if line in (_BEGUN, _ENDED):
            self.under_way += 1 if line == _BEGUN else -1
            return
        cost, tokens = line.split()
        self.cost += float(cost)
        self.tokens += int(tokens)
        self.calls += 1


def _spent(what: str) -> BudgetSpent:
    return BudgetSpent(
        f"the budget is spent: {what}; this call was not made",
        advice="Raise the limit (--max-cost, --max-tokens), or run fewer cases (--max-cases).",
    )


_purses: dict[Path | None, Purse] = {}
_lock = threading.Lock()


def purse_of(around: Surroundings) -> Purse | None:
    """The run's; None where it may spend what it likes."""
    if around.max_cost is None and around.max_tokens is None:
        return None
    with _lock:
        return _purses.setdefault(around.spent, Purse(around.spent))
