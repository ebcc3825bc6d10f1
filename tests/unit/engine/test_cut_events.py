"""Events over the limit of a line: what is left out, and what stays."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from scoregate.engine.event_log import EventLog
from scoregate.errors import DiskFull, InvalidEvent, NotRecordable
from scoregate.kernel.types.event_json import parse_event
from scoregate.kernel.types.event_values import EventType, HumanReviewField
from scoregate.kernel.types.events import CaseFinished
from scoregate.kernel.types.json_io import MAX_EVENT_BYTES

HUGE = "x" * MAX_EVENT_BYTES
FIELDS = (HumanReviewField("a", "b", "text"),)


def record(folder: Path, kind: EventType, **fields: Any) -> Any:
    """The event as it is read."""
    EventLog("demo", folder).emit(kind, **fields)
    (path,) = folder.glob("*.jsonl")
    (line,) = path.read_bytes().splitlines()
    assert len(line) < MAX_EVENT_BYTES
    return parse_event(line)


def test_the_beginning_of_a_text_is_kept_with_a_note(tmp_path: Path) -> None:
    event = record(tmp_path, "case_output", case="a", output=HUGE, review_outputs=FIELDS)
    text, _, note = event.output.partition("…")
    assert text == f'"{"x" * 99_999}'
    assert note.startswith(" left out: 8,388,")
    assert note.endswith(f" bytes are over the limit of {MAX_EVENT_BYTES:,}")
    assert (event.truncated, event.review_outputs) == (True, ())


def test_an_input_over_the_limit_has_no_form_for_reviewers(tmp_path: Path) -> None:
    event = record(tmp_path, "case_started", case="a", name="n", input={"text": HUGE}, review_inputs=FIELDS)
    assert event.input.startswith('{"text":"xxx')
    assert (event.name, event.review_inputs) == ("n", ())


def test_a_score_stays_if_its_metadata_is_over_the_limit(tmp_path: Path) -> None:
    event = record(tmp_path, "scored", case="a", evaluator="e", score=0.5, metadata=HUGE, assertions=())
    assert (event.score, event.evaluator, event.assertions) == (0.5, "e", None)
    assert event.metadata.startswith('"xxx')


def test_a_text_is_cut_between_characters(tmp_path: Path) -> None:
    event = record(tmp_path, "case_output", case="a", output="é" * MAX_EVENT_BYTES)
    assert set(event.output.partition("…")[0]) == {'"', "é"}


def test_what_is_large_besides_the_trace_is_cut_too(tmp_path: Path) -> None:
    half = "x" * (MAX_EVENT_BYTES // 2 + 1)
    event = record(tmp_path, "case_output", case="a", output=half, trace=half)
    assert (event.truncated, "over the limit" in event.trace) == (True, True)
    (tmp_path / "small").mkdir()
    small = record(tmp_path / "small", "case_output", case="a", output=half[:-200], trace=half)
    assert (small.truncated, small.output) == (False, half[:-200])


def test_an_event_without_a_text_of_users_has_no_such_size(tmp_path: Path) -> None:
    with pytest.raises(InvalidEvent, match=r"a case_finished event … left out: .* bytes are over the limit"):
        EventLog("demo", tmp_path).emit("case_finished", case=HUGE)


def test_an_error_names_what_cannot_be_recorded(tmp_path: Path) -> None:
    log = EventLog("demo", tmp_path)
    for kind, field, name in (("case_output", "output", "the output"), ("case_started", "input", "the test case")):
        with pytest.raises(NotRecordable, match=name):
            log.emit(kind, **{field: object()})  # type: ignore[arg-type]


def test_a_disk_without_space_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(error: int) -> Any:
        def fail(*_: object) -> int:
            raise OSError(error, os.strerror(error))

        return fail

    for folder, place in ((tmp_path, str(tmp_path)), (None, "a temporary file")):
        log = EventLog("demo", folder)
        with monkeypatch.context() as disk:
            disk.setattr(os, "write", write(errno.ENOSPC))
            with pytest.raises(DiskFull, match=f"the results of demo can't be written to {place}: No space left"):
                log.emit("case_finished", case="a")
            disk.setattr(os, "write", write(errno.EIO))
            with pytest.raises(OSError, match="Input/output error"):
                log.emit("case_finished", case="a")


def test_a_line_that_the_disk_takes_in_parts_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log, write = EventLog("demo", tmp_path), os.write
    with monkeypatch.context() as disk:
        disk.setattr(os, "write", lambda file, data: write(file, data[:7]))
        log.emit("case_output", case="a", output="nine")
    assert [parse_event(line).seq for line in log.lines()] == [0]


def test_lines_are_read_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scoregate.engine.event_log._CHUNK", 50)
    log = EventLog("demo", None)
    for number in range(9):
        log.emit("case_finished", case=str(number))
    events = [parse_event(line) for line in log.lines()]
    assert [each.case for each in events if isinstance(each, CaseFinished)] == [str(number) for number in range(9)]


def test_only_the_end_of_a_trial_is_progress() -> None:
    finished: list[None] = []
    log = EventLog("demo", None, on_case_finished=lambda: finished.append(None))
    log.emit("suite_started", cases=1)
    log.emit("case_started", case="a")
    assert finished == []
    log.emit("case_finished", case="a")
    assert finished == [None]
