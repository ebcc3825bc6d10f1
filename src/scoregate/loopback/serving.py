"""The server of a page: starlette on uvicorn, on loopback, at a port that was free."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable

import uvicorn
from starlette.applications import Starlette

from scoregate.errors import UsageError
from scoregate.loopback.guard import Keys


def serve(app_of: Callable[[Keys], Starlette], command: str, tell: Callable[[Keys], None], *, port: int = 0) -> None:
    """Serve until somebody interrupts.

    Args:
        app_of: makes the page that these keys open. command: the one that serves it.
        tell: gets the keys, once a browser can open their address. port: 0 for one that is free.

    Raises:
        UsageError: the port cannot be had.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        _bind(sock, port)
        sock.listen()
        keys = Keys(sock.getsockname()[1], command)
        tell(keys)
        with contextlib.suppress(KeyboardInterrupt):
            uvicorn.Server(_config(app_of(keys))).run(sockets=[sock])


def _bind(sock: socket.socket, port: int) -> None:
    try:
        sock.bind(("127.0.0.1", port))
    except OSError as error:
        raise UsageError(
            f"port {port} of this machine cannot be had: {error.strerror}",
            advice="Name another with --port, or none, for one that is free.",
        ) from None


def _config(app: Starlette) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        lifespan="off",
        ws="none",
        log_config=None,
        log_level="critical",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=1,
    )
