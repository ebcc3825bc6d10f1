"""The page's server: starlette on uvicorn, on loopback, at a port that was free."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable

import uvicorn

from scoregate.review.app import app_of
from scoregate.review.desk import Desk
from scoregate.review.guard import Keys


def serve(desk: Desk, tell: Callable[[str], None]) -> None:
    """Serve until somebody interrupts. `tell` gets the address, once a browser can open it."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as sock:
        sock.bind(("127.0.0.1", 0))
        sock.listen()
        keys = Keys(sock.getsockname()[1])
        tell(keys.address)
        with contextlib.suppress(KeyboardInterrupt):
            uvicorn.Server(_config(desk, keys)).run(sockets=[sock])


def _config(desk: Desk, keys: Keys) -> uvicorn.Config:
    return uvicorn.Config(
        app_of(desk, keys),
        lifespan="off",
        ws="none",
        log_config=None,
        log_level="critical",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=1,
    )
