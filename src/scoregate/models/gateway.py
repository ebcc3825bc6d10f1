"""The gateway of a run, as a suite's process sees it: its address, and the headers that name a call's origin."""

from __future__ import annotations

import os
from collections.abc import Mapping

from scoregate.kernel.types.call_headers import ADDRESS_VARIABLE, COUNTED, describe_origin
from scoregate.kernel.types.usage import current_meter

# Set by the host where the gateway records.
RECORDS_VARIABLE = "SCOREGATE_GATEWAY_RECORDS"


def find_gateway_provider(address: str) -> str | None:
    """The provider that an address at the gateway of this run is for; None if it is no such address."""
    gateway = os.environ.get(ADDRESS_VARIABLE)
    if not gateway or not address.startswith(f"{gateway}/"):
        return None
    return address[len(gateway) + 1 :].partition("/")[0]


def is_recorded(address: str) -> bool:
    """Whether the gateway records calls to an address. It has to see them, so it reads the cache instead of the SDK."""
    return os.environ.get(RECORDS_VARIABLE) == "1" and find_gateway_provider(address) is not None


def origin_headers(address: str) -> dict[str, str]:
    """The headers by which the gateway attributes a call to its case and evaluator; empty for other addresses.

    The SDK counts the usage of these calls itself, which one of the headers shows.
    """
    if find_gateway_provider(address) is None:
        return {}
    return {COUNTED: "1", **describe_origin(current_meter())}


def stored_answer(headers: Mapping[str, str]) -> str | None:
    """The id of an answer that the gateway took from a cassette or the cache; None for an answer of the provider."""
    is_stored = "x-scoregate-replayed" in headers or "x-scoregate-cache" in headers
    return recorded_answer(headers) if is_stored else None


def recorded_answer(headers: Mapping[str, str]) -> str | None:
    """The id of an answer that a replay repeats; None if the gateway doesn't record it."""
    return headers.get("x-scoregate-answer") if os.environ.get(ADDRESS_VARIABLE) else None
