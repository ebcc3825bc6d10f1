"""The progress file of a run: bounded, complete, and trusted only while its process lives."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from scoregate.kernel.judge.archive.progress import (
    LIVE_FILE,
    LiveCase,
    LiveCount,
    LiveRun,
    LiveSuite,
    process_start_time,
    read_live,
    remove_live,
)
from scoregate.kernel.judge.archive.progress import write_live as tell


def make_live_run() -> LiveRun:
    started = process_start_time(os.getpid())
    assert started is not None
    return LiveRun(os.getpid(), started, 12.5, "hi", "run", LiveCount(1, 3, 1), (LiveSuite("s", LiveCount(1)),))


def test_the_start_time_is_that_of_psutil() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        started = process_start_time(child.pid)
        assert started is not None
        assert abs(started - psutil.Process(child.pid).create_time()) < 1
        child.kill()
    assert process_start_time(child.pid) is None


def test_progress_round_trips(tmp_path: Path) -> None:
    live = replace(make_live_run(), failing=(LiveCase("s", "c", True, ("why",)),))
    tell(tmp_path, live)
    assert read_live(tmp_path) == live
    assert [path.name for path in tmp_path.iterdir()] == [LIVE_FILE]
    remove_live(tmp_path, os.getpid())
    assert read_live(tmp_path) is None


def test_a_dead_process_is_not_trusted(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        started = process_start_time(child.pid)
        assert started is not None
        tell(tmp_path, replace(make_live_run(), pid=child.pid, born=started))
        assert read_live(tmp_path) is not None
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert read_live(tmp_path) is None
    assert read_live(tmp_path) is None


def test_another_process_with_the_id_is_not_it(tmp_path: Path) -> None:
    tell(tmp_path, replace(make_live_run(), born=make_live_run().born - 60))
    assert read_live(tmp_path) is None


def test_the_file_of_another_process_is_kept(tmp_path: Path) -> None:
    tell(tmp_path, make_live_run())
    remove_live(tmp_path, os.getpid() + 1)
    assert read_live(tmp_path) is not None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": -1, "born": 0, "started": 0}', "x" * (2 << 20)])
def test_invalid_data_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / LIVE_FILE).write_text(text)
    assert read_live(tmp_path) is None


def test_a_link_or_a_pipe_is_not_read(tmp_path: Path) -> None:
    tell(tmp_path, make_live_run())
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / LIVE_FILE).symlink_to(tmp_path / LIVE_FILE)
    assert read_live(tmp_path / "below") is None
    (tmp_path / "below" / LIVE_FILE).unlink()
    os.mkfifo(tmp_path / "below" / LIVE_FILE)
    assert read_live(tmp_path / "below") is None
