"""Many processes at one store: nothing is lost, no reader gets a partial write, and a killed writer blocks none."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.integration.store.conftest import Project
from tests.unit.store.builders import correction
from tests.warm_scripts import Started

from scoregate.store import OVERRIDES, add_override, open_store, read_overrides

WRITERS, ADDS = 8, 100

# A writer waits half-way until there is a file `read`.
ADD = """
import pathlib, sys, time
from scoregate.kernel.types.evaluation import EvaluationOverride, EvaluationOverrideField
from scoregate.store import add_override, open_store

store, (who, count) = open_store(), sys.argv[1:]
for number in range(int(count)):
    while number == 50 and not pathlib.Path("read").exists():
        time.sleep(0.01)
    field = EvaluationOverrideField("output", "output", f"{who}-{number}")
    add_override(store, f"judge{number % 4}", EvaluationOverride(0, 1, [], [field]), by=who)
    print(number, flush=True)
"""

REWRITE = """
from scoregate.kernel.types.evaluation import EvaluationOverrideField
from scoregate.store import OVERRIDES, Override, open_store

store = open_store()
print("ready", flush=True)
while True:
    for score in (0.25, 0.75):
        fields = (EvaluationOverrideField("output", "output", "x" * 1000),)
        items = [
            Override(id=str(n), original_score=0, override_score=score, output_fields=fields) for n in range(2000)
        ]
        store.update(OVERRIDES, ("accuracy",), lambda _: items)
"""

STOPS_HALF_WAY = """
import dataclasses, time
from scoregate.kernel.types.evaluation import EvaluationOverrideField
from scoregate.store import OVERRIDES, Override, open_store

def rows():
    fields = (EvaluationOverrideField("output", "output", "x" * 1000),)
    for number in range(1000):
        yield Override(id=str(number), original_score=0, override_score=1, output_fields=fields)
    print("half", flush=True)
    time.sleep(600)

streamed = dataclasses.replace(OVERRIDES, item_key=None)
open_store().update(streamed, ("accuracy",), lambda _: rows())
"""


@pytest.fixture
def in_memory() -> Iterator[Project]:
    """A folder whose file system is quick, where there is one: this is about locks, not about disks."""
    with TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        yield Project(Path(folder))


def test_no_record_is_lost(in_memory: Project) -> None:
    writers = [in_memory.start(ADD, f"writer{number}", str(ADDS)) for number in range(WRITERS)]
    store, sizes = open_store(in_memory.root), [0]
    while any(writer.poll() is None for writer in writers):
        sizes.append(len(read_overrides(store, "judge0")))
        if sizes[-1]:
            (in_memory.root / "read").touch()
        time.sleep(0.1)
    for writer in writers:
        writer.communicate()
    assert [writer.returncode for writer in writers] == [0] * WRITERS
    found = [each for (name,) in store.list_keys(OVERRIDES) for each in read_overrides(store, name)]
    expected = {f"writer{who}-{number}" for who in range(WRITERS) for number in range(ADDS)}
    assert {each.output_fields[0].value for each in found} == expected
    assert len(found) == WRITERS * ADDS
    assert sizes == sorted(sizes), "a reader saw fewer than before"
    assert any(0 < size < WRITERS * ADDS // 4 for size in sizes), "no reader read while others wrote"
    lines = in_memory.file("overrides/judge0.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in lines] == sorted(each.id for each in read_overrides(store, "judge0"))


def test_a_killed_writer_keeps_the_old_or_new_file(project: Project) -> None:
    store = open_store(project.root)
    for delay in (0.0, 0.02, 0.05, 0.11):
        writer = project.start(REWRITE)
        assert next_line(writer) == "ready"
        while not list(store.list_keys(OVERRIDES)):
            time.sleep(0.005)
        time.sleep(delay)
        end(writer)
        scores = [each.override_score for each in read_overrides(store, "accuracy")]
        assert len(scores) == 2000
        assert len(set(scores)) == 1


def test_a_killed_writer_blocks_no_reader_or_writer(project: Project) -> None:
    store = open_store(project.root)
    add_override(store, "accuracy", correction("old"))
    writer = project.start(STOPS_HALF_WAY)
    assert next_line(writer) == "half"
    assert (half := project.file("overrides/.new")).stat().st_size > 100_000
    assert [each.output_fields[0].value for each in read_overrides(store, "accuracy")] == ["old"]
    end(writer)
    assert half.exists()
    add_override(store, "accuracy", correction("new"))
    assert {each.output_fields[0].value for each in read_overrides(store, "accuracy")} == {"old", "new"}
    assert not half.exists()


def test_a_writer_waits_for_the_previous(project: Project) -> None:
    store = open_store(project.root)
    first = project.start(STOPS_HALF_WAY)
    assert next_line(first) == "half"
    second = project.start(ADD, "second", "1")
    time.sleep(1)
    assert second.poll() is None
    assert read_overrides(store, "judge0") == []
    end(first)
    second.communicate(timeout=90)
    assert len(read_overrides(store, "judge0")) == 1


def test_readers_never_get_a_mixture(project: Project) -> None:
    store = open_store(project.root)
    writer = project.start(REWRITE)
    assert next_line(writer) == "ready"
    both, seen, until = {0.25, 0.75}, set[float](), time.monotonic() + 90
    while time.monotonic() < until and seen != both:
        scores = {each.override_score for each in read_overrides(store, "accuracy")}
        assert len(scores) <= 1
        seen |= scores
    end(writer)
    assert seen == both


def next_line(process: Started | subprocess.Popen[str]) -> str:
    """Its next line."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


def end(process: Started | subprocess.Popen[str]) -> None:
    """As the system ends a process: at once."""
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
