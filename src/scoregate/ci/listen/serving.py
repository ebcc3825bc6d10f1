"""The server itself: starlette on uvicorn, on loopback, at a port that was free."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator, Mapping

import anyio
import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route

from scoregate.ci.listen.desk import Desk
from scoregate.ci.listen.entrance import Entrance

_LAST_ANSWERS_S = 1
# Whoever closes a connection that is kept may close it on a call that is under way, and JavaScript's SDK tries once.
_KEEP_ALIVE_S = 24 * 3600


class _Server(uvicorn.Server):
    """A server that is a guest in its process, and stops when it is told, not at its next look at the clock."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._stopped = asyncio.Event()

    def stop(self) -> None:
        """Answer what is being asked, and no more."""
        self.should_exit = True
        self._stopped.set()

    async def main_loop(self) -> None:
        """Wait for the end."""
        await self._stopped.wait()

    def install_signal_handlers(self) -> None:
        """Leave signals to the host."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the host, in newer versions."""
        yield


@contextlib.asynccontextmanager
async def serving(desks: Mapping[str, Desk]) -> AsyncIterator[int]:
    """Serve those desks, each below its token; the value is the port."""
    with _loopback() as sock:
        server = _Server(_config(_app(desks)))
        task = asyncio.get_running_loop().create_task(server.serve(sockets=[sock]))
        try:
            yield sock.getsockname()[1]
        finally:
            server.stop()
            with anyio.CancelScope(shield=True):
                await task


def _app(desks: Mapping[str, Desk]) -> Starlette:
    app = Starlette(
        routes=[Route("/", _greeting), Mount("/{token}", Entrance(desks))],
        exception_handlers={HTTPException: _not_found},
    )
    app.router.redirect_slashes = False
    return app


async def _not_found(request: Request, error: Exception) -> JSONResponse:  # noqa: ARG001
    return JSONResponse({"error": "not found"}, 404)


async def _greeting(request: Request) -> JSONResponse:  # noqa: ARG001
    return JSONResponse("scoregate")


def _config(app: Starlette) -> uvicorn.Config:
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
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=_LAST_ANSWERS_S,
    )


def _loopback() -> socket.socket:
    """Listening; asyncio sends at once, without waiting for more, only where the protocol is named."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.bind(("127.0.0.1", 0))
    sock.listen()
    return sock
