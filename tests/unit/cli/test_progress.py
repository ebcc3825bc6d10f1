"""Progress of running suites."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.console import Console

from scoregate.cli.output import Output, OutputOptions
from scoregate.cli.progress import show_progress
from scoregate.cli.progress_state import RefreshLimit, format_output_line, format_own_line
from scoregate.kernel.judge.archive import RunWriter
from scoregate.kernel.run.launch import EventsReceived, Finished, LaunchEvent, Started
from scoregate.kernel.run.run_recorder import RunRecorder
from scoregate.kernel.types.events import CaseFinished, CaseStarted, Event, Scored, SuiteFinished, SuiteStarted
from scoregate.kernel.types.runs.run import Script


def suite(log: str = "http-1", *, end: bool = True, duration_s: float | None = 75.0) -> list[LaunchEvent]:
    who = {"suite": "theirs", "case": "a"}
    events: list[Event] = [
        SuiteStarted(suite="theirs"),
        CaseStarted(**who, name="a"),
        Scored(**who, evaluator="good", score=1.0),
        CaseFinished(**who),
    ]
    ended: list[Event] = [SuiteFinished(suite="theirs", duration_s=duration_s)] if end else []
    return [EventsReceived("run", log, [*events, *ended])]


def shown(folder: Path, *launches: Sequence[LaunchEvent]) -> str:
    """The log of launches of one script, each with its own recording."""
    out = io.StringIO()
    with show_progress(Output(OutputOptions(), Console(file=out, width=200))) as watch:
        for number, launch in enumerate(launches):
            with RunWriter(folder / str(number)) as writer:
                recording = RunRecorder(writer)
                for happening in (Started("run"), *launch, Finished(Script("run", exit_code=0))):
                    recording.record_event(happening)
                    watch.observe(happening, recording)
    return out.getvalue()


@pytest.mark.parametrize("log", ["http-1", "events.jsonl"])
def test_a_relaunched_script_is_shown_again(tmp_path: Path, log: str) -> None:
    assert shown(tmp_path, suite(log), suite(log), suite(log)).count("theirs: 1 case, ") == 3


@pytest.mark.parametrize("log", ["http-1", "events.jsonl"])
def test_the_time_of_a_suite_is_that_of_its_events(tmp_path: Path, log: str) -> None:
    assert shown(tmp_path, suite(log)).splitlines()[-1].endswith("good 1.000, 1 m 15 s")


def test_an_unknown_time_is_not_shown(tmp_path: Path) -> None:
    assert shown(tmp_path, suite(duration_s=None)).splitlines()[-1].endswith("good 1.000")
    assert shown(tmp_path, suite(end=False)).splitlines()[-1].endswith("good 1.000; it did not finish")


def test_only_lines_of_other_programs_are_marked() -> None:
    assert format_output_line("    x\x1b[1m").plain == "  |     x"
    assert format_own_line("$ npm ci").plain == "$ npm ci"
    assert not format_own_line("::error::a name in a note").plain.startswith("::")


def test_a_script_that_runs_in_two_trees_at_a_time_finishes_in_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RefreshLimit, "is_due", lambda _: True)
    out, (events,) = io.StringIO(), suite()
    assert isinstance(events, EventsReceived)
    begun, rest = EventsReceived("run", "http-2", events.events[:2]), EventsReceived("run", "http-2", events.events[2:])
    end = Finished(Script("run", exit_code=0))
    with (
        show_progress(Output(OutputOptions(), Console(file=out, width=200))) as watch,
        RunWriter(tmp_path / "a") as first,
        RunWriter(tmp_path / "b") as second,
    ):
        one, other = RunRecorder(first), RunRecorder(second)
        order = ((one, Started("run")), (one, events), (other, Started("run")), (other, begun), (one, end))
        for recording, happening in (*order, (other, rest), (other, end)):
            recording.record_event(happening)
            watch.observe(happening, recording)
    assert "did not finish" not in out.getvalue()
    assert out.getvalue().splitlines()[-1].endswith("good 1.000, 1 m 15 s")
