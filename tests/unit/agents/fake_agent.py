"""A command that prints a documented event stream and follows its prompt: `write NAME`, `fork`, …"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path


def main(events: str, prompt: str) -> None:
    word, _, rest = prompt.partition(" ")
    lines = Path(events).read_text("utf-8").splitlines()
    print("Welcome to the agent.")
    edits = {"stop": lines[:-1], "malformed": [*lines[:2], '{"type": "assistant", '], "strange": ["{}", *lines]}
    if word in ACTIONS:
        ACTIONS[word](rest)
    print("\n".join(edits.get(word, lines)), flush=True)


def write(file: str) -> None:
    Path(file).parent.mkdir(parents=True, exist_ok=True)
    Path(file).write_text("new")


def flood(_: str) -> None:
    while True:
        print("x" * 100_000)


def read(end: str) -> None:
    print(repr(sys.stdin.read()), file=sys.stderr)
    raise SystemExit(7 if end == "fail" else 0)


def leave(file: str) -> None:
    """Start a process that leaves the process group and keeps writing."""
    if os.fork() == 0:
        os.setsid()
        for _ in range(600):
            Path(file).write_text(str(time.monotonic()))
            time.sleep(0.1)
        os._exit(0)
    while not Path(file).exists():
        time.sleep(0.01)


ACTIONS = {
    "write": write,
    "delete": lambda file: Path(file).unlink(),
    "flood": flood,
    "read": read,
    "fork": leave,
    "env": lambda _: Path("env.json").write_text(json.dumps(dict(os.environ))),
}
main(*sys.argv[1:])
