"""Whom a client of the openai package talks to."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from scoregate.models.providers import PROVIDERS


@dataclass(frozen=True, slots=True)
class Origin:
    """`name` is the provider's, or the host's where no provider is known there.

    `tells_usage`: at the end of a stream too, if it is asked to.
    """

    name: str
    address: str
    tells_usage: bool = False


def origin_of(client: Any) -> Origin:
    """Where its calls go."""
    address = str(client.base_url).rstrip("/")
    host = urlsplit(address).netloc
    if "azure" in type(client).__name__.lower() or host.endswith(".azure.com"):
        return Origin("azure", address, tells_usage=True)
    known = {
        urlsplit(url).netloc: name
        for name, provider in reversed(list(PROVIDERS.items()))
        for url in (provider.base_url, os.environ.get(provider.url))
        if url
    }
    name = known.get(host, host)
    return Origin(name, address, tells_usage=name == "openai")
