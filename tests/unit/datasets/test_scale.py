"""Many datasets, many versions, many rows: what is opened, and how much memory it takes."""

from __future__ import annotations

import json
import os
import sys
import tracemalloc
from collections import Counter
from pathlib import Path

import pytest

from scoregate.datasets import Datasets, open_version

DATASETS, VERSIONS, ROWS = 1000, 100, 5_000
opened: Counter[str] = Counter()
counting = False


def _count(event: str, arguments: tuple[object, ...]) -> None:
    if counting and event == "open":
        opened[Path(os.fsdecode(str(arguments[0]))).name] += 1


sys.addaudithook(_count)


def test_listing_datasets_reads_no_rows_and_only_ends_of_histories(
    datasets: Datasets, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = datasets.create("golden", examples=[{"input": "x" * 1000}])
    for number in range(1, VERSIONS):
        dataset.add_examples([{"input": f"{number}" * 500}])
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    for number in range(1, DATASETS):
        copy = folder.with_name(f"d{number}")
        copy.mkdir()
        for name, data in files.items():
            (copy / name).write_bytes(
                data.replace(b'"golden"', f'"d{number}"'.encode()) if name == "schema.json" else data
            )
    monkeypatch.setattr(sys.modules[__name__], "counting", True)
    opened.clear()
    found = datasets.list()
    monkeypatch.setattr(sys.modules[__name__], "counting", False)
    assert {(info.entries, info.current_version) for info in found} == {(VERSIONS, VERSIONS)}
    assert len(found) == DATASETS
    assert opened["rows.jsonl"] == 0
    assert opened["history.jsonl"] == opened["schema.json"] == DATASETS


def test_only_the_end_of_a_history_is_read(datasets: Datasets, folder: Path) -> None:
    datasets.create("golden", examples=[{"input": "x"}] * 5000).add_examples([{"input": "y"}])
    history = folder / "history.jsonl"
    data = history.read_bytes()
    history.write_bytes(b"?" * 100_000 + data[100_000:])
    assert [(info.current_version, info.entries) for info in datasets.list()] == [(2, 5001)]


def test_rows_are_streamed(datasets: Datasets, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    with path.open("w") as file:
        file.writelines(json.dumps({"input": f"{n} {'x' * 2000}", "n": n}) + "\n" for n in range(ROWS))
    table = tmp_path / "rows.csv"
    with table.open("w") as file:
        file.write("input,n\n")
        file.writelines(f"{n} {'x' * 2000},{n}\n" for n in range(ROWS))
    tracemalloc.start()
    datasets.create_from("golden", path)
    datasets.get("golden").add_from_csv(table)
    for version, count in ((1, ROWS), (2, 2 * ROWS)):
        assert sum(1 for _ in open_version(datasets.store, "golden", version)[1]) == count
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 6_000_000, "the rows are 20 MB"
