"""Record the run folders of `recorded.tar.xz` with real commands, once.

usage: python -m tests.golden.record_runs [NAME…]

Each function of `tests/golden/recordings/` makes a project, runs a base and a change in it, and names the commands that
judge the run again. Models are fakes on loopback, or none is called. What is stored is the project without its
repository, caches and reports, and its name instead of its path. The archive was written at commit 9ce2495f; a newer
version writes other runs.
"""

from __future__ import annotations

import gzip
import importlib
import json
import os
import re
import shutil
import socket
import sys
import tempfile
import time
import zlib
from pathlib import Path

from tests.golden.archive import FOLDER, pack_worlds
from tests.golden.recordings.bench import RECORDINGS, Bench, Recording, judge_commands

MODULES = ("suites", "partial", "repeats", "evidence", "models", "meetings", "jobs")
# All reports are written where the most features meet.
ALL_REPORTS = ("repeats", "meetings")
# What a run leaves that no command reads again, or that is large.
LEFT_OUT = (".git", "__pycache__", ".scoregate-cache", ".lock", ".cache", "node_modules", ".pytest_cache")
REPORTS = ("report.html", "comment.md", "junit.xml", "result.json", "ctrf.json")
NAME = "recorded"
TOP = Path("/tmp/golden")
_PATH = re.compile(rb"/(?:work|root|home|tmp|usr|var)/[\w./-]*")


def record(recording: Recording, worlds: Path) -> None:
    """Record a world into a folder of that name."""
    # The same path each time, as tracebacks in cases have it.
    shutil.rmtree(TOP, ignore_errors=True)
    root = TOP / "project"
    root.mkdir(parents=True)
    try:
        print(recording.name)
        commands = recording.record(Bench(root))
        world = worlds / recording.name
        shutil.rmtree(world, ignore_errors=True)
        shutil.copytree(root, world / "project", ignore=_list_ignored)
        _normalise_folder(world)
        module = recording.record.__module__.rpartition(".")[2]
        default = judge_commands(all_reports=module in ALL_REPORTS)
        known = {
            "about": recording.about,
            "commands": default if commands is None else commands,
            "now": float(int(time.time()) + 2),
        }
        (world / "world.json").write_text(json.dumps(known))
    finally:
        shutil.rmtree(TOP)
    assert not (problems := find_names(world)), problems


def _list_ignored(folder: str, names: list[str]) -> list[str]:
    has_run = (Path(folder) / "run").is_dir() or (Path(folder) / "run.json").is_file()
    return [name for name in names if name in LEFT_OUT or (name in REPORTS and has_run)]


def _normalise_folder(folder: Path) -> None:
    """Remove the paths of this machine. The head of a run has a checksum of its cases."""
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        content = path.read_bytes()
        if path.suffix == ".gz":
            text = gzip.decompress(content)
            path.write_bytes(gzip.compress(_normalise(text), mtime=0))
            head = path.with_name("run.json")
            if head.exists():
                before, after = (f'"crc32": {zlib.crc32(each)}' for each in (text, _normalise(text)))
                head.write_text(head.read_text().replace(before, after))
        elif (normal := _normalise(content)) != content:
            path.write_bytes(normal)


def _normalise(content: bytes) -> bytes:
    for path, name in (
        (sys.executable, "python"),
        (str(FOLDER.parent.parent), "/scoregate"),
        (sys.base_prefix, "/python"),
    ):
        content = content.replace(path.encode(), name.encode())
    return content


def find_names(world: Path) -> list[str]:
    """The files of a world that name this machine, and how."""
    own = {name.encode() for name in (socket.gethostname(), os.environ.get("USER", "")) if len(name) > 3}
    problems = []
    for path in (path for path in world.rglob("*") if path.is_file()):
        content = path.read_bytes()
        content = gzip.decompress(content) if path.suffix == ".gz" else content
        found = {each for each in _PATH.findall(content) if not each.startswith(f"{TOP}/".encode())}
        found |= {name for name in own if name in content}
        problems += [f"{path} has {sorted(found)[:5]}"] if found else []
    return problems


def main() -> None:
    """Record all worlds, or those that are named, into a new folder, and pack them."""
    for name in MODULES:
        importlib.import_module(f"tests.golden.recordings.{name}")
    # A folder of an earlier call has the worlds that are not named.
    worlds = Path(os.environ.get("GOLDEN_WORLDS") or tempfile.mkdtemp(prefix="worlds-"))
    for each in RECORDINGS:
        if not sys.argv[1:] or each.name in sys.argv[1:]:
            record(each, worlds)
    pack_worlds(worlds, NAME)
    print(len(list(worlds.iterdir())), "worlds")


if __name__ == "__main__":
    main()
