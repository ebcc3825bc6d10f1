"""Connections of a client that outlives the event loop it was used in: each suite has a loop of its own."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from scoregate.core.endings import ENDINGS


def leave_with_loop(client: Any) -> None:
    """Close the client's idle connections when the run in this loop ends; the client itself can still be used."""
    endings = ENDINGS.get()
    if endings is None:
        return
    pools = getattr(client, "_client", None)
    if not any(isinstance(end, partial) and end.func is _drop and end.args[0] is pools for end in endings):
        endings.append(partial(_drop, pools))


async def _drop(pools: Any) -> None:
    for transport in _transports(pools):
        if type(transport).__name__ in ("AsyncHTTPTransport", "Lanes"):  # closed, they open new connections
            await transport.aclose()


def _transports(pools: Any) -> Iterable[Any]:
    mounted = getattr(pools, "_mounts", None) or {}
    return (getattr(pools, "_transport", None), *mounted.values())
