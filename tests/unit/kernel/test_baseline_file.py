"""A stored run as the baseline, and its description."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from tests.runs import change_run
from tests.unit.kernel.test_earlier_runs import make_dependencies, make_run

from scoregate.errors import RecordError
from scoregate.kernel.job.baseline.file import describe_run, find_file_baseline
from scoregate.kernel.judge.archive import RunWriter
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.types.evaluation import Evaluation, Threshold
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.dependencies import Dependency
from scoregate.kernel.types.runs.evidence import Trials
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd, SuiteResult
from scoregate.kernel.types.runs.run_scope import RunShard

pytestmark = pytest.mark.anyio
RUN = Run("id", 0.0, RunEnd(1000.0, complete=True), RunCode("0", commit="a1b2c3d4e5", branch="main"))


async def test_a_path_is_read_and_described(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "base" / "run") as writer:
        writer.finish(RUN)
    baseline = await find_file_baseline(tmp_path, Settings(baseline="base"))
    assert baseline is not None
    assert baseline.run is not None
    assert baseline.run.id == "id"
    assert baseline.note == "stored run"


async def test_a_shard_is_refused(tmp_path: Path) -> None:
    for number in (1, 2):
        with RunWriter(tmp_path / "bases" / str(number) / "run") as writer:
            writer.finish(change_run(RUN, id=f"{number}", shard=RunShard("f" * 16, number, 2, "a" * 16)))
    for path in ("bases", "bases/1"):
        with pytest.raises(RecordError, match=r"is shard 1 of 2, which has only a part of the cases"):
            await find_file_baseline(tmp_path, Settings(baseline=path))
    with RunWriter(tmp_path / "bases" / "merged" / "run") as writer:
        writer.finish(RUN)
    baseline = await find_file_baseline(tmp_path, Settings(baseline="bases"))
    assert baseline is not None
    assert baseline.run is not None
    assert (baseline.run.id, baseline.pool) == ("id", ())
    assert "is shard 1 of 2" in baseline.note


async def test_runs_of_one_commit_are_pooled(tmp_path: Path) -> None:
    old = change_run(RUN, id="old", commit="0ld", finished=1.0)
    for name, run in {"a": RUN, "b": change_run(RUN, id="twin", finished=900.0), "c": old}.items():
        with RunWriter(tmp_path / "bases" / name / "run") as writer:
            writer.finish(run)
    baseline = await find_file_baseline(tmp_path, Settings(baseline="bases"))
    assert baseline is not None
    assert baseline.run is not None
    assert (baseline.run.id, [run.id for run in baseline.pool]) == ("id", ["twin"])
    assert baseline.note == "stored run"


async def test_runs_with_uncommitted_changes_have_no_commit(tmp_path: Path) -> None:
    for name, run in {"a": RUN, "b": change_run(RUN, id="dirty", finished=900.0, dirty=True)}.items():
        with RunWriter(tmp_path / "bases" / name / "run") as writer:
            writer.finish(run)
    baseline = await find_file_baseline(tmp_path, Settings(baseline="bases"))
    assert baseline is not None
    assert (baseline.note, baseline.pool) == ("stored run", ())


async def test_an_unreadable_run_is_skipped_and_others_stay(tmp_path: Path) -> None:
    for name in "ab":
        with RunWriter(tmp_path / "bases" / name / "run") as writer:
            writer.finish(RUN)
    head = tmp_path / "bases" / "b" / "run" / "run.json"
    head.write_text(head.read_text().replace('"schema_version": 1', '"schema_version": 2'))
    baseline = await find_file_baseline(tmp_path, Settings(baseline="bases"))
    assert baseline is not None
    assert baseline.run is not None
    assert baseline.pool == ()
    assert "schema version 2; this scoregate reads versions up to 1: Update scoregate." in baseline.note
    with pytest.raises(RecordError, match=r"the baseline can't be read: .*schema version 2"):
        await find_file_baseline(tmp_path, Settings(baseline="bases/b"))


def truncate(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


@pytest.mark.parametrize(
    ("name", "spoil", "message"),
    [
        ("run.json", lambda file: file.write_text(""), "is damaged"),
        ("run.json", lambda file: file.write_text('{"name": "demo"}'), "is damaged"),
        ("run.json", truncate, "is damaged"),
        ("cases.jsonl.gz", Path.unlink, "can't be read"),
        ("cases.jsonl.gz", lambda file: file.write_bytes(b""), "3 of 3 cases are missing"),
        ("cases.jsonl.gz", lambda file: file.write_bytes(gzip.compress(b"")), "3 of 3 cases are missing"),
        ("cases.jsonl.gz", lambda file: file.write_bytes(b"hello"), "cut off or damaged"),
        ("cases.jsonl.gz", truncate, "cut off or damaged"),
    ],
)
async def test_an_unreadable_named_run_is_an_error(
    tmp_path: Path, name: str, spoil: Callable[[Path], object], message: str
) -> None:
    columns = Columns()
    with RunWriter(tmp_path / "base") as writer:
        for case in (CaseResult(0, f"h{index}") for index in range(3)):
            columns.add(case)
            writer.add(case)
        writer.finish(replace(RUN, suites=(SuiteResult("demo", "demo", complete=True, trials=Trials(columns)),)))
    baseline = await find_file_baseline(tmp_path, Settings(baseline="base"))
    assert baseline is not None
    assert baseline.run is not None
    spoil(tmp_path / "base" / name)
    with pytest.raises(RecordError, match=f"the baseline can't be read: .*{name} .*{message}"):
        await find_file_baseline(tmp_path, Settings(baseline="base"))


async def test_none_has_a_reason_and_rerun_is_deferred(tmp_path: Path) -> None:
    baseline = await find_file_baseline(tmp_path, Settings(baseline="none"))
    assert baseline is not None
    assert (baseline.run, baseline.note) == (None, "")
    assert await find_file_baseline(tmp_path, Settings(baseline="rerun:main")) is None


async def test_a_missing_run_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="does not exist"):
        await find_file_baseline(tmp_path, Settings(baseline="nowhere"))


async def test_a_baseline_that_is_no_folder_has_a_suggestion(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="there is no such folder") as raised:
        await find_file_baseline(tmp_path, Settings(baseline="prevous"))
    assert raised.value.advice == "Did you mean 'previous'?"
    for words in (("init",), ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "--allow-empty", "-m", "one")):
        await anyio.run_process(["git", *words], cwd=tmp_path)
    with pytest.raises(RecordError, match="there is no such folder") as raised:
        await find_file_baseline(tmp_path, Settings(baseline="HEAD"))
    assert raised.value.advice.endswith("compare with them: rerun:HEAD.")


@pytest.mark.parametrize(
    ("run", "note"),
    [
        (RUN, "stored run"),
        (change_run(RUN, complete=False), "stored run, incomplete"),
        (
            change_run(RUN, dirty=True, notices=("x", "cases.jsonl.gz: cut")),
            "stored run, with uncommitted changes, cases.jsonl.gz: cut",
        ),
    ],
)
def test_a_run_is_described(run: Run, note: str) -> None:
    assert describe_run(run) == note


async def test_unchanged_runs_of_other_commits_count(tmp_path: Path) -> None:
    newest = change_run(make_run([1.0] * 12, "new"), branch="main", finished=9.0)
    same = change_run(make_run([1.0] * 12, "same"), branch="main", finished=8.0)
    others = (
        replace(same, id="changed", dependencies=make_dependencies(Dependency("file", "prompt.md", "other"))),
        change_run(same, id="elsewhere", branch="change"),
        change_run(same, id="dirty", dirty=True),
    )
    for run in (newest, same, *others):
        with RunWriter(tmp_path / "bases" / run.id / "run") as writer:
            for case in run.suites[0].columns.hashes:
                writer.add(CaseResult(0, case, evaluations={"e": Evaluation(1.0, Threshold(gte=0.5))}))
            writer.finish(run)
    for settings, expected in (
        (Settings(baseline="bases"), ["run same"]),
        (Settings(baseline="bases", base_runs=1), None),
    ):
        baseline = await find_file_baseline(tmp_path, settings)
        assert baseline is not None
        assert (None if baseline.earlier is None else [run.id for run in baseline.earlier]) == expected
