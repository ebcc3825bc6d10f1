"""Events over the limit of a line: what is left out, and what stays."""

from __future__ import annotations

import errno
import gc
import os
from pathlib import Path
from typing import Any

import pytest

from scoregate.engine import event_log
from scoregate.engine.event_log import EventLog
from scoregate.errors import DiskFull, InvalidEvent, NotRecordable
from scoregate.kernel.types.event_json import parse_event
from scoregate.kernel.types.event_values import ErrorInfo, EventType, HumanReviewField
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


def test_a_label_stays_if_its_metadata_is_over_the_limit(tmp_path: Path) -> None:
    event = record(tmp_path, "labelled", case="a", evaluator="e", label="kind", metadata=HUGE)
    assert (event.label, event.metadata[:4]) == ("kind", '"xxx')


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


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch) -> bytes:
    """A line of a log. Each log writes the same one."""
    monkeypatch.setattr(event_log.time, "time", lambda: 1.0)
    log = EventLog("demo", None)
    log.emit("case_output", case="a", output="nine", trace="x" * 9999)
    (line,) = log.lines()
    return line


def emit_with_limit(limit: int, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The event of the same line with a lower limit."""
    monkeypatch.setattr(event_log, "MAX_EVENT_BYTES", limit)
    log = EventLog("demo", None)
    log.emit("case_output", case="a", output="nine", trace="x" * 9999)
    (line,) = log.lines()
    return parse_event(line)


def test_a_line_is_shorter_than_the_limit(line: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    for limit, is_cut in ((len(line), True), (len(line) + 1, False)):
        assert ("over the limit" in emit_with_limit(limit, monkeypatch).trace) is is_cut, limit


def test_an_output_stays_if_it_needs_less_than_half_of_the_limit(line: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    others = len(line) - len(f'"{"x" * 9999}"')
    for limit, is_truncated in ((2 * others, True), (2 * others + 2, False)):
        assert emit_with_limit(limit, monkeypatch).truncated is is_truncated, limit


def test_an_event_without_a_text_of_users_has_no_such_size(tmp_path: Path) -> None:
    with pytest.raises(InvalidEvent, match=r"a case_finished event … left out: .* bytes are over the limit"):
        EventLog("demo", tmp_path).emit("case_finished", case=HUGE)


NAMES: list[tuple[EventType, str, str]] = [
    ("case_output", "output", "the output"),
    ("case_started", "input", "the test case"),
    ("scored", "metadata", "the metadata"),
    ("labelled", "metadata", "the metadata"),
    ("suite_started", "params", "it"),
]


def test_an_error_names_what_cannot_be_recorded(tmp_path: Path) -> None:
    log = EventLog("demo", tmp_path)
    for kind, field, name in NAMES:
        with pytest.raises(NotRecordable, match=f"^{name} "):
            log.emit(kind, **{field: object()})


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


def test_the_first_event_of_each_log_has_the_number_zero() -> None:
    for _ in range(2):
        log = EventLog("demo", None)
        for number in range(3):
            log.emit("case_finished", case="a")
            assert parse_event(list(log.lines())[-1]).seq == number


def test_the_file_of_a_log_is_closed_with_it(tmp_path: Path) -> None:
    for folder in (tmp_path, None):
        log = EventLog("demo", folder)
        file = log._file
        assert not file.closed
        del log
        gc.collect()
        assert file.closed


def test_the_file_of_a_log_has_the_permissions_of_a_new_file(tmp_path: Path) -> None:
    (tmp_path / "new").touch()
    log = EventLog("demo", tmp_path)
    assert (tmp_path / log.name).stat().st_mode == (tmp_path / "new").stat().st_mode


def test_a_log_starts_without_a_report_of_its_end() -> None:
    log = EventLog("demo", None)
    assert (log.is_stop_reported, log.timed_out, log.tools, log.name) == (False, False, {}, "")


def test_an_error_that_quotes_an_image_keeps_its_text(tmp_path: Path) -> None:
    """Only inputs, outputs and metadata have media."""
    text = "no such image: data:image/png;base64,iVBORw0KGgo="
    event = record(tmp_path, "errored", stage="task", case="a", error=ErrorInfo("E", text))
    assert event.error.message == text
    assert not (tmp_path / "media").exists()
