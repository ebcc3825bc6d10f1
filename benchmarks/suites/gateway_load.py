"""Asks a model many times: `gateway_load.py URL TOKEN CALLS CONCURRENCY [--rate N] [--stream] [--questions N]`.

Prints the calls per second, and milliseconds until the first byte of a stream or until the end of an answer. It speaks
HTTP by itself: a client's package would take more time than the servers that are measured.
"""

import argparse
import asyncio
import json
import time
from collections.abc import Iterator
from typing import cast
from urllib.parse import urlsplit

from uvloop import new_event_loop

WARM_UP = 50


class Connection(asyncio.Protocol):
    """A kept connection with one call at a time."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember the connection."""
        self._transport = cast(asyncio.WriteTransport, transport)

    def ask(self, request: bytes) -> asyncio.Future[float]:
        """Send a request; the result is when its answer began, for a stream, or ended."""
        self._received, self._began = b"", 0.0
        self._answered: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return self._answered

    def data_received(self, data: bytes) -> None:
        """Read an answer."""
        now = time.perf_counter()
        self._received += data
        head, end, body = self._received.partition(b"\r\n\r\n")
        if not end:
            return
        if not head.startswith(b"HTTP/1.1 200"):
            self._answered.set_exception(RuntimeError(self._received[:1000]))
        elif b"chunked" in head:
            self._began = self._began or (now if b"data:" in body else 0.0)
            if body.endswith(b"0\r\n\r\n"):
                self._answered.set_result(self._began)
        elif len(body) == int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0]):
            self._answered.set_result(now)

    def connection_lost(self, error: Exception | None) -> None:
        """Fail the call that waits."""
        if hasattr(self, "_answered") and not self._answered.done():
            self._answered.set_exception(RuntimeError(f"the connection was lost: {error}"))


def requests(arguments: argparse.Namespace, host: str, path: str) -> Iterator[bytes]:
    """Requests with different questions, which repeat after --questions."""
    number = 0
    while True:
        question = number % arguments.questions if arguments.questions else number
        number += 1
        content = f"question {question}: when does the shop open on a day like this, and where is it?"
        data: dict[str, object] = {"model": "gpt-4o", "messages": [{"role": "user", "content": content}]}
        body = json.dumps(
            data | {"stream": True, "stream_options": {"include_usage": True}} if arguments.stream else data
        )
        yield (
            f"POST {path}/chat/completions HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
            f"Authorization: Bearer {arguments.token}\r\nContent-Length: {len(body)}\r\n\r\n{body}"
        ).encode()


async def run(arguments: argparse.Namespace) -> tuple[list[float], float]:
    """Ask, and return the durations of the calls and of all of them together."""
    address = urlsplit(arguments.url)
    loop, bodies = asyncio.get_running_loop(), requests(arguments, address.netloc, address.path)
    free: asyncio.Queue[Connection] = asyncio.Queue()
    for _ in range(arguments.concurrency):
        free.put_nowait((await loop.create_connection(Connection, address.hostname, address.port))[1])
    durations: list[float] = []

    async def ask(connection: Connection) -> None:
        body = next(bodies)
        started = time.perf_counter()
        durations.append(await connection.ask(body) - started)
        free.put_nowait(connection)

    async def ask_all(calls: int, rate: float) -> None:
        started = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            for number in range(calls):
                if rate and (wait := started + number / rate - time.perf_counter()) > 0:
                    await asyncio.sleep(wait)
                group.create_task(ask(await free.get()))

    if not arguments.cold:
        await ask_all(WARM_UP, 0)
    durations.clear()
    started = time.perf_counter()
    await ask_all(arguments.calls, arguments.rate)
    return sorted(durations), time.perf_counter() - started


def main() -> None:
    """Ask, and print the result."""
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("token")
    parser.add_argument("calls", type=int)
    parser.add_argument("concurrency", type=int)
    parser.add_argument("--rate", type=float, default=0.0)
    parser.add_argument("--questions", type=int, default=0)
    parser.add_argument("--stream", action="store_true")
    parser.add_argument("--cold", action="store_true")
    arguments = parser.parse_args()
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        durations, seconds = runner.run(run(arguments))
    p50, p95 = (durations[int(len(durations) * share)] * 1000 for share in (0.5, 0.95))
    print(json.dumps({"p50": p50, "p95": p95, "rate": arguments.calls / seconds}))


if __name__ == "__main__":
    main()
