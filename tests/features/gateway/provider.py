"""A provider on loopback that answers any path with what a test prepares, and keeps the requests."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(slots=True)
class Received:
    """A request: its method, path with query, headers with names in lower case, and body."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(slots=True)
class Prepared:
    """An answer. `parts` are sent as chunks as they are yielded; `breaks` closes the connection after the last one."""

    body: bytes = b"{}"
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "application/json"})
    parts: Iterable[bytes] = ()
    breaks: bool = False


@dataclass(slots=True)
class Provider:
    """A running provider; `respond` makes the answer to a request."""

    url: str
    received: list[Received] = field(default_factory=list)
    respond: Callable[[Received], Prepared] = field(default=lambda _request: Prepared())


@contextmanager
def open_provider() -> Iterator[Provider]:
    """Serve until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

        def handle_call(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = Received(self.command, self.path, headers, body)
            provider.received.append(request)
            answer = provider.respond(request)
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if answer.parts == ():
                self.send_header("content-length", str(len(answer.body)))
                self.end_headers()
                self.wfile.write(answer.body)
                return
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            for part in answer.parts:
                self.wfile.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
                self.wfile.flush()
            if answer.breaks:
                self.close_connection = True
                self.connection.close()
                return
            self.wfile.write(b"0\r\n\r\n")

        do_GET = do_POST = handle_call  # noqa: N815

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            """A connection that the other side closed is no problem of a test."""

    server = Server(("127.0.0.1", 0), Handler)
    provider = Provider(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
