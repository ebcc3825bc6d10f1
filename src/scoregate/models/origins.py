"""Whom a client of the openai package talks to."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
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
    return _origin(str(client.base_url).rstrip("/"), type(client).__name__, os.environ.get("OPENAI_BASE_URL", ""))


@lru_cache(maxsize=64)
def _origin(address: str, kind: str, openai: str) -> Origin:
    host = urlsplit(address).netloc
    if "azure" in kind.lower() or host.endswith(".azure.com"):
        return Origin("azure", address, tells_usage=True)
    known = {urlsplit(provider.base_url or "").netloc: name for name, provider in PROVIDERS.items()}
    name = "openai" if host == urlsplit(openai).netloc else known.get(host, host)
    return Origin(name, address, tells_usage=name == "openai")
