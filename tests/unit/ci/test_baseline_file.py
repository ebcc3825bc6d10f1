"""A stored run as the base, in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from scoregate.ci.archive import RunWriter
from scoregate.ci.baseline.file import describe, read_baseline
from scoregate.ci.settings import Settings
from scoregate.core.record import Run
from scoregate.errors import RecordError

pytestmark = pytest.mark.anyio
RUN = Run("id", 0.0, 1000.0, "0", complete=True, commit="a1b2c3d4e5", branch="main")


async def test_a_path_is_read_and_described(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "base" / "run") as writer:
        writer.finish(RUN)
    found = await read_baseline(tmp_path, Settings(baseline="base"), clock=lambda: 1000.0 + 3.5 * 3600)
    assert found is not None
    assert found.run is not None
    assert found.run.id == "id"
    assert found.note == "run of main@a1b2c3d, 3 hours old"


async def test_none_is_a_reason_and_rerun_is_for_later(tmp_path: Path) -> None:
    found = await read_baseline(tmp_path, Settings())
    assert found is not None
    assert (found.run, found.note) == (None, "no base was asked for")
    assert await read_baseline(tmp_path, Settings(baseline="rerun:main")) is None


async def test_a_run_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="does not exist"):
        await read_baseline(tmp_path, Settings(baseline="nowhere"))


@pytest.mark.parametrize(
    ("run", "seconds", "note"),
    [
        (RUN, -5, "run of main@a1b2c3d, just made"),
        (RUN, 60, "run of main@a1b2c3d, 1 minute old"),
        (RUN, 3 * 86_400, "run of main@a1b2c3d, 3 days old"),
        (Run("id", 0, 1000.0, "0", commit="a1b2c3d4"), 0, "run of a1b2c3d, just made, incomplete"),
        (Run("id", 0, 1000.0, "0", complete=True), 0, "run of no known commit, just made"),
        (
            Run("id", 0, 1000.0, "0", complete=True, branch="b", dirty=True, notices=("x", "cases.jsonl.gz: cut")),
            0,
            "run of b, with changes, just made, cases.jsonl.gz: cut",
        ),
    ],
)
def test_a_run_in_words(run: Run, seconds: float, note: str) -> None:
    assert describe(run, 1000.0 + seconds) == note
