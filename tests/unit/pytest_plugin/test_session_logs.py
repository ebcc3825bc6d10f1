"""The logs of a session of pytest."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scoregate.kernel.types.event_values import Origin
from scoregate.pytest_plugin.collected import Plan, PlannedSuite
from scoregate.pytest_plugin.session_logs import SessionLogs


def test_a_suite_of_a_second_session_can_not_be_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCOREGATE_EVENTS", str(tmp_path))
    plan = Plan({"hours": PlannedSuite(Origin("test_bot.py", 5), 1)})
    errors = []
    for _ in range(2):
        known = set(tmp_path.iterdir())
        logs = SessionLogs()
        logs.start(plan)
        logs.finish(0)
        (path,) = set(tmp_path.iterdir()) - known
        events = map(json.loads, path.read_bytes().splitlines())
        errors.append([event["error"]["message"] for event in events if event["type"] == "errored"])
    first, (second,) = errors
    assert first == []
    assert second.startswith("suite 'hours': a suite with this name ran before (test_bot.py:5)")
