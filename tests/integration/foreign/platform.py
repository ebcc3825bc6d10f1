"""The least that the SDKs need to run a suite: a server that takes what they say, and answers from a book in memory."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from scoregate.features.foreign.cloud import Answer, PlatformRequest, answer
from scoregate.kernel.types.evaluation import EvaluationOverride


@dataclass
class Platform:
    """What came, in the order in which it came; `address` is what a line's would be."""

    address: str = ""
    suites: Sequence[str] = ()
    local: list[tuple[str, Any]] = field(default_factory=list)
    cloud: list[tuple[str, str]] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    keys: set[str | None] = field(default_factory=set)
    champions: dict[tuple[str, str], str] = field(default_factory=dict)
    corrections: list[EvaluationOverride] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def baseline_output(self, suite: str, case: str) -> str | None:
        return self.champions.get((suite, case))

    def save_baseline_output(self, suite: str, case: str, output: str) -> None:
        self.champions[suite, case] = output

    def overrides(self, evaluator: str, count: int) -> Sequence[EvaluationOverride]:  # noqa: ARG002
        return self.corrections[:count]

    def said(self, path: str) -> list[Any]:
        """The bodies of what was posted there."""
        return [body for called, body in self.local if called == path]

    def hear(self, method: str, target: str, body: bytes) -> tuple[int, Any]:
        """Take in one request."""
        path, _, query = target.removeprefix("/token").partition("?")
        if path.startswith("/cloud"):
            comment_text = answer(PlatformRequest(method, path.removeprefix("/cloud"), query, body), self)
            self.cloud.append((method, path.removeprefix("/cloud")))
            self.answers.append(comment_text)
            return comment_text.status, comment_text.content
        self.local.append((path, json.loads(body)))
        return 200, {"id": f"run-{next(self.numbers)}"} if path in ("/start", "/results") else "ok"


@contextmanager
def open_platform() -> Iterator[Platform]:
    """A running one."""
    platform = Platform()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.read()
            platform.keys.add(self.headers.get("authorization"))
            status, content = platform.hear(self.command, self.path, body)
            text = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST  # noqa: N815

        def read(self) -> bytes:
            if self.headers.get("transfer-encoding") != "chunked":
                return self.rfile.read(int(self.headers.get("content-length") or 0))
            chunks = []
            while size := int(self.rfile.readline(), 16):
                chunks.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(chunks)

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        platform.address = f"http://127.0.0.1:{server.server_port}/token"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield platform
        server.shutdown()
        thread.join()
