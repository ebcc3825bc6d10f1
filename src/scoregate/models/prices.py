"""What tokens cost: the project's own prices, else those that genai-prices knows."""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import lru_cache

from scoregate.core.evaluation import Usage
from scoregate.models.surroundings import Price

# Up to so many tokens a request no price depends on their number.
_FLAT = 50_000
_told = set[str]()
_lock = threading.Lock()


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
    with _lock:
        if name in _told:
            return
        _told.add(name)
    print(
        f'scoregate: the price of {name} is not known, so its cost is not counted; set it as [prices."{name}"]',
        file=sys.stderr,
    )
