"""The fake as a process: `python -m tests.fakes.openai --latency 0.02 --port 0` prints its address and serves."""

from __future__ import annotations

import argparse
import json
import signal
import threading
from pathlib import Path

from tests.fakes.openai.limits import Bucket
from tests.fakes.openai.server import OpenAIServer


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.fakes.openai", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 (the default) takes a free one")
    parser.add_argument("--latency", type=float, default=0.0, metavar="S", help="seconds that every answer takes")
    parser.add_argument("--requests-per-minute", type=float, metavar="N", help="more are refused with 429")
    parser.add_argument("--burst", type=float, default=0.0, metavar="N", help="how many of them at once")
    parser.add_argument("--silent-limits", action="store_true", help="tell no x-ratelimit headers")
    parser.add_argument("--whole-seconds", action="store_true", help="no retry-after-ms")
    parser.add_argument("--answers", type=Path, metavar="FILE", help="JSON: an object of patterns and their answers")
    parser.add_argument("--without", action="append", default=[], metavar="FEATURE", help="json_schema, temperature …")
    return parser.parse_args()


def main() -> None:
    """Serve until a signal."""
    given = _arguments()
    rpm = given.requests_per_minute
    how = {"tells": not given.silent_limits, "fine": not given.whole_seconds}
    bucket = Bucket(rpm, given.burst, **how) if rpm else None
    with OpenAIServer(latency=given.latency, port=given.port, bucket=bucket) as server:
        server.does_not_take(*given.without)
        for pattern, answer in json.loads(given.answers.read_text()).items() if given.answers else ():
            server.answers(pattern, answer)
        stopped = threading.Event()
        for name in (signal.SIGTERM, signal.SIGINT):
            signal.signal(name, lambda *_: stopped.set())
        print(server.url, flush=True)
        stopped.wait()


if __name__ == "__main__":
    main()
