"""The service as a process: `python -m tests.fakes.chat_service --latency 0.02` prints its address and serves."""

from __future__ import annotations

import argparse
import json
import signal
import threading
from pathlib import Path

from tests.fakes.chat_service.guard import Guard
from tests.fakes.chat_service.server import ChatService


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.fakes.chat_service", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 (the default) takes a free one")
    parser.add_argument("--latency", type=float, default=0.0, metavar="S", help="seconds that every answer takes")
    parser.add_argument("--requests-per-minute", type=float, metavar="N", help="more are refused with 429")
    parser.add_argument("--token", metavar="TOKEN", help="the bearer token that is asked for; none if not given")
    parser.add_argument("--answers", type=Path, metavar="FILE", help="JSON: an object of patterns and their answers")
    return parser.parse_args()


def main() -> None:
    """Serve until a signal."""
    given = _arguments()
    guard = Guard(token=given.token)
    options = {"latency": given.latency, "port": given.port, "requests_per_minute": given.requests_per_minute}
    with ChatService(**options, guard=guard) as service:
        for pattern, answer in json.loads(given.answers.read_text()).items() if given.answers else ():
            service.answers(pattern, answer)
        stopped = threading.Event()
        for name in (signal.SIGTERM, signal.SIGINT):
            signal.signal(name, lambda *_: stopped.set())
        print(service.url, flush=True)
        stopped.wait()


if __name__ == "__main__":
    main()
