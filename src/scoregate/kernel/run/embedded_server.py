"""uvicorn inside the host process: it leaves signals to the host, logs nothing, and stops when the host asks."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator
from typing import Any

import anyio
import uvicorn

_GRACE_S = 1
# A server that closes an idle connection may close it during a call, and some clients try once.
_KEEP_ALIVE_S = 24 * 3600


class EmbeddedServer(uvicorn.Server):
    """A server inside another process: it leaves signals to the host, and stops as soon as `stop` is called."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._stopped = asyncio.Event()

    def stop(self) -> None:
        """Answer the requests that have arrived, and no more."""
        self.should_exit = True
        self._stopped.set()

    async def main_loop(self) -> None:
        """Wait for the end; uvicorn's own loop looks at the clock ten times a second."""
        await self._stopped.wait()

    def install_signal_handlers(self) -> None:
        """Leave signals to the host."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the host, in newer versions of uvicorn."""
        yield


def make_config(app: Any, **options: Any) -> uvicorn.Config:
    """The configuration of a server that runs on the host's event loop and logs nothing.

    Args:
        app: the ASGI application.
        options: further options of `uvicorn.Config`.
    """
    return uvicorn.Config(
        app,
        loop="none",
        lifespan="off",
        ws="none",
        log_config=None,
        log_level="critical",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        **options,
    )


@contextlib.asynccontextmanager
async def serve_on_loopback(app: Any) -> AsyncIterator[int]:
    """Serve an ASGI application at a port of 127.0.0.1 until the block ends, in this event loop."""
    # asyncio sends at once, without waiting for more, only if the protocol is named.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as sock:
        sock.bind(("127.0.0.1", 0))
        sock.listen()
        config = make_config(app, timeout_keep_alive=_KEEP_ALIVE_S, timeout_graceful_shutdown=_GRACE_S)
        server = EmbeddedServer(config)
        task = asyncio.get_running_loop().create_task(server.serve(sockets=[sock]))
        try:
            yield sock.getsockname()[1]
        finally:
            server.stop()
            with anyio.CancelScope(shield=True):
                await task
