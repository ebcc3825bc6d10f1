"""An ASGI application on real ports, in a thread of its own."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping
from contextlib import suppress
from threading import Thread
from typing import Any

import uvicorn

App = Any


class Server(uvicorn.Server):
    """uvicorn that stops at once, rather than at its next look at the clock."""

    async def main_loop(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.stopped = asyncio.Event()
        if not self.should_exit:
            await self.stopped.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:  # noqa: ARG002
        """Close everything that is open, and cut short what is being answered."""
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.transport.close()
        tasks = list(self.server_state.tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def stop(self) -> None:
        self.should_exit = self.force_exit = True
        if hasattr(self, "stopped"):
            self.loop.call_soon_threadsafe(self.stopped.set)


class Loopback:
    """Listens from the moment it is made; `ports` names the ports, one for each application."""

    def __init__(self, apps: Mapping[str, App], *, listen: str = "127.0.0.1", port: int = 0, ws: str = "none") -> None:
        self._sockets = {name: listening(listen, port) for name in apps}
        self.ports = {name: sock.getsockname()[1] for name, sock in self._sockets.items()}
        by_port = {self.ports[name]: app for name, app in apps.items()}

        async def switch(scope: Any, receive: Any, send: Any) -> None:
            with suppress(asyncio.CancelledError):  # cut short by our own shutdown
                await by_port[scope["server"][1]](scope, receive, send)

        config = uvicorn.Config(
            switch, lifespan="off", ws=ws, http="h11", log_config=None, access_log=False, date_header=False
        )
        self._server = Server(config)
        self._thread = Thread(target=self._run, name="fake", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        asyncio.run(self._server.serve(sockets=list(self._sockets.values())))

    def close(self) -> None:
        self._server.stop()
        self._thread.join(timeout=100)
        for sock in self._sockets.values():
            sock.close()


def listening(host: str, port: int = 0) -> socket.socket:
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind((host, port))
    sock.listen(1024)
    return sock
