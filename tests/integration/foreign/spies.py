"""What a process connects to, as the process itself sees it: spies that a user might have put there before us."""

from __future__ import annotations

from pathlib import Path

# Both are like a user's own hooks, so they also show that scoregate's hooks don't replace them.
_PYTHON = """
import os, sys

def spy(event, arguments):
    if event == "socket.getaddrinfo" and arguments[0]:
        host = arguments[0]
    elif event == "socket.connect" and isinstance(arguments[1], tuple):
        host = arguments[1][0]
    else:
        return
    with open(os.environ["SPY"], "a") as file:
        file.write((host.decode() if isinstance(host, bytes) else host) + "\\n")

sys.addaudithook(spy)
"""
_NODE = """
const fs = require('fs');
const net = require('net');
const { connect } = net.Socket.prototype;
net.Socket.prototype.connect = function (...args) {
  const [first] = Array.isArray(args[0]) ? args[0] : args;
  if (first && first.port !== undefined) fs.appendFileSync(process.env.SPY, `${first.host ?? 'localhost'}\\n`);
  return connect.apply(this, args);
};
"""


def spy_environment(folder: Path) -> dict[str, str]:
    """The environment in which programs of both languages are watched."""
    (folder / "spy").mkdir(parents=True)
    (folder / "spy" / "sitecustomize.py").write_text(_PYTHON)
    (folder / "spy" / "spy.cjs").write_text(_NODE)
    (folder / "hosts").touch()
    spy = folder / "spy"
    return {"PYTHONPATH": str(spy), "NODE_OPTIONS": f'--require "{spy / "spy.cjs"}"', "SPY": str(folder / "hosts")}


def seen_hosts(folder: Path) -> set[str]:
    """The hosts that were asked for or connected to."""
    return set((folder / "hosts").read_text().split())
