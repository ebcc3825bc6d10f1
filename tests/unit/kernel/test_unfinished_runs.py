"""Unfinished runs: flushed cases can be read, are found before an older run, and are recovered."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.unit.kernel.test_archive import make_cases, make_run, write

from scoregate.errors import RecordError, RunUnfinished, SettingsError, UsageError
from scoregate.kernel.judge.archive import RunWriter, latest_run, mark_in_progress, read_run, recover
from scoregate.kernel.judge.archive.lock import lock_folder
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.run import Run


@pytest.fixture
def output_folder(tmp_path: Path) -> Path:
    """A folder of reports with a run of one case, `h0`."""
    write(tmp_path / "run", make_cases(1), make_run(started=10.0))
    return tmp_path


def write_unfinished(
    output_folder: Path, cases: list[CaseResult], *, started: float = 20.0, flushed: bool = True
) -> Path:
    """The folder of a writer that was killed after these cases and one unflushed case."""
    run = make_run(id="killed", started=started)
    writer = RunWriter(output_folder / "run")
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


def leave_marker(output_folder: Path) -> None:
    with pytest.raises(OSError, match="killed"), mark_in_progress(output_folder / "run"):
        raise OSError("killed")


def hashes(run: Run) -> list[str]:
    return [case.hash for case in run.cases]


def test_flushed_cases_are_the_last_run(output_folder: Path) -> None:
    write_unfinished(output_folder, make_cases(3))
    for named in (output_folder, output_folder / "run", output_folder / "run" / "run.json"):
        run = read_run(latest_run(named))
        assert hashes(run) == ["h0", "h1", "h2"]
        assert run.end.complete is False
        assert "killed" in run.notices[-1]
        assert not any("damaged" in notice for notice in run.notices)
    assert hashes(read_run(output_folder / "run")) == ["h0"]


def test_recovery_adds_a_run(output_folder: Path) -> None:
    left = write_unfinished(output_folder, make_cases(3))
    (found,) = recover(output_folder)
    assert found.cases == 3
    assert "3 cases" in found.notice
    assert not left.exists()
    run = read_run(found.folder)
    assert found.folder.parent == output_folder / "interrupted"
    assert hashes(run) == ["h0", "h1", "h2"]
    assert run.end.complete is False
    assert latest_run(output_folder) == found.folder
    assert hashes(read_run(output_folder / "run")) == ["h0"]
    assert recover(output_folder) == []


def test_a_later_run_is_shown_before_a_recovered_one(output_folder: Path) -> None:
    write_unfinished(output_folder, make_cases(3))
    recover(output_folder)
    write(output_folder / "run", make_cases(2), make_run(id="later", started=30.0))
    assert hashes(read_run(latest_run(output_folder))) == ["h0", "h1"]


def test_unflushed_cases_leave_nothing(output_folder: Path) -> None:
    left = write_unfinished(output_folder, make_cases(3), flushed=False)
    assert not left.exists()
    assert latest_run(output_folder) == output_folder


def test_a_run_in_progress_is_neither_shown_nor_recovered(output_folder: Path) -> None:
    with RunWriter(output_folder / "run") as writer:
        writer.add(CaseResult(0, "new"))
        writer.flush(make_run(started=20.0))
        with pytest.raises(RunUnfinished, match="in progress"):
            latest_run(output_folder)
        assert recover(output_folder) == []
        writer.finish(make_run(started=20.0))
    assert hashes(read_run(latest_run(output_folder))) == ["new"]


def test_a_run_stopped_before_its_first_case_hides_the_older_one(output_folder: Path) -> None:
    leave_marker(output_folder)
    with pytest.raises(RunUnfinished, match="didn't finish") as exc_info:
        latest_run(output_folder)
    assert exc_info.value.exit_code == 3
    assert recover(output_folder) == []
    assert latest_run(output_folder) == output_folder


def test_a_run_stopped_after_its_suites_is_incomplete(tmp_path: Path) -> None:
    def measured() -> None:
        with mark_in_progress(tmp_path / "run"):
            write(tmp_path / "run", make_cases(2), make_run(started=4e9))
            raise OSError("killed")

    with pytest.raises(OSError, match="killed"):
        measured()
    assert read_run(latest_run(tmp_path)).end.complete is False
    (found,) = recover(tmp_path)
    assert "incomplete" in found.notice
    assert read_run(tmp_path / "run").end.complete is False
    assert hashes(read_run(tmp_path / "run")) == ["h0", "h1"]
    assert not (tmp_path / "run" / "in-progress.json").exists()


@pytest.mark.parametrize("error", [None, SettingsError("wrong"), ExceptionGroup("tasks", [UsageError("wrong")])])
def test_a_finished_or_unstarted_block_leaves_no_marker(tmp_path: Path, error: Exception | None) -> None:
    output_folder = tmp_path / "made"
    try:
        with mark_in_progress(output_folder / "run"):
            assert (output_folder / "run" / "in-progress.json").exists()
            if error is not None:
                raise error
    except (SettingsError, ExceptionGroup):
        pass
    assert not output_folder.exists()


def test_a_second_run_in_the_same_folder_is_refused(output_folder: Path) -> None:
    with (
        lock_folder(output_folder),
        pytest.raises(UsageError, match="another scoregate run"),
        lock_folder(output_folder),
    ):
        pass


def test_a_marker_counts_only_from_the_holder_of_the_lock(output_folder: Path) -> None:
    with lock_folder(output_folder), mark_in_progress(output_folder / "run"):
        with pytest.raises(RunUnfinished, match=rf"in progress.*process {os.getpid()}"):
            latest_run(output_folder)
        assert recover(output_folder) == []
        assert (output_folder / "run" / "in-progress.json").exists()
    leave_marker(output_folder)
    with lock_folder(output_folder), pytest.raises(RunUnfinished, match="didn't finish"):
        latest_run(output_folder)


def test_a_lock_of_a_killed_process_hides_the_older_run(output_folder: Path) -> None:
    lock = output_folder / ".lock"
    for content in ('{"pid": 1, "started": 20.0}', ""):  # an empty one counts from when it was made
        lock.write_text(content, encoding="utf-8")
        with pytest.raises(RunUnfinished, match="didn't finish"):
            latest_run(output_folder)
        assert recover(output_folder) == []
        assert not lock.exists()
        assert latest_run(output_folder) == output_folder
    lock.write_text('{"pid": 1, "started": 5.0}', encoding="utf-8")  # killed after its run had finished
    assert latest_run(output_folder) == output_folder


def test_a_run_killed_while_moving_files_is_completed(output_folder: Path) -> None:
    left = write_unfinished(output_folder, make_cases(3))
    (left / "cases.jsonl.gz").replace(output_folder / "run" / "cases.jsonl.gz")
    with pytest.raises(RunUnfinished, match="recover"):
        latest_run(output_folder)
    assert recover(output_folder) == []
    assert hashes(read_run(output_folder / "run")) == ["h0", "h1", "h2"]


def test_links_are_not_followed(output_folder: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    write(elsewhere, make_cases(5), make_run(started=99.0))
    (output_folder / "run" / "in-progress-00000000").symlink_to(elsewhere)
    assert recover(output_folder) == []
    assert latest_run(output_folder) == output_folder
    assert (elsewhere / "run.json").exists()


def test_a_failed_recovery_loses_nothing(output_folder: Path) -> None:
    left = write_unfinished(output_folder, make_cases(3))
    (output_folder / "interrupted").write_text("a file in the way")
    with pytest.raises(RecordError):
        recover(output_folder)
    assert hashes(read_run(left)) == ["h0", "h1", "h2"]
