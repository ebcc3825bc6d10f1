"""Prices of model calls, and a budget that all processes of a run share."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any

from scoregate.errors import BudgetSpent
from scoregate.kernel.types.amounts import Conclusion, add, check_limit, uses_up
from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.usage import UsageMeter, current_meter, suite_meter
from scoregate.models.settings import ModelSettings, Price, load_model_settings

_CALL_STARTED, _CALL_ENDED = "+", "-"


class RunBudget:
    """The cost, tokens and running calls of a run, shared through a file to which every process appends lines.

    A line is appended with one system call, so lines of different processes don't mix. A call is announced before the
    budget is checked: if two processes call at the same time, each counts the other's call.

    Args:
        path: the shared file; None counts in this process only.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._position = 0
        self._rest = b""
        self.cost = 0.0
        self.tokens = 0
        self.calls = 0
        self.running_calls = 0

    def spend(self, usage: Usage) -> None:
        """Add the tokens and the cost of an answer."""
        with self._lock:
            self._append(f"{usage.cost or 0.0!r} {usage.input_tokens + usage.output_tokens}")

    def begin_call(self, settings: ModelSettings) -> None:
        """Announce a call if the budget allows it. Each running call counts with the average of the finished calls.

        Before the first answer the average is unknown, so calls that start together are all allowed.

        Raises:
            BudgetSpent: the budget does not allow the call.
        """
        with self._lock:
            self._append(_CALL_STARTED)
            self._read_new_lines()
            spent = None
            if settings.max_cost is not None and self._leaves_nothing(self.cost, settings.max_cost):
                spent = f"${self.cost:.4f} of max_cost = ${settings.max_cost:g}"
            elif settings.max_tokens is not None and self._leaves_nothing(self.tokens, settings.max_tokens):
                spent = f"{self.tokens:,} tokens of max_tokens = {settings.max_tokens:,.0f}"
            if spent is not None:
                self._append(_CALL_ENDED)
                raise BudgetSpent(
                    f"the budget is spent: {spent}; this call was not made",
                    advice="Raise the limit (--max-cost, --max-tokens), or run fewer cases (--max-cases).",
                )

    def _leaves_nothing(self, spent: float, limit: float) -> bool:
        running = spent * self.running_calls / max(1, self.calls)
        return uses_up(spent, limit) or check_limit(add((spent, running)), limit) is Conclusion.FAILED

    def end_call(self) -> None:
        """Record the end of a call that `begin_call` announced."""
        with self._lock:
            self._append(_CALL_ENDED)

    def _append(self, line: str) -> None:
        if self._path is None:
            self._count_line(line)
            return
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            os.write(descriptor, f"{line}\n".encode())
        finally:
            os.close(descriptor)

    def _read_new_lines(self) -> None:
        if self._path is None:
            return
        with self._path.open("rb") as file:
            file.seek(self._position)
            new = file.read()
        self._position += len(new)
        *lines, self._rest = (self._rest + new).split(b"\n")
        for line in lines:
            self._count_line(line.decode())

    def _count_line(self, line: str) -> None:
        if line in (_CALL_STARTED, _CALL_ENDED):
            self.running_calls += 1 if line == _CALL_STARTED else -1
            return
        cost, tokens = line.split()
        self.cost += float(cost)
        self.tokens += int(tokens)
        self.calls += 1


_budgets: dict[Path | None, RunBudget] = {}
_lock = threading.Lock()


def get_run_budget(settings: ModelSettings) -> RunBudget | None:
    """The budget of the run; None without a limit."""
    if settings.max_cost is None and settings.max_tokens is None:
        return None
    with _lock:
        return _budgets.setdefault(settings.spent, RunBudget(settings.spent))


# Up to this number of tokens per request, no price depends on the number.
_FLAT_PRICE_TOKENS = 50_000
_reported_names = set[str]()
_prices_lock = threading.Lock()


def price_usage(usage: Usage, *, provider: str, model: str, prices: Mapping[str, Price]) -> Usage:
    """Return the usage with its cost in US dollars; None if the price is unknown, which is printed once per model.

    Args:
        usage: the tokens of a call.
        provider: the name of the provider.
        model: the name of the model.
        prices: the project's prices by glob of a model or "provider/model"; the last match counts.
    """
    cost = find_cost(usage, provider=provider, model=model, prices=prices)
    if cost is None:
        name = f"{provider}/{model}"
        with _prices_lock:
            is_reported = name in _reported_names
            _reported_names.add(name)
        if not is_reported:
            problem, advice = describe_unknown_price(provider, model)
            print(f"scoregate: {problem}, so its cost is not counted; {advice}", file=sys.stderr)
    return replace(usage, cost=cost)


def find_cost(usage: Usage, *, provider: str, model: str, prices: Mapping[str, Price]) -> float | None:
    """The cost of a usage in US dollars, for the arguments of `price_usage`; None if the price is unknown."""
    names = (model, f"{provider}/{model}")
    # Of several globs, the last one counts.
    globs = (glob for glob in reversed(list(prices)) if any(name == glob or fnmatchcase(name, glob) for name in names))
    project_price = next((prices[glob] for glob in globs), None)
    if project_price is None and usage.input_tokens > _FLAT_PRICE_TOKENS:
        return _lookup_cost(usage, provider, model)
    price = project_price or _lookup_flat_price(provider, model)
    if price is None:
        return None
    cached_price = price.input if price.cached is None else price.cached
    input_cost = max(0, usage.input_tokens - usage.cached_tokens) * price.input
    return (input_cost + usage.cached_tokens * cached_price + usage.output_tokens * price.output) / 1e6


def describe_unknown_price(provider: str, model: str) -> tuple[str, str]:
    """What is wrong if the price of a model is unknown, and what to do. Suites choose the names of models."""
    if not model:
        return f"a call of {provider} names no model", "its price can't be set: name the model in the request"
    name = f"{provider}/{model}"
    shown = name if name.isprintable() else ascii(name)
    key = json.dumps(name, ensure_ascii=not name.isprintable())
    return f"the price of {shown} is not known", f"set it in [prices.{key}]"


@lru_cache(maxsize=256)
def _lookup_flat_price(provider: str, model: str) -> Price | None:
    """The price of short requests, cached because the search for the model is slow."""
    parts = (Usage(_FLAT_PRICE_TOKENS), Usage(0, _FLAT_PRICE_TOKENS), Usage(_FLAT_PRICE_TOKENS, 0, _FLAT_PRICE_TOKENS))
    costs = [_lookup_cost(part, provider, model) for part in parts]
    prices = [cost * 1e6 / _FLAT_PRICE_TOKENS for cost in costs if cost is not None]
    return Price(*prices) if len(prices) == len(parts) else None


def _lookup_cost(usage: Usage, provider: str, model: str) -> float | None:
    try:
        import genai_prices
    except ImportError:
        return None
    tokens = genai_prices.Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cached_tokens or None,
    )
    # The name of the model alone may be known.
    for provider_id in (_GENAI_PRICES_PROVIDERS.get(provider, provider), None):
        try:
            return float(genai_prices.calc_price(tokens, model, provider_id=provider_id).total_price)
        except (LookupError, ValueError):
            continue
    return None


# Providers that have another name in genai-prices.
_GENAI_PRICES_PROVIDERS = {"gemini": "google", "xai": "x-ai"}


def current_model_settings() -> ModelSettings:
    """The settings of the environment; a suite keeps those of its first call, because every call needs them."""
    suite = suite_meter()
    if suite is None:
        return load_model_settings()
    if not isinstance(suite.memo, ModelSettings):
        suite.memo = load_model_settings()
    return suite.memo


@dataclass(frozen=True, slots=True)
class CallAccounting:
    """The usage meter of the case, the model settings, and the budget of the run if it has one."""

    meter: UsageMeter
    settings: ModelSettings
    budget: RunBudget | None

    @classmethod
    def current(cls) -> CallAccounting:
        """The accounting of the current case; outside of suites, with a meter that is never read."""
        settings = current_model_settings()
        return cls(current_meter(), settings, get_run_budget(settings))

    def price_usage(self, usage: Usage | None, *, provider: str, model: str) -> Usage:
        """Return the usage with its cost; only the model's name if the server reported no usage."""
        if usage is None:
            return Usage(model=model)
        return price_usage(usage, provider=provider, model=model, prices=self.settings.prices)

    def charge(self, usage: Usage) -> None:
        """Count the usage for the case and for the run."""
        self.meter.add(usage)
        if self.budget is not None:
            self.budget.spend(usage)

    @contextmanager
    def reserve_budget(self) -> Iterator[None]:
        """Reserve a part of the budget for the call in the block.

        Raises:
            BudgetSpent: the budget does not allow the call.
        """
        if self.budget is None:
            yield
            return
        try:
            self.budget.begin_call(self.settings)
        except BudgetSpent:
            self.meter.stop()
            raise
        try:
            yield
        finally:
            self.budget.end_call()


def parse_usage(body: Mapping[str, Any], model: str) -> Usage | None:
    """The tokens that an answer of chat completions, responses or embeddings reports; None if it reports none."""
    usage = body.get("usage")
    if not isinstance(usage, Mapping):
        return None
    details = (usage.get(name) for name in ("prompt_tokens_details", "input_tokens_details"))
    input_details: Mapping[str, Any] = next((part for part in details if isinstance(part, Mapping)), {})
    return Usage(
        input_tokens=_count_tokens(usage, "prompt_tokens", "input_tokens"),
        output_tokens=_count_tokens(usage, "completion_tokens", "output_tokens"),
        cached_tokens=_count_tokens(input_details, "cached_tokens"),
        model=model,
    )


def _count_tokens(usage: Mapping[str, Any], *names: str) -> int:
    counts: list[int] = [usage[name] for name in names if isinstance(usage.get(name), int)]
    return max(0, counts[0]) if counts else 0
