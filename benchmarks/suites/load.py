"""The load every suite runs: how many cases, how long each takes, what kind of scorers; read from the environment."""

import json
import os
import sys

CASES = int(os.environ.get("BENCH_CASES", "100"))
CONCURRENCY = int(os.environ.get("BENCH_CONCURRENCY", "50"))
PAUSE_SECONDS = int(os.environ.get("BENCH_PAUSE_MS", "0")) / 1000
SYNC_SCORERS = os.environ.get("BENCH_SCORERS", "async") == "sync"


def tell(seconds: float, scored: int | None = None) -> None:
    """Print, as the last line, the seconds spent in the run and, where the framework returns them, the scores seen."""
    print(json.dumps({"seconds": seconds, "scored": scored}), file=sys.stdout, flush=True)
