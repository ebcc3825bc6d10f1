"""The title of a run is in its log."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from scoregate.engine.environment import run_message
from scoregate.testing.run import RunManager, run_test_suite


def test_autoblocks_overrides_can_set_the_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCOREGATE_EVENTS", str(tmp_path))
    monkeypatch.setenv("AUTOBLOCKS_TEST_RUN_MESSAGE", "legacy")
    texts = {
        '{"testRunMessage": "from overrides", "promptRevisions": {}}': "from overrides",
        '{"testRunMessage": null}': "legacy",
        '{"testRunMessage": 5}': "legacy",
        "[1]": "legacy",
        "not JSON": "legacy",
        "": "legacy",
    }
    for number, text in enumerate(texts):
        monkeypatch.setenv("AUTOBLOCKS_OVERRIDES", text)
        run_test_suite(f"s{number}", ["a"], str, test_case_hash=str)
    RunManager("own", message="mine").start()
    first_events = [json.loads(path.read_text().splitlines()[0]) for path in tmp_path.iterdir()]
    expected = {f"s{number}": message for number, message in enumerate(texts.values())} | {"own": "mine"}
    assert {each["suite"]: each["message"] for each in first_events} == expected
    monkeypatch.setenv("SCOREGATE_TEST_RUN_MESSAGE", "the host's")
    assert run_message({**os.environ, "AUTOBLOCKS_OVERRIDES": next(iter(texts))}) == "the host's"


@pytest.mark.parametrize("variable", ["SCOREGATE_TEST_RUN_MESSAGE", "AUTOBLOCKS_TEST_RUN_MESSAGE"])
def test_the_environment_sets_the_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv("SCOREGATE_EVENTS", str(tmp_path))
    monkeypatch.setenv(variable, "first run")
    run_test_suite("s", ["a"], str, test_case_hash=str)
    RunManager("m").start()
    RunManager("own", message="mine").start()
    first_events = [json.loads(path.read_text().splitlines()[0]) for path in sorted(tmp_path.iterdir())]
    assert {each["suite"]: each["message"] for each in first_events} == {
        "s": "first run",
        "m": "first run",
        "own": "mine",
    }
