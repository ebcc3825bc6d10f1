"""Runs the benchmarks and prints their table: `python benchmarks/run.py [overhead ...] [--check] [--runs N]`."""

import argparse
import os
import platform
import sys
from collections.abc import Callable, Iterable, Iterator

import datasets
import execution
import gateway
import junit
import listen
import merge
import models
import offline
import overhead
import page
import saturation
import scale
import start
import testsets
import trajectories
import watch
from measure import Failed
from peers import list_used_peers, version
from rows import HEAD, Row

MEASUREMENTS: dict[str, Callable[[int], Iterator[Row]]] = {
    "overhead": overhead.measure,
    "scale": scale.measure,
    "saturation": saturation.measure,
    "start": start.measure,
    "junit": junit.measure,
    "merge": merge.measure,
    "page": page.measure,
    "models": models.measure,
    "listen": listen.measure,
    "gateway": gateway.measure,
    "exec": execution.measure,
    "offline": offline.measure,
    "datasets": datasets.measure,
    "testsets": testsets.measure,
    "trajectories": trajectories.measure,
    "watch": watch.measure,
}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"of {', '.join(MEASUREMENTS)}; all where none is given"
    )
    parser.add_argument("--check", action="store_true", help="exit 1 where a target is missed")
    parser.add_argument("--runs", type=int, default=3, help="how often each contender runs (default 3)")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(MEASUREMENTS):
        parser.error(f"no such measurement: {', '.join(sorted(unknown))}")
    return arguments


def _setting() -> str:
    peers = ", ".join(f"{peer} {version(peer)}" for peer in list_used_peers())
    return f"CPython {platform.python_version()}, {os.cpu_count()} cores; {peers}"


def _shown(rows: Iterable[Row]) -> bool:
    """Print rows as they come, and return whether one is missed."""
    missed = False
    for row in rows:
        print(row, flush=True)
        missed |= row.missed
    return missed


def main() -> int:
    """Measure what is asked for and return the exit code: 1 where a target is missed, 2 where a run went wrong."""
    arguments = _arguments()
    print(HEAD, flush=True)
    try:
        missed = _shown(row for name in arguments.names or MEASUREMENTS for row in MEASUREMENTS[name](arguments.runs))
    except Failed as error:
        print(error, file=sys.stderr)
        return 2
    print(f"\n{_setting()}; medians of {arguments.runs}")
    return int(missed and arguments.check)


if __name__ == "__main__":
    sys.exit(main())
