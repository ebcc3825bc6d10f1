"""A port for a program that can't choose one itself."""

from __future__ import annotations

import random
import socket

# Below the range from which systems take the ports of connections, so that none gets it before the program listens.
_PORTS = range(10_000, 32_000)


def find_free_port() -> int:
    """A port that is free on loopback."""
    for port in random.Random().sample(_PORTS, 1_000):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError(f"no port from {_PORTS[0]} to {_PORTS[-1]} is free")
