"""What a run may spend, and has spent: one sum over all its processes."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any

from scoregate.core.evaluation import Usage
from scoregate.core.usage import UsageMeter, current_meter, suite_meter
from scoregate.errors import BudgetSpent
from scoregate.models.settings import ModelSettings, Price, surroundings

_BEGUN, _ENDED = "+", "-"


class RunBudget:
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

    def check(self, around: ModelSettings) -> None:
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


_purses: dict[Path | None, RunBudget] = {}
_lock = threading.Lock()


def purse_of(around: ModelSettings) -> RunBudget | None:
    """The run's; None where it may spend what it likes."""
    if around.max_cost is None and around.max_tokens is None:
        return None
    with _lock:
        return _purses.setdefault(around.spent, RunBudget(around.spent))


# Up to so many tokens a request no price depends on their number.
_FLAT = 50_000
_told = set[str]()
_prices_lock = threading.Lock()


def priced(usage: Usage, *, provider: str, model: str, prices: Mapping[str, Price]) -> Usage:
    """The usage with its cost in dollars; None, and told once, where nobody knows the price.

    Args:
        prices: the project's own, by globs of names; the last that fits counts.
    """
    own = _own(prices, provider, model)
    cost = _cost(own, usage) if own else _known(usage, provider, model)
    if cost is None:
        _tell(f"{provider}/{model}")
    return replace(usage, cost=cost)


def _own(prices: Mapping[str, Price], provider: str, model: str) -> Price | None:
    names = (model, f"{provider}/{model}")
    return next(
        (prices[glob] for glob in reversed(list(prices)) if any(fnmatchcase(name, glob) for name in names)), None
    )


def _cost(price: Price, usage: Usage) -> float:
    cached = price.input if price.cached is None else price.cached
    fresh = max(0, usage.input_tokens - usage.cached_tokens)
    return (fresh * price.input + usage.cached_tokens * cached + usage.output_tokens * price.output) / 1e6


def _known(usage: Usage, provider: str, model: str) -> float | None:
    if usage.input_tokens > _FLAT:
        return _asked(usage, provider, model)
    price = _flat(provider, model)
    return None if price is None else _cost(price, usage)


@lru_cache(maxsize=256)
def _flat(provider: str, model: str) -> Price | None:
    """The price of short requests: its model is looked for once, which takes longer than all the rest."""
    parts = (Usage(_FLAT), Usage(0, _FLAT), Usage(_FLAT, 0, _FLAT))
    each = [_asked(part, provider, model) for part in parts]
    costs = [cost * 1e6 / _FLAT for cost in each if cost is not None]
    return Price(*costs) if len(costs) == len(parts) else None


def _asked(usage: Usage, provider: str, model: str) -> float | None:
    try:
        import genai_prices
    except ImportError:
        return None
    used = genai_prices.Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cached_tokens or None,
    )
    for known in (_THEIRS.get(provider, provider), None):
        try:
            return float(genai_prices.calc_price(used, model, provider_id=known).total_price)
        except (LookupError, ValueError):
            continue
    return None


# What genai-prices calls a provider, where that differs.
_THEIRS = {"gemini": "google", "xai": "x-ai"}


def _tell(name: str) -> None:
    with _prices_lock:
        if name in _told:
            return
        _told.add(name)
    print(
        f'scoregate: the price of {name} is not known, so its cost is not counted; set it as [prices."{name}"]',
        file=sys.stderr,
    )


def surroundings_here() -> ModelSettings:
    """What the environment says: within a suite what it said at its first call, since that is asked at every one."""
    suite = suite_meter()
    if suite is None:
        return surroundings()
    if not isinstance(suite.memo, ModelSettings):
        suite.memo = surroundings()
    return suite.memo


@dataclass(frozen=True, slots=True)
class CallAccounting:
    """The case's meter, what the environment says, and the run's purse where it has a budget."""

    meter: UsageMeter
    around: ModelSettings
    purse: RunBudget | None

    @classmethod
    def here(cls) -> CallAccounting:
        """That of whatever runs here; outside of all suites a meter that nobody reads."""
        around = surroundings_here()
        return cls(current_meter(), around, purse_of(around))

    def priced(self, usage: Usage | None, *, provider: str, model: str) -> Usage:
        """What an answer used, with its cost; nothing but the name where the server did not tell."""
        if usage is None:
            return Usage(model=model)
        return priced(usage, provider=provider, model=model, prices=self.around.prices)

    def charge(self, usage: Usage) -> None:
        """Count it to the case and to the run."""
        self.meter.add(usage)
        if self.purse is not None:
            self.purse.spend(usage)

    def within_budget(self) -> AbstractContextManager[None]:
        """Around a call.

        Raises:
            BudgetSpent: the run may not spend what a call takes.
        """
        return nullcontext() if self.purse is None else self._reserved(self.purse)

    @contextmanager
    def _reserved(self, purse: RunBudget) -> Iterator[None]:
        try:
            purse.check(self.around)
        except BudgetSpent:
            self.meter.stop()
            raise
        try:
            yield
        finally:
            purse.over()


def usage_of(body: Mapping[str, Any], model: str) -> Usage | None:
    """The tokens of an answer of chat completions, responses or embeddings; None where it does not tell."""
    told = body.get("usage")
    if not isinstance(told, Mapping):
        return None
    return Usage(
        input_tokens=_count(told, "prompt_tokens", "input_tokens"),
        output_tokens=_count(told, "completion_tokens", "output_tokens"),
        cached_tokens=_count(_part(told, "prompt_tokens_details", "input_tokens_details"), "cached_tokens"),
        model=model,
    )


def _part(told: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    return next((part for name in names if isinstance(part := told.get(name), Mapping)), {})


def _count(told: Mapping[str, Any], *names: str) -> int:
    found: list[int] = [told[name] for name in names if isinstance(told.get(name), int)]
    return max(0, found[0]) if found else 0
