"""Datasets for the benchmark: made, listed, read, and one of its rows edited by hand; prints seconds and a count."""

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from scoregate import Client
from scoregate.datasets import open_version


def _rows(count: int) -> Iterator[dict[str, object]]:
    for n in range(count):
        yield {"input": f"question {n} of many", "expected_output": f"an answer of some length {n} " * 3, "n": n}


def make(folder: Path, datasets: int, versions: int) -> int:
    """One dataset, then copies of it under other names; every twentieth has a test config."""
    first = Client(store=folder).datasets.create("d0", examples=_rows(10))
    for _ in range(versions - 1):
        first.add_examples(_rows(1))
    home = folder / ".scoregate" / "datasets"
    files = {path.name: path.read_bytes() for path in (home / "d0").iterdir()}
    for n in range(1, datasets):
        (home / f"d{n}").mkdir()
        for name, data in files.items():
            (home / f"d{n}" / name).write_bytes(data.replace(b'"name": "d0"', b'"name": "d%d"' % n))
    configs = folder / ".scoregate" / "configs"
    configs.mkdir()
    for n in range(0, datasets, 20):
        (configs / f"c{n}.toml").write_text(f'dataset = "d{n}"\njudges = ["helpfulness"]\n')
    return datasets


def stream_in(folder: Path, rows: int) -> int:
    """A large file of JSON lines, and the dataset of it."""
    file = folder / "rows.jsonl"
    with file.open("w") as out:
        out.writelines(json.dumps(row) + "\n" for row in _rows(rows))
    return len(Client(store=folder).datasets.create_from("large", file))


def edit(folder: Path) -> int:
    """One row in the middle, by hand."""
    path = folder / ".scoregate" / "datasets" / "large" / "rows.jsonl"
    beside = path.with_name("edited")
    with path.open("rb") as old, beside.open("wb") as new:
        new.writelines(line.replace(b"question 5 of", b"question five of") for line in old)
    beside.replace(path)
    return len(Client(store=folder).datasets.get("large"))


def read(folder: Path, version: int) -> int:
    """All rows of a version."""
    return sum(1 for _ in open_version(Client(store=folder).store, "large", version)[1])


def list_(folder: Path) -> int:
    """All datasets."""
    return len(Client(store=folder).datasets.list())


COMMANDS = {"make": make, "stream-in": stream_in, "edit": edit, "read": read, "list": list_}
command, where, *numbers = sys.argv[1:]
started = time.perf_counter()
count = COMMANDS[command](Path(where), *map(int, numbers))  # type: ignore[operator]
print(json.dumps({"seconds": time.perf_counter() - started, "count": count}))
