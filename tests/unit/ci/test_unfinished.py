"""Unfinished runs: flushed cases can be read, are found before an older run, and are recovered."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.unit.ci.test_archive import a_run, some, write

from scoregate.ci.archive import RunWriter, latest_run, mark_in_progress, read_run, recover
from scoregate.ci.archive.lock import lock_folder
from scoregate.core.cases import CaseResult
from scoregate.core.run import Run
from scoregate.errors import RecordError, RunUnfinished, SettingsError, UsageError


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A folder of reports with a run of one case, `h0`."""
    write(tmp_path / "run", some(1), a_run(started=10.0))
    return tmp_path


def begin(out: Path, cases: list[CaseResult], *, started: float = 20.0, flushed: bool = True) -> Path:
    """The folder of a writer that was killed after these cases and one unflushed case."""
    run = a_run(id="killed", started=started)
    writer = RunWriter(out / "run")
    for case in cases:
        writer.add(case)
    if flushed:
        writer.flush(run)
    writer.add(CaseResult(0, "unflushed"))
    copy = (writer._partial / "cases.jsonl.gz").read_bytes()
    writer.close()
    if flushed:  # a killed process closes nothing
        (writer._partial / "cases.jsonl.gz").write_bytes(copy)
    return writer._partial


def leave_marker(out: Path) -> None:
    with pytest.raises(OSError, match="killed"), mark_in_progress(out / "run"):
        raise OSError("killed")


def hashes(run: Run) -> list[str]:
    return [case.hash for case in run.cases]


def test_flushed_cases_are_the_last_run(out: Path) -> None:
    begin(out, some(3))
    for named in (out, out / "run", out / "run" / "run.json"):
        run = read_run(latest_run(named))
        assert hashes(run) == ["h0", "h1", "h2"]
        assert run.complete is False
        assert "killed" in run.notices[-1]
        assert not any("damaged" in notice for notice in run.notices)
    assert hashes(read_run(out / "run")) == ["h0"]


def test_recovery_adds_a_run(out: Path) -> None:
    left = begin(out, some(3))
    (found,) = recover(out)
    assert found.cases == 3
    assert "3 cases" in found.notice
    assert not left.exists()
    run = read_run(found.folder)
    assert found.folder.parent == out / "interrupted"
    assert hashes(run) == ["h0", "h1", "h2"]
    assert run.complete is False
    assert latest_run(out) == found.folder
    assert hashes(read_run(out / "run")) == ["h0"]
    assert recover(out) == []


def test_a_later_run_is_shown_before_a_recovered_one(out: Path) -> None:
    begin(out, some(3))
    recover(out)
    write(out / "run", some(2), a_run(id="later", started=30.0))
    assert hashes(read_run(latest_run(out))) == ["h0", "h1"]


def test_unflushed_cases_leave_nothing(out: Path) -> None:
    left = begin(out, some(3), flushed=False)
    assert not left.exists()
    assert latest_run(out) == out


def test_a_run_in_progress_is_neither_shown_nor_recovered(out: Path) -> None:
    with RunWriter(out / "run") as writer:
        writer.add(CaseResult(0, "new"))
        writer.flush(a_run(started=20.0))
        with pytest.raises(RunUnfinished, match="in progress"):
            latest_run(out)
        assert recover(out) == []
        writer.finish(a_run(started=20.0))
    assert hashes(read_run(latest_run(out))) == ["new"]


def test_a_run_stopped_before_its_first_case_hides_the_older_one(out: Path) -> None:
    leave_marker(out)
    with pytest.raises(RunUnfinished, match="didn't finish") as raised:
        latest_run(out)
    assert raised.value.exit_code == 3
    assert recover(out) == []
    assert latest_run(out) == out


def test_a_run_stopped_after_its_suites_is_incomplete(tmp_path: Path) -> None:
    def measured() -> None:
        with mark_in_progress(tmp_path / "run"):
            write(tmp_path / "run", some(2), a_run(started=4e9))
            raise OSError("killed")

    with pytest.raises(OSError, match="killed"):
        measured()
    assert read_run(latest_run(tmp_path)).complete is False
    (found,) = recover(tmp_path)
    assert "incomplete" in found.notice
    assert read_run(tmp_path / "run").complete is False
    assert hashes(read_run(tmp_path / "run")) == ["h0", "h1"]
    assert not (tmp_path / "run" / "in-progress.json").exists()


@pytest.mark.parametrize("error", [None, SettingsError("wrong"), ExceptionGroup("tasks", [UsageError("wrong")])])
def test_a_finished_or_unstarted_block_leaves_no_marker(tmp_path: Path, error: Exception | None) -> None:
    out = tmp_path / "made"
    try:
        with mark_in_progress(out / "run"):
            assert (out / "run" / "in-progress.json").exists()
            if error is not None:
                raise error
    except (SettingsError, ExceptionGroup):
        pass
    assert not out.exists()


def test_a_second_run_in_the_same_folder_is_refused(out: Path) -> None:
    with lock_folder(out), pytest.raises(UsageError, match="another scoregate run"), lock_folder(out):
        pass


def test_a_marker_counts_only_from_the_holder_of_the_lock(out: Path) -> None:
    with lock_folder(out), mark_in_progress(out / "run"):
        with pytest.raises(RunUnfinished, match=rf"in progress.*process {os.getpid()}"):
            latest_run(out)
        assert recover(out) == []
        assert (out / "run" / "in-progress.json").exists()
    leave_marker(out)
    with lock_folder(out), pytest.raises(RunUnfinished, match="didn't finish"):
        latest_run(out)


def test_a_run_killed_while_moving_files_is_completed(out: Path) -> None:
    left = begin(out, some(3))
    (left / "cases.jsonl.gz").replace(out / "run" / "cases.jsonl.gz")
    with pytest.raises(RunUnfinished, match="recover"):
        latest_run(out)
    assert recover(out) == []
    assert hashes(read_run(out / "run")) == ["h0", "h1", "h2"]


def test_links_are_not_followed(out: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    write(elsewhere, some(5), a_run(started=99.0))
    (out / "run" / "in-progress-00000000").symlink_to(elsewhere)
    assert recover(out) == []
    assert latest_run(out) == out
    assert (elsewhere / "run.json").exists()


def test_a_failed_recovery_loses_nothing(out: Path) -> None:
    left = begin(out, some(3))
    (out / "interrupted").write_text("a file in the way")
    with pytest.raises(RecordError):
        recover(out)
    assert hashes(read_run(left)) == ["h0", "h1", "h2"]
