"""Runs that newer ones replaced: the last few stay complete, and nothing leaves the folder."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from scoregate.kernel.judge.archive import EARLIER, RunWriter, read_run
from scoregate.kernel.types.evaluation import Evaluation, Threshold
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.evidence import TrialRole, Trials
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd, SuiteResult


def write(out: Path, number: float, *, keep: int = 3, cases: int = 2, id: str = "") -> Run:  # noqa: A002
    """Write a run that started at this second to the folder `run`."""
    columns = Columns()
    with RunWriter(out / "run", keep=keep) as writer:
        for index in range(cases):
            case = CaseResult(0, f"h{index}", evaluations={"e": Evaluation(1.0, Threshold(gte=0.5))})
            writer.add(case)
            columns.add(case)
        suite = SuiteResult("s", "s", complete=True, trials=Trials(columns))
        run = writer.finish(
            Run(id or f"id {number}", number, RunEnd(number + 0.5, complete=True), RunCode("0.1"), suites=(suite,))
        )
    (out / "new.html").write_text(f"of {number}")
    (out / "new.html").replace(out / "report.html")
    return run


def list_kept(out: Path) -> list[Path]:
    return sorted((out / EARLIER).iterdir())


def test_the_last_runs_stay_with_their_pages(tmp_path: Path) -> None:
    runs = [write(tmp_path, number) for number in range(6)]
    names = [folder.name.partition("-")[0] for folder in list_kept(tmp_path)]
    assert names == ["19700101T000002Z", "19700101T000003Z", "19700101T000004Z"]
    for number, folder in enumerate(list_kept(tmp_path), 2):
        stored_run = read_run(folder)
        assert (stored_run.id, stored_run.notices, len(list(stored_run.cases))) == (f"id {number}", (), 2)
        assert (folder / "report.html").read_text() == f"of {number}"
    assert read_run(tmp_path).id == runs[-1].id
    assert [path.name for path in tmp_path.rglob("*.partial")] == []


def test_runs_of_one_second_keep_their_order(tmp_path: Path) -> None:
    runs = [write(tmp_path, 5 + number / 10, keep=2) for number in range(8)]
    assert {read_run(folder).id for folder in list_kept(tmp_path)} == {run.id for run in runs[5:7]}


def test_nothing_is_copied(tmp_path: Path) -> None:
    write(tmp_path, 1)
    cases = (tmp_path / "run" / "cases.jsonl.gz").stat().st_ino
    write(tmp_path, 2)
    assert (list_kept(tmp_path)[0] / "cases.jsonl.gz").stat().st_ino == cases


def test_a_disk_without_hard_links_works_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_args: object, **_named: object) -> None:
        raise PermissionError(1, "no links here")

    monkeypatch.setattr(os, "link", refused)
    write(tmp_path, 1)
    write(tmp_path, 2)
    assert [read_run(folder).id for folder in list_kept(tmp_path)] == ["id 1"]
    assert read_run(tmp_path).id == "id 2"


def test_extra_trials_are_kept(tmp_path: Path) -> None:
    write(tmp_path, 1)
    more = tmp_path / "run" / "extra-1"
    with RunWriter(more) as writer:
        writer.finish(Run("more", 1, RunEnd(2, complete=True), RunCode("0.1")))
    write(tmp_path, 2)
    assert [run.id for run in read_run(list_kept(tmp_path)[0]).companions_of(TrialRole.EXTRA)] == ["more"]
    assert read_run(tmp_path).companions == {}


@pytest.mark.parametrize(("keep", "cases"), [(0, 2), (3, 0)])
def test_no_run_is_kept_if_disabled_or_empty(tmp_path: Path, keep: int, cases: int) -> None:
    write(tmp_path, 1, keep=keep, cases=cases)
    write(tmp_path, 2, keep=keep)
    assert not (tmp_path / EARLIER).exists()


def test_a_damaged_run_is_dropped_and_the_next_is_kept(tmp_path: Path) -> None:
    write(tmp_path, 1)
    (tmp_path / "run" / "run.json").write_text("{")
    assert write(tmp_path, 2).notices == ()
    assert not (tmp_path / EARLIER).exists()


def test_links_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    elsewhere.mkdir()
    write(out, 1)
    (out / EARLIER).symlink_to(elsewhere)
    run = write(out, 2)
    assert list(elsewhere.iterdir()) == []
    assert [notice.partition(":")[0] for notice in run.notices] == ["the run before this one could not be kept"]
    assert read_run(out).id == "id 2"


def test_only_own_folders_are_deleted(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    (precious / "sub").mkdir(parents=True)
    out = tmp_path / "out"
    write(out, 1)
    earlier = out / EARLIER
    earlier.mkdir()
    (earlier / "mine").mkdir()
    (earlier / "19600101T000000Z-00000000").symlink_to(precious)
    for number in range(2, 6):
        write(out, number, keep=1)
    assert (precious / "sub").is_dir()
    assert len(list_kept(out)) == 3
    assert (earlier / "mine").is_dir()


def test_a_forged_run_id_leaves_no_folder(tmp_path: Path) -> None:
    write(tmp_path / "out", 1, id="../../../escaped")
    write(tmp_path / "out", 2)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert [read_run(folder).id for folder in list_kept(tmp_path / "out")] == ["../../../escaped"]


def test_remains_of_a_crash_are_deleted(tmp_path: Path) -> None:
    write(tmp_path, 1)
    left = tmp_path / EARLIER / ".19700101T000000Z-00000000.partial"
    left.mkdir(parents=True)
    (left / "run.json").write_text(json.dumps({}))
    write(tmp_path, 2)
    assert [read_run(folder).id for folder in list_kept(tmp_path)] == ["id 1"]


def test_the_same_run_is_kept_once(tmp_path: Path) -> None:
    first = write(tmp_path, 1)
    write(tmp_path, 2)
    write(tmp_path, 1)
    assert replace(read_run(tmp_path), suites=(), read=None).id == first.id
    write(tmp_path, 3)
    assert [read_run(folder).id for folder in list_kept(tmp_path)] == ["id 1", "id 2"]
