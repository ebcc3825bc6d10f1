"""Every event is in the file before the next line of code runs, with concurrent readers and writers."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import pytest

from scoregate.engine import event_log as log_module
from scoregate.engine.event_log import EventLog
from scoregate.engine.results import make_result
from scoregate.kernel.types.event_json import parse_event
from scoregate.kernel.types.event_values import ErrorInfo, EventType
from scoregate.kernel.types.events import CaseOutput, Errored, Event
from scoregate.kernel.types.json_io import MAX_EVENT_BYTES

FOLDERS = pytest.mark.parametrize("kept", [True, False], ids=["in a folder", "in this process"])


def lines(folder: Path) -> list[Event]:
    (path,) = folder.glob("*.jsonl")
    return [parse_event(line) for line in path.read_bytes().splitlines()]


def test_an_event_is_in_the_file_at_once(tmp_path: Path) -> None:
    log = EventLog("demo", tmp_path)
    log.emit("suite_started", cases=2)
    assert [(event.suite, event.seq, event.v) for event in lines(tmp_path)] == [("demo", 0, 1)]
    log.emit("case_started", case="a")
    assert [event.seq for event in lines(tmp_path)] == [0, 1]
    assert lines(tmp_path)[0].time <= lines(tmp_path)[1].time


@FOLDERS
def test_readers_do_not_disturb_the_writer(tmp_path: Path, kept: bool) -> None:
    log = EventLog("demo", tmp_path if kept else None)
    for number in range(1000):
        log.emit("case_output", case=str(number), output="x" * 100)
        log.emit("case_finished", case=str(number))
        if number == 500:
            early = make_result([log]).cases
            assert next(early).hash == "0"
    assert sum(1 for _ in early) == 999
    assert [case.hash for case in make_result([log]).cases] == [str(number) for number in range(1000)]


def test_threads_write_whole_lines(tmp_path: Path) -> None:
    log = EventLog("demo", tmp_path)

    def emit(name: str) -> None:
        for number in range(100):
            log.emit("case_output", case=f"{name}{number}", output=name * 5000)

    threads = [threading.Thread(target=emit, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(lines(tmp_path)) == 400
    assert [event.seq for event in lines(tmp_path)] == list(range(400))


def test_two_logs_are_two_files(tmp_path: Path) -> None:
    for _ in range(2):
        EventLog("demo", tmp_path).emit("suite_started")
    assert len(list(tmp_path.glob(f"{os.getpid()}-*.jsonl"))) == 2


def test_an_existing_file_is_unchanged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process in another container can have had the same id."""
    monkeypatch.setattr(log_module, "_counter", iter(range(7, 99)))
    taken = tmp_path / f"{os.getpid()}-7.jsonl"
    taken.write_text("theirs", encoding="utf-8")
    EventLog("demo", tmp_path).emit("suite_started")
    assert taken.read_text(encoding="utf-8") == "theirs"
    assert (tmp_path / f"{os.getpid()}-8.jsonl").exists()


@pytest.mark.parametrize("value", [object(), [[]] * 2 + [lambda: 1]], ids=["an object", "a function within"])
def test_values_without_json_write_nothing(tmp_path: Path, value: Any) -> None:
    log = EventLog("demo", tmp_path)
    with pytest.raises(ValueError, match="serialize"):
        log.emit("case_output", case="a", output=value)
    log.emit("case_finished", case="a")
    assert [(event.type, event.seq) for event in lines(tmp_path)] == [("case_finished", 0)]
    assert len(make_result([log]).columns) == 1


HUGE = "x" * (MAX_EVENT_BYTES + 1)


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("case_output", {"case": "a", "output": HUGE}),
        ("case_output", {"case": "a", "output": HUGE, "trace": {"spans": [HUGE]}}),
        ("case_started", {"case": "a", "input": {"text": HUGE}}),
        ("scored", {"case": "a", "evaluator": "e", "score": 0.5, "metadata": {"why": HUGE}}),
        ("errored", {"case": "a", "stage": "task", "error": ErrorInfo("E", HUGE)}),
    ],
)
def test_an_event_over_the_limit_is_cut(tmp_path: Path, kind: EventType, fields: dict[str, Any]) -> None:
    log = EventLog("demo", tmp_path)
    log.emit(kind, **fields)
    (event,) = lines(tmp_path)
    assert event.type == kind
    assert "over the limit" in str(event)
    assert len(str(event)) < 200_000


def test_a_trace_is_dropped_before_the_output(tmp_path: Path) -> None:
    log = EventLog("demo", tmp_path)
    log.emit("case_output", case="a", output="short", trace={"spans": [HUGE]})
    (event,) = lines(tmp_path)
    assert isinstance(event, CaseOutput)
    assert (event.output, event.truncated) == ("short", False)
    assert "over the limit" in event.trace


def test_a_trace_is_dropped_before_an_error(tmp_path: Path) -> None:
    log = EventLog("demo", tmp_path)
    log.emit("errored", stage="task", case="a", error=ErrorInfo("E", "short"), trace={"spans": [HUGE]})
    (event,) = lines(tmp_path)
    assert isinstance(event, Errored)
    assert (event.error.message, "over the limit" in event.trace) == ("short", True)


def test_half_a_line_at_the_end_is_not_read(tmp_path: Path) -> None:
    log = EventLog("demo", tmp_path)
    log.emit("case_finished", case="a")
    (path,) = tmp_path.glob("*.jsonl")
    with path.open("ab") as file:
        file.write(b'{"type":"case_fin')
    assert [case.hash for case in make_result([log]).cases] == ["a"]


def test_unfinished_cases_have_an_error(tmp_path: Path) -> None:
    log = EventLog("demo", tmp_path)
    log.emit("case_output", case="a", output=1)
    (case,) = make_result([log]).cases
    assert [error.error.type for error in case.errors] == ["Unfinished"]
    assert not make_result([log]).complete
