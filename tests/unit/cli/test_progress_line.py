"""The line below the table: activity, progress and the estimated rest, in any width."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from time import monotonic
from unittest.mock import patch

import pytest

from scoregate.cli.progress_state import RunProgress
from scoregate.cli.progress_table import draw_status_line
from scoregate.kernel.judge.archive import RunWriter
from scoregate.kernel.run.launch import EventsReceived, Finished, LaunchEvent
from scoregate.kernel.run.run_recorder import RunRecorder
from scoregate.kernel.types.evaluation import Threshold
from scoregate.kernel.types.events import CaseFinished, CaseStarted, Event, Scored, SuiteStarted
from scoregate.kernel.types.runs.run import Script


def make_event(done: int, planned: int | None) -> LaunchEvent:
    events: list[Event] = [SuiteStarted(suite="demo", cases=planned)]
    for number in range(done):
        who = {"suite": "demo", "case": f"case {number}"}
        events += [
            CaseStarted(**who, name=f"case {number}"),
            Scored(**who, evaluator="good", score=float(number % 4 > 0), threshold=Threshold(gte=1)),
            CaseFinished(**who),
        ]
    return EventsReceived("run", "events.jsonl", events)


@pytest.fixture
def recording(tmp_path: Path) -> Iterable[RunRecorder]:
    with RunWriter(tmp_path / "run") as writer:
        yield RunRecorder(writer, launches=2)


def draw_line(
    recording: RunRecorder,
    *happenings: LaunchEvent,
    began: int = 2,
    width: int = 120,
    ago: float = 30.0,
    ended: int = 0,
) -> str:
    """The line for suites whose first event was `ago` seconds ago."""
    standings = RunProgress()
    for _ in range(began):
        standings.begin("run", recording)
    for happening in happenings:
        recording.record_event(happening)
    with patch("scoregate.cli.progress_state.monotonic", return_value=monotonic() - ago):
        list(standings.update(recording))
    for _ in range(ended):
        standings.end()
    return draw_status_line(standings, monotonic() - ago, width=width).plain[2:]


def test_before_any_suite_the_line_names_scripts(recording: RunRecorder) -> None:
    assert draw_line(recording, began=0) == "30 s · preparing"
    assert draw_line(recording) == "30 s · 2 scripts running, no suite started yet"


def test_the_line_estimates_the_rest(recording: RunRecorder) -> None:
    text = draw_line(recording, make_event(20, 60))
    assert text == "30 s · 20 of 60 cases · 5 failed · about 1 m 0 s left · 0 of 2 scripts"


@pytest.mark.parametrize(
    ("happening", "began", "ago"),
    [
        (make_event(20, None), 2, 30.0),
        (make_event(20, 60), 1, 30.0),
        (make_event(2, 60), 2, 30.0),
        (make_event(20, 60), 2, 1.0),
    ],
    ids=["nobody knows how many", "a script waits", "too few are done", "too soon"],
)
def test_no_data_has_no_estimate(recording: RunRecorder, happening: LaunchEvent, began: int, ago: float) -> None:
    assert "left" not in draw_line(recording, happening, began=began, ago=ago)


def test_after_all_scripts_the_line_names_the_step(recording: RunRecorder) -> None:
    over = Finished(Script("run", exit_code=0))
    assert (
        draw_line(recording, make_event(4, 4), over, ended=2)
        == "30 s · 4 cases · 1 failed · comparing · 2 of 2 scripts"
    )


@pytest.mark.parametrize("width", range(10, 90, 7))
def test_text_stays_on_a_line(recording: RunRecorder, width: int) -> None:
    assert len(draw_line(recording, make_event(20, 60), width=width)) + 2 <= width
