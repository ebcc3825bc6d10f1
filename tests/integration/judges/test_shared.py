"""Judges in many hands: processes at once, one that dies half-way, and branches that git merges."""

from __future__ import annotations

import json
import signal
import subprocess

import pytest
from tests.integration.store.conftest import Project

from scoregate.client import Client
from scoregate.errors import StoreError

WRITERS, UPDATES = 4, 10
UPDATE = """
import sys
from scoregate import Client

judges = Client().judges
for number in range(int(sys.argv[2])):
    print(judges.update("helpfulness", prompt=f"{sys.argv[1]} {number}").prompt)
    judges.tag("helpfulness", f"by-{sys.argv[1]}")
"""
CREATE = """
import sys
from scoregate import Client
from scoregate.errors import JudgmentConflictError

try:
    print(Client().judges.create("helpfulness", sys.argv[1]).prompt)
except JudgmentConflictError:
    pass
"""
DIES = """
import os, signal
from scoregate.client import Client
from scoregate.store import JUDGE_HISTORY
from scoregate.store.directory import DirectoryWriter

update = DirectoryWriter.update
def stops(self, kind, shelf, change):
    if kind is JUDGE_HISTORY:
        os.kill(os.getpid(), signal.SIGKILL)
    update(self, kind, shelf, change)
DirectoryWriter.update = stops
Client().judges.update("helpfulness", prompt="half-way")
"""


def client(project: Project) -> Client:
    return Client(store=project.root)


def finish_all(processes: list[subprocess.Popen[str]]) -> list[str]:
    outputs = [process.communicate(timeout=300)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * len(processes)
    return "".join(outputs).splitlines()


def test_no_update_of_several_processes_is_lost(project: Project) -> None:
    client(project).judges.create("helpfulness", "first")
    outputs = finish_all([project.start(UPDATE, f"w{who}", str(UPDATES)) for who in range(WRITERS)])
    versions = client(project).judges.versions("helpfulness")
    assert [each.version for each in reversed(versions)] == [f"0.{n}" for n in range(WRITERS * UPDATES + 1)]
    prompts = {f"w{who} {number}" for who in range(WRITERS) for number in range(UPDATES)}
    assert {each.prompt for each in versions} == {*prompts, "first"}
    assert len(outputs) == WRITERS * UPDATES
    judge = client(project).judges.get("helpfulness", tag="by-w0")
    assert judge is not None


def test_only_one_process_creates_a_judge(project: Project) -> None:
    (created,) = finish_all([project.start(CREATE, f"by {who}") for who in range(4)])
    (version,) = client(project).judges.versions("helpfulness")
    assert (version.prompt, version.version) == (created, "0.0")


def test_a_crash_between_the_files_is_safe(project: Project) -> None:
    judges = client(project).judges
    judges.create("helpfulness", "first")
    process = project.start(DIES)
    process.communicate(timeout=180)
    assert process.returncode == -signal.SIGKILL
    assert 'version = "0.1"' in project.file("judges/helpfulness.toml").read_text()
    assert [(each.version, each.prompt) for each in judges.versions("helpfulness")] == [
        ("0.1", "half-way"),
        ("0.0", "first"),
    ]
    assert judges.update("helpfulness", prompt="next").version == "0.2"


def branch(project: Project, name: str, old: str, new: str) -> None:
    project.git("checkout", "--quiet", "-B", name, "main")
    path = project.file("judges/helpfulness.toml")
    path.write_text(path.read_text().replace(old, new))


def create_judge(project: Project) -> Client:
    judge_client = client(project)
    judge_client.judges.create("helpfulness", "Is it helpful?\n\n\n\nAnd short?\n{{output}}\n")
    project.commit()
    return judge_client


def test_a_diff_shows_the_line_of_the_prompt(project: Project) -> None:
    create_judge(project)
    path = project.file("judges/helpfulness.toml")
    path.write_text(path.read_text().replace("And short?", "And polite?"))
    client(project).judges.list()
    text = project.git("diff", "--unified=0", ".scoregate/judges/helpfulness.toml").stdout.splitlines()[4:]
    assert [line for line in text if line[0] in "+-"] == [
        '-version = "0.0"', '+version = "0.1"', "-And short?", "+And polite?",
    ]  # fmt: skip
    added = project.git("diff", "--numstat", ".scoregate/judges/helpfulness.history.jsonl").stdout.split()
    assert added[:2] == ["1", "0"]


def test_unused_edits_of_two_branches_merge_into_one_version(project: Project) -> None:
    judge_client = create_judge(project)
    branch(project, "theirs", "And short?", "And polite?")
    project.commit()
    branch(project, "ours", "Is it helpful?", "Does it help?")
    project.commit()
    project.git("merge", "--quiet", "theirs")
    newest = judge_client.judges.versions("helpfulness")[0]
    assert (newest.version, newest.prompt) == ("0.1", "Does it help?\n\n\n\nAnd polite?\n{{output}}\n")


def test_a_version_number_used_twice_is_reported(project: Project) -> None:
    judge_client = create_judge(project)
    for name, old, new in (("theirs", "And short?", "And polite?"), ("ours", "Is it helpful?", "Does it help?")):
        branch(project, name, old, new)
        judge_client.judges.list()
        project.commit()
    project.git("merge", "--quiet", "theirs", check=False)
    with pytest.raises(StoreError) as caught:
        judge_client.judges.list()
    text = str(caught.value)
    assert "helpfulness.history.jsonl:3: differs from" in text
    assert "both have the key '0.1'" in text
    history = project.file("judges/helpfulness.history.jsonl")
    history.write_text("".join(history.read_text().splitlines(keepends=True)[:2]))
    newest = judge_client.judges.versions("helpfulness")[0]
    assert (newest.version, newest.prompt) == ("0.2", "Does it help?\n\n\n\nAnd polite?\n{{output}}\n")


def test_a_merge_conflict_has_file_and_line(project: Project) -> None:
    judge_client = create_judge(project)
    for name, new in (("theirs", "And polite?"), ("ours", "And true?")):
        branch(project, name, "And short?", new)
        project.commit()
    assert project.git("merge", "--quiet", "theirs", check=False).returncode == 1
    before = project.file("judges/helpfulness.toml").read_text()
    line = before.splitlines().index("<<<<<<< HEAD") + 1
    outcome = project.scoregate("judge", "ls")
    assert outcome.returncode == 2
    assert f"helpfulness.toml:{line}: git left a merge conflict here" in outcome.stderr
    with pytest.raises(StoreError, match="merge conflict"):
        judge_client.judges.update("helpfulness", prompt="x")
    assert project.file("judges/helpfulness.toml").read_text() == before


def test_versions_of_two_commits_differ(project: Project) -> None:
    judge_client = create_judge(project)
    judge_client.judges.update("helpfulness", prompt="b")
    project.commit()
    project.git("checkout", "--quiet", "HEAD~1")
    assert judge_client.judges.list()[0].version == "0.0"
    assert project.git("status", "--porcelain").stdout == ""
    assert json.loads(project.file("judges/helpfulness.history.jsonl").read_text())["version"] == "0.0"
