"""A loopback server in this process that receives the spans of agents over OTLP, with an address for each trial."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from secrets import token_urlsafe
from threading import BoundedSemaphore, Condition, Lock, Thread
from time import monotonic
from typing import Any

from scoregate.errors import OtlpError
from scoregate.kernel.types.trajectories.otlp import JSON, PROTOBUF
from scoregate.kernel.types.trajectories.span_buffer import MOST_REQUEST_BYTES, OTHER_SIGNALS, TRACES, SpanBuffer

_MOST_CONNECTIONS = 64
_LONGEST_CHUNK_LINE = 1_000
_IDLE_S = 10.0
_LATE_S = 5.0


class OtlpReceiver:
    """The server. Each trial has a token in its address, so that its spans are certain to be its own."""

    def __init__(self) -> None:
        self._server = _Server(("127.0.0.1", 0), _Handler)
        # A daemon: it must not keep this process alive.
        Thread(target=self._server.serve_forever, name="scoregate-otlp", daemon=True).start()

    @contextmanager
    def open_trial(self) -> Iterator[TrialSpans]:
        """The address of a trial, and its spans, until the block ends."""
        token = token_urlsafe(16)
        trial = TrialSpans(self._server, token)
        self._server.buffers[token] = trial.buffer
        try:
            yield trial
        finally:
            del self._server.buffers[token]


class TrialSpans:
    """The spans of one trial.

    Attributes:
        address: what the agent gets as `OTEL_EXPORTER_OTLP_ENDPOINT`.
        buffer: the spans.
    """

    def __init__(self, server: _Server, token: str) -> None:
        self._port = int(server.server_address[1])
        self.address = f"http://127.0.0.1:{self._port}/{token}"
        self.buffer = SpanBuffer()
        self._server, self._token = server, token

    def wait_for_requests(self) -> None:
        """Wait until the requests that the agent sent before its end are read, for five seconds at most."""
        # Connections are accepted in their order: once this one is, all earlier ones are.
        with socket.create_connection(("127.0.0.1", self._port), timeout=_LATE_S) as own:
            deadline = monotonic() + _LATE_S
            port = own.getsockname()[1]
            with self._server.changed:
                while port not in self._server.accepted and monotonic() < deadline:
                    self._server.changed.wait(deadline - monotonic())
                earlier = {each for each in self._server.accepted if each != port}
        with self._server.changed:
            while monotonic() < deadline:
                tokens = {self._server.accepted.get(each, "") for each in earlier}
                if not tokens & {None, self._token}:
                    return
                self._server.changed.wait(deadline - monotonic())
        self.buffer.losses["requests that did not end in time"] += 1


_opened: dict[int, OtlpReceiver] = {}
_lock = Lock()


def open_receiver() -> OtlpReceiver:
    """The receiver of this process, which is started at the first call. A forked process has its own."""
    with _lock:
        if (receiver := _opened.get(os.getpid())) is None:  # threads don't survive a fork
            _opened.clear()
            receiver = _opened[os.getpid()] = OtlpReceiver()
        return receiver


class _Server(ThreadingHTTPServer):
    """One thread for each connection, and one request on each.

    Attributes:
        buffers: the spans of the trials by token.
        accepted: the open connections by port of the client, with their tokens; None before the request is known.
        changed: notified if a connection opens, names its token or ends.
    """

    # A slow client must not delay the end of this process.
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.buffers: dict[str, SpanBuffer] = {}
        self.accepted: dict[int, str | None] = {}
        self.changed = Condition()
        # One body at a time is unpacked and parsed.
        self.reading = Lock()
        self._slots = BoundedSemaphore(_MOST_CONNECTIONS)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._slots.acquire()  # waits: further connections stay in the queue of the system
        self.set_token(client_address[1], None)
        try:
            super().process_request(request, client_address)
        except RuntimeError:  # no thread can be started
            self._forget(client_address[1])
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._forget(client_address[1])

    def _forget(self, port: int) -> None:
        self._slots.release()
        with self.changed:
            self.accepted.pop(port, None)
            self.changed.notify_all()

    def set_token(self, port: int, token: str | None) -> None:
        """Note a connection, or the token of its request."""
        with self.changed:
            self.accepted[port] = token
            self.changed.notify_all()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect."""


class _Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    protocol_version = "HTTP/1.1"
    timeout = _IDLE_S
    server: _Server

    def do_POST(self) -> None:
        _, token, path, *_ = [*self.path.split("/", 2), "", ""]
        self.server.set_token(self.client_address[1], token)
        buffer = self.server.buffers.get(token)
        path = f"/{path.rstrip('/')}"
        if buffer is None or path not in (TRACES, *OTHER_SIGNALS):
            self._answer(404)
            return
        try:
            body = _read_body(self.rfile, self.headers)
        except OtlpError as error:
            self._refuse(buffer, path, error)
            return
        except OSError:
            self._refuse(buffer, path, OtlpError("its body did not arrive in time", status=408))
            return
        if path in OTHER_SIGNALS:
            self._answer(200)
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        with self.server.reading:
            try:
                buffer.add_request(body, headers)
            except OtlpError as error:
                self._answer(error.status, error.message)
                return
        self._answer(200)

    def _refuse(self, buffer: SpanBuffer, path: str, error: OtlpError) -> None:
        if path == TRACES:
            buffer.refuse(error)
        self._answer(error.status, error.message)

    def _answer(self, status: int, message: str = "") -> None:
        # OTLP asks for an answer in the encoding of the request.
        is_json = self.headers.get("content-type", "").startswith(JSON)
        # An empty message of protobuf is a success without a partial one.
        content = message.encode() if message else b"{}" if is_json and status == 200 else b""
        self.send_response(status)
        self.send_header("Content-Type", "text/plain" if message else JSON if is_json else PROTOBUF)
        self.send_header("Content-Length", str(len(content)))
        # One request on each, so that the end of a connection is the end of its request.
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


def _read_body(stream: Any, headers: Message) -> bytes:
    """The body of a request.

    Raises:
        OtlpError: its length is unknown or wrong, or over the limit.
    """
    if "chunked" in headers.get("transfer-encoding", "").lower():
        return b"".join(_read_chunks(stream))
    length = headers.get("content-length", "")
    if not length.isdecimal() or len(length) > 20:  # `int` raises an error for more than 4,300 digits
        raise OtlpError("its length is unknown", status=411)
    _check_size(int(length))
    body: bytes = stream.read(int(length))
    if len(body) != int(length):
        raise OtlpError("its body is incomplete")
    return body


def _read_chunks(stream: Any) -> Iterator[bytes]:
    total = 0
    while True:
        line = stream.readline(_LONGEST_CHUNK_LINE)
        try:
            size = int(line.partition(b";")[0], 16)
        except ValueError:
            size = -1
        if size < 0 or not line.endswith(b"\n"):
            raise OtlpError("its chunks are not valid")
        total += size
        _check_size(total)
        chunk = stream.read(size)
        if len(chunk) != size or stream.readline(3) != b"\r\n":
            raise OtlpError("its body is incomplete")
        if not size:
            return
        yield chunk


def _check_size(size: int) -> None:
    if size > MOST_REQUEST_BYTES:
        raise OtlpError(f"its body is over the limit of {MOST_REQUEST_BYTES:,} bytes", status=413)
