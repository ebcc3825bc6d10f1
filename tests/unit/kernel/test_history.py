"""The history of a run on disk: small, round-trips, and never prevents reading the run."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.kernel.test_archive import make_cases, make_run, write

from scoregate.kernel.job.pipeline import with_history
from scoregate.kernel.judge.archive import amend_run, read_run
from scoregate.kernel.judge.archive.run_json import read_history
from scoregate.kernel.judge.judgement import Baseline
from scoregate.kernel.types.runs.history import history_after, with_history_of
from scoregate.kernel.types.runs.past_runs import History, PastRun, Score, SuiteHistory, SuiteMetrics
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.slots import NO_SLOTS

HISTORY = History(
    (
        PastRun("r1", 1.5, SuiteMetrics(0.5, 0.25, 812.0), "c" * 40, "main", "hi\n", dirty=True),
        PastRun("r2", 2.5, SuiteMetrics(), None),
    ),
    {"s0": SuiteHistory((SuiteMetrics(0.5, None, 10.0), None), {"e": (None, Score(0.25, 4, "a1b2c3d4"))})},
)


def test_a_history_round_trips(tmp_path: Path) -> None:
    write(tmp_path, make_cases(2), make_run(history=HISTORY))
    assert read_run(tmp_path).history == HISTORY
    head = json.loads((tmp_path / "run.json").read_text("utf-8"))
    assert head["history"]["suites"]["s0"]["scores"] == {"e": [None, [0.25, 4, "a1b2c3d4"]]}


def test_a_record_without_history_is_read(tmp_path: Path) -> None:
    write(tmp_path, make_cases(2))
    assert "history" not in (tmp_path / "run.json").read_text("utf-8")
    assert read_run(tmp_path).history == History()


def test_amending_twice_changes_nothing(tmp_path: Path) -> None:
    run = write(tmp_path, make_cases(2), make_run(history=HISTORY))
    amend_run(tmp_path, read_run(tmp_path))  # which adds undeclared evaluators
    before = (tmp_path / "run.json").read_bytes()
    amend_run(tmp_path, replace(read_run(tmp_path), history=with_history_of(run, HISTORY).history))
    assert (tmp_path / "run.json").read_bytes() == before


def test_a_known_history_is_not_written_again(tmp_path: Path) -> None:
    write(tmp_path, make_cases(2))
    run, written = read_run(tmp_path), list[Run]()
    past = history_after(replace(run, id="before"))
    assert [past.id for past in past.runs] == ["before"]
    for _ in range(3):
        run = with_history(run, past, Baseline(None), written.append, (), NO_SLOTS)
    assert written == [run]
    assert run.history == past


WRONG: dict[str, Any] = {
    "no object": [1],
    "too many runs": {"runs": [{"id": "x", "finished": 1, "took": [None, None, None]}] * 21},
    "too many columns": {"runs": [], "suites": {"s": {"took": [], "scores": {str(at): [] for at in range(600)}}}},
    "too long a name": {"runs": [], "suites": {"s" * 2_000_000: {"took": []}}},
    "a column of another length": {"runs": [], "suites": {"s": {"took": [None]}}},
    "a mean that is none": {"scores": {"e": [[2.0, 1, ""]]}},
    "a count that is none": {"scores": {"e": [[0.5, -1, ""]]}},
    "a digest without end": {"scores": {"e": [[0.5, 1, "x" * 1000]]}},
    "a point that is none": {"scores": {"e": [{"mean": "high"}]}},
    "a cost below nothing": {"took": [[None, -1, None]]},
    "a pass rate above all": {"took": [[1.1, None, None]]},
    "a time that is none": {"finished": -1},
    "the end of time": {"finished": 1e300},
    "a message without end": {"message": "x" * 1000},
    "a branch that is a number": {"branch": 7},
}


def make_record(wrong: dict[str, Any]) -> dict[str, Any]:
    """A history of one run with one invalid field."""
    suite = {"took": wrong.get("took", [None]), "scores": wrong.get("scores", {})}
    past = {"id": "x", "finished": 1, "took": [None, None, None]}
    return {
        "runs": [past | {key: wrong[key] for key in ("finished", "message", "branch") if key in wrong}],
        "suites": {"s": suite},
    }


@pytest.mark.parametrize("what", WRONG)
def test_an_invalid_history_is_dropped_with_a_notice(tmp_path: Path, what: str) -> None:
    wrong = WRONG[what]
    write(tmp_path, make_cases(2))
    head = json.loads((tmp_path / "run.json").read_text("utf-8"))
    head["history"] = wrong if not isinstance(wrong, dict) or "runs" in wrong else make_record(wrong)
    (tmp_path / "run.json").write_text(json.dumps(head), "utf-8")
    run = read_run(tmp_path)
    assert (run.history, run.end.complete, len(run.suites[0].columns)) == (History(), True, 2)
    (notice,) = run.notices
    assert notice.startswith("run.json: its history is ignored: ")
    assert len(notice) < 400


def test_a_valid_history_passes() -> None:
    assert read_history(make_record({}))[1] == ()


@given(st.recursive(st.none() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)))
def test_any_history_keeps_the_run_readable(data: Any) -> None:
    history, notices = read_history(data)
    assert isinstance(history, History)
    assert len(notices) <= 1
