"""What the calls of all suites at the gateway share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from scoregate.features.gateway.proxy.budget import Ledger
from scoregate.features.gateway.proxy.cassettes import CassetteReader, CassetteWriter
from scoregate.features.gateway.proxy.providers import GatewayProvider
from scoregate.features.gateway.proxy.questions import Question
from scoregate.features.gateway.proxy.sessions import Sessions
from scoregate.features.gateway.proxy.upstream import Upstream
from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.records import record
from scoregate.models.budget import find_cost
from scoregate.models.cache import Cache
from scoregate.models.rate_limit import Limiter
from scoregate.models.settings import CacheMode, Price


@record
class Cassettes:
    """Where calls are recorded, and where their answers come from.

    Attributes:
        writer: writes cassettes; None if the gateway doesn't record.
        reader: reads cassettes; None if it doesn't replay.
    """

    writer: CassetteWriter | None = None
    reader: CassetteReader | None = None


@dataclass(slots=True)
class GatewayState:
    """Everything that calls of all suites share. It belongs to the event loop of the gateway.

    Attributes:
        providers: the providers by name.
        hosts: the values of the Host header that are accepted.
        sessions: the sessions of the launched suites.
        ledger: the budget.
        upstream: the connections to providers.
        redact: removes secrets from a text.
        prices: the project's prices.
        cache: the cache; None if it is off.
        cache_mode: how the cache is used.
        cassettes: the cassettes of the run.
        base_cassettes: those of a baseline that is run again.
    """

    providers: Mapping[str, GatewayProvider]
    hosts: frozenset[str]
    sessions: Sessions
    ledger: Ledger
    upstream: Upstream
    redact: Callable[[str], str]
    prices: Mapping[str, Price] = field(default_factory=dict)
    cache: Cache | None = None
    cache_mode: CacheMode = CacheMode.OFF
    cassettes: Cassettes = field(default_factory=Cassettes)
    base_cassettes: Cassettes = field(default_factory=Cassettes)
    limiters: dict[tuple[str, str], Limiter] = field(default_factory=dict)

    def limiter(self, question: Question) -> Limiter:
        """The limiter of a model at a provider, shared by all suites."""
        # By address, as two names of one server share its limit.
        key = (question.provider.base_url, question.model)
        if key not in self.limiters:
            self.limiters[key] = Limiter()
        return self.limiters[key]

    def price(self, usage: Usage, question: Question) -> Usage:
        """The usage with its cost; what uses no tokens has no price."""
        if not (usage.input_tokens or usage.output_tokens):
            return usage
        cost = find_cost(usage, provider=question.provider.name, model=question.model, prices=self.prices)
        return replace(usage, cost=cost)
