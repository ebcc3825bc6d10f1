"""What titles a run reaches its log."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scoregate.testing.run import RunManager, run_test_suite


@pytest.mark.parametrize("variable", ["SCOREGATE_TEST_RUN_MESSAGE", "AUTOBLOCKS_TEST_RUN_MESSAGE"])
def test_the_environments_message_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv("SCOREGATE_EVENTS", str(tmp_path))
    monkeypatch.setenv(variable, "first run")
    run_test_suite("s", ["a"], str, test_case_hash=str)
    RunManager("m").start()
    RunManager("own", message="mine").start()
    said = [json.loads(path.read_text().splitlines()[0]) for path in sorted(tmp_path.iterdir())]
    assert {each["suite"]: each["message"] for each in said} == {"s": "first run", "m": "first run", "own": "mine"}
