"""Messages of the worker about failed commands, in this process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scoregate import Client
from scoregate.kernel.types.event_json import parse_event
from scoregate.worker import main

BOT = "def answer(input):\n    return input\n\n\nLIMIT = 1\n"
ORDER = {"name": "nightly-regression", "file": "configs/n.toml", "origin": "a config in x.toml"}


@pytest.fixture
def events_folder(client: Client, root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:  # noqa: ARG001
    """The folder in which a host would listen."""
    monkeypatch.syspath_prepend(root)
    monkeypatch.setenv("SCOREGATE_EVENTS", str(root / "events"))
    (root / "events").mkdir()
    (root / "a_bot.py").write_text(BOT, encoding="utf-8")
    (root / "a_bot_that_ends.py").write_text("raise SystemExit(0)\n", encoding="utf-8")
    (root / "a_bot_that_raises.py").write_text("open('/nowhere')\n", encoding="utf-8")
    return root / "events"


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ({"agent": "a_bot:answr"}, "agent = 'a_bot:answr' cannot be loaded: AttributeError"),
        ({"agent": "a_bot_that_raises:answer"}, "cannot be loaded: FileNotFoundError"),
        ({"agent": "a_bot_that_ends:answer"}, "agent = 'a_bot_that_ends:answer' cannot be loaded: SystemExit"),
        ({"agent": "a_bot:answer", "pass_condition": "a_bot:LIMIT"}, "pass_condition = 'a_bot:LIMIT' is not a"),
        ({"agent": "a_bot:answer", "dataset_version": 9}, "Dataset version 9 does not exist"),
        ({"agent": "a_bot:answer", "judge_versions": [{"nam": "x"}]}, "have no key 'nam'"),
        ({"agent": "a_bot:answer", "field_mapping": {"input": "nope"}}, "requires example field(s) ['nope']"),
        ({"name": "nobody"}, "there is no test config 'nobody'"),
    ],
)
def test_a_failed_start_is_reported_with_its_line(
    events_folder: Path, order: dict[str, object], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config", json.dumps({**ORDER, **order})]) == 0
    (log,) = events_folder.iterdir()
    started, error, finished = map(parse_event, log.read_bytes().splitlines())
    assert (started.type, error.type, finished.type) == ("suite_started", "errored", "suite_finished")
    assert started.origin.file == "configs/n.toml"
    assert message in error.error.message
    if "name" not in order:
        assert error.error.message.endswith("(a config in x.toml)")
        assert message in capsys.readouterr().err


def test_the_traceback_of_the_users_module_is_kept(events_folder: Path) -> None:
    main(["config", json.dumps({**ORDER, "agent": "a_bot_that_raises:answer"})])
    (log,) = events_folder.iterdir()
    assert "a_bot_that_raises.py" in parse_event(log.read_bytes().splitlines()[1]).error.traceback
