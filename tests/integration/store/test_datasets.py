"""Datasets under many processes, kills in between, and git's merges."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.integration.store.conftest import Project

from scoregate import Client
from scoregate.datasets import Datasets

WRITERS, ADDS = 6, 25

ADD = """
import sys
from scoregate import Client

who, count = sys.argv[1:]
dataset = Client().datasets.get("golden")
print("ready", flush=True)
for number in range(int(count)):
    dataset.add_examples([{"input": f"{who}-{number}"}])
"""

# Whatever the system has done when a process dies: the test ends it at the moment that it names.
DIES = """
import os, signal, sys
from scoregate import Client

at, calls = int(sys.argv[1]), 0

def deadly(name):
    real = getattr(os, name)
    def call(*arguments, **more):
        global calls
        calls += 1
        if calls == at:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments, **more)
    return call

dataset = Client().datasets.get("golden")
os.fsync = deadly("fsync")
os.replace = deadly("replace")
os.rename = deadly("rename")
dataset.add_examples({"input": f"new-{n}"} for n in range(3000))
print("alive", flush=True)
"""


@pytest.fixture
def in_memory() -> Iterator[Project]:
    with TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        yield Project(Path(folder))


def datasets_of(project: Project) -> Datasets:
    return Client(store=project.root).datasets


def inputs(project: Project, version: int | str | None = None) -> list[str]:
    return [example["input"] for example in datasets_of(project).get("golden", version)]


def rows(project: Project) -> Path:
    return project.file("datasets/golden/rows.jsonl")


def test_no_row_of_many_writers_is_lost(in_memory: Project) -> None:
    datasets_of(in_memory).create("golden", examples=[{"input": "first"}])
    writers = [in_memory.start(ADD, f"w{number}", str(ADDS)) for number in range(WRITERS)]
    sizes = [1]
    while any(writer.poll() is None for writer in writers):
        dataset = datasets_of(in_memory).get("golden")
        sizes.append(len(dataset.examples))
        assert sizes[-1] == len(dataset)
        time.sleep(0.02)
    assert [writer.wait() for writer in writers] == [0] * WRITERS
    for writer in writers:
        writer.communicate()
    expected = {f"w{who}-{number}" for who in range(WRITERS) for number in range(ADDS)}
    found_inputs = inputs(in_memory)
    assert set(found_inputs) == {"first", *expected}
    assert len(found_inputs) == 1 + WRITERS * ADDS
    assert sizes == sorted(sizes), "a reader saw fewer than before"
    versions = datasets_of(in_memory).versions("golden")
    assert [version.version_number for version in versions] == list(range(1 + WRITERS * ADDS, 0, -1))
    ids = [example.example_id for example in datasets_of(in_memory).get("golden")]
    assert ids == list(range(1, len(found_inputs) + 1))


def test_two_processes_create_one_version_of_an_edit(in_memory: Project) -> None:
    datasets_of(in_memory).create("golden", examples=[{"input": "first"}])
    rows(in_memory).write_text('{"input": "edited"}\n')
    lookers = [in_memory.start("from scoregate import Client; Client().datasets.get('golden')") for _ in range(4)]
    for looker in lookers:
        looker.communicate()
    assert len(datasets_of(in_memory).versions("golden")) == 2


@pytest.mark.parametrize("at", range(1, 5))
def test_a_killed_writer_keeps_the_old_or_new(project: Project, at: int) -> None:
    datasets_of(project).create("golden", examples=[{"input": "first"}])
    writer = project.start(DIES, str(at))
    out, _ = writer.communicate()
    killed = writer.returncode == -signal.SIGKILL
    assert killed or out == "alive\n"
    assert killed or at > 2, "the rows and the history are written"
    text = inputs(project)
    assert text in (["first"], ["first", *(f"new-{n}" for n in range(3000))])
    assert inputs(project, 1) == ["first"]
    datasets_of(project).get("golden").add_examples([{"input": "next"}])
    assert inputs(project) == [*text, "next"]
    assert [v.item_count for v in datasets_of(project).versions("golden")][::-1] == [
        1,
        *([3001] if len(text) > 1 else []),
        len(text) + 1,
    ]
    assert sorted(path.name for path in rows(project).parent.iterdir()) == [
        "history.jsonl",
        "rows.jsonl",
        "schema.json",
    ]


def test_a_partial_dataset_is_none(project: Project) -> None:
    datasets_of(project).create("golden", examples=[{"input": "first"}])
    project.file("datasets/golden/schema.json").unlink()
    assert datasets_of(project).list() == []
    datasets_of(project).create("golden", examples=[{"input": "again"}])
    assert (inputs(project), inputs(project, 1)) == (["again"], ["again"])


def make_branches(project: Project, ours: list[str], theirs: list[str]) -> None:
    """Two branches that each changed the rows `a` to `f`, and used them; the first is checked out."""
    datasets_of(project).create("golden", examples=[{"input": text} for text in "abcdef"])
    project.commit()
    for branch, texts in (("theirs", theirs), ("ours", ours)):
        project.git("checkout", "--quiet", "-B", branch, "main")
        rows(project).write_text("".join(json.dumps({"input": text}) + "\n" for text in texts))
        datasets_of(project).versions("golden")
        project.commit()


def test_a_diff_shows_the_row_that_was_edited(project: Project) -> None:
    make_branches(project, list("abXdef"), list("abcdefg"))
    diff = project.git("diff", "main", "--", ".scoregate/datasets/golden/rows.jsonl").stdout
    changed = [line for line in diff.splitlines() if line.startswith(("-{", "+{"))]
    assert changed == ['-{"input": "c"}', '+{"input": "X"}']


def test_two_branches_that_changed_different_rows_merge_and_no_version_is_lost(project: Project) -> None:
    make_branches(project, list("Abcdef"), list("abcdeF"))
    ours = datasets_of(project).get("golden").version
    project.git("merge", "--quiet", "theirs")
    assert inputs(project) == list("AbcdeF")
    versions = datasets_of(project).versions("golden")
    assert [version.version_number for version in versions] == [3, 2, 2, 1]
    with pytest.raises(ValueError, match="two branches made a version 2") as raised:
        datasets_of(project).get("golden", 2)
    for version in versions[1:3]:
        assert str(version.version_id) in str(raised.value)
    merged = ["".join(inputs(project, str(version.version_id))) for version in versions]
    assert merged[0] == "AbcdeF"
    assert set(merged[1:3]) == {"Abcdef", "abcdeF"}
    assert merged[3] == "abcdef"
    assert inputs(project, str(ours.version_id)) == list("Abcdef")
    ids = [example.example_id for example in datasets_of(project).get("golden")]
    assert len(set(ids)) == 6
    assert [(info.current_version, info.entries) for info in datasets_of(project).list()] == [(3, 6)]
    datasets_of(project).get("golden").add_examples([{"input": "g"}])
    assert (inputs(project, 4), inputs(project, 3)) == (list("AbcdeFg"), list("AbcdeF"))


def test_the_list_shows_an_unused_merge(project: Project) -> None:
    make_branches(project, list("Abcdef"), list("abcdeFg"))
    datasets_of(project).get("golden").add_examples([{"input": "h"}])
    project.commit()
    project.git("merge", "--quiet", "--strategy-option", "ours", "theirs")
    assert [info.current_version for info in datasets_of(project).list()] == [3], "the line with more versions"


def test_two_branches_that_changed_the_same_row_conflict(project: Project) -> None:
    make_branches(project, list("abXdef"), list("abYdef"))
    assert project.git("merge", "--quiet", "theirs", check=False).returncode == 1
    assert project.git("diff", "--name-only", "--diff-filter=U").stdout == ".scoregate/datasets/golden/rows.jsonl\n"
    outcome = project.scoregate("dataset", "show", "golden")
    assert outcome.returncode == 2
    assert "golden/rows.jsonl:3: git left a merge conflict here" in outcome.stderr
    assert "Keep the lines of both sides" in outcome.stderr
    rows(project).write_text("".join(json.dumps({"input": text}) + "\n" for text in "abZdef"))
    assert inputs(project) == list("abZdef")
    assert [version.version_number for version in datasets_of(project).versions("golden")] == [3, 2, 2, 1]


def test_the_same_edit_on_two_branches_is_one_version(project: Project) -> None:
    make_branches(project, list("abXdefghi"), list("abXdefghi"))
    project.git("merge", "--quiet", "theirs")
    assert inputs(project, 2) == list("abXdefghi")
    assert [version.version_number for version in datasets_of(project).versions("golden")] == [2, 1]


def test_unmerged_histories_are_reported_and_fixed_by_both_sides(project: Project) -> None:
    datasets_of(project).create("attributes", examples=[{"input": "x"}])
    for name in (".gitattributes", "datasets/.gitattributes"):
        project.file(name).write_text("")
    make_branches(project, list("Abcdef"), list("abcdeF"))
    assert project.git("merge", "--quiet", "theirs", check=False).returncode == 1
    outcome = project.scoregate("dataset", "ls")
    assert outcome.returncode == 2
    assert "golden/history.jsonl:8: git left a merge conflict here" in outcome.stderr
    history = project.file("datasets/golden/history.jsonl")
    stored = [line for line in history.read_text().splitlines(keepends=True) if line[0] == "{"]
    history.write_text("".join(stored))
    assert inputs(project) == list("AbcdeF")
    assert len(datasets_of(project).versions("golden")) == 4


def test_a_committed_merge_conflict_gives_no_wrong_version(project: Project) -> None:
    make_branches(project, list("Abcdef"), list("abcdeF"))
    history = project.file("datasets/golden/history.jsonl")
    lines = history.read_text().splitlines(keepends=True)
    history.write_text("".join(lines[:-1]))
    project.commit()
    project.git("merge", "--quiet", "theirs")
    assert inputs(project) == list("AbcdeF")
    for version in datasets_of(project).versions("golden"):
        text = "".join(inputs(project, str(version.version_id)))
        assert text.lower() == "abcdef"
        assert len(text) == version.item_count
