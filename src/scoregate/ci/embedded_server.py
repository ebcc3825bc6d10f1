"""uvicorn inside the host process: it leaves signals to the host, logs nothing, and stops when the host asks."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from typing import Any

import uvicorn


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
