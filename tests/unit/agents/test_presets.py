"""Known agents: their command lines, and what they need in an environment."""

from __future__ import annotations

import json
import os
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.unit.agents.streams import STREAMS

from scoregate.agents import PRESETS, command_agent
from scoregate.kernel.types.json_io import dump


def test_every_preset_runs_with_its_own_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    for name, preset in PRESETS.items():
        events = tmp_path / f"{name}.jsonl"
        events.write_bytes(b"\n".join(map(dump, STREAMS[name])))
        arguments = json.dumps([word for word in preset.command[1:] if word != "{prompt}"])
        (tmp_path / name).write_text(
            f"#!{sys.executable}\nimport json, sys\nassert [w for w in sys.argv[1:] if w != 'Which files?'] == "
            f"json.loads({arguments!r}), sys.argv\nassert 'Which files?' in sys.argv\n"
            f"print(open({str(events)!r}).read())\n"
        )
        (tmp_path / name).chmod(0o755)
        result = anyio.run(command_agent(name), "Which files?")
        assert (name, result.final_output, len(result.tool_calls)) == (name, "One file.", 2)


@dataclass
class Start:
    """How an agent was started."""

    arguments: list[str]
    environment: dict[str, str]
    settings: Any


def start(tmp_path: Path, name: str, command: list[str] | None = None, **env: str) -> Start:
    """Run a program that has the name of a known agent and reports how it was started."""
    (tmp_path / "events.jsonl").write_bytes(b"\n".join(map(dump, STREAMS[name])))
    report = str(tmp_path / "start.json")
    (tmp_path / name).write_text(
        f"#!{sys.executable}\nimport json, os, pathlib, sys\nfile = pathlib.Path.home() / '.gemini/settings.json'\n"
        "settings = json.loads(file.read_text()) if file.exists() else None\n"
        f"pathlib.Path({report!r}).write_text(json.dumps([sys.argv[1:], dict(os.environ), settings]))\n"
        f"print(open({str(tmp_path / 'events.jsonl')!r}).read())\n"
    )
    (tmp_path / name).chmod(0o755)
    anyio.run(command_agent(command or name, events=name, env=env), "Which files?")
    return Start(*json.loads(Path(report).read_text()))


@pytest.fixture
def keyless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    variables = ("OPENAI_API_KEY", "CODEX_API_KEY", "OPENAI_BASE_URL", "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL")
    for name in (*variables, "GEMINI_CLI_TRUST_WORKSPACE", "IS_SANDBOX"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("keyless")
def test_codex_gets_the_key_and_the_address_in_the_form_that_it_reads(tmp_path: Path) -> None:
    plain = start(tmp_path, "codex", OPENAI_API_KEY="a")
    assert (plain.environment["CODEX_API_KEY"], "-c" in plain.arguments) == ("a", False)
    assert start(tmp_path, "codex", OPENAI_API_KEY="a", CODEX_API_KEY="b").environment["CODEX_API_KEY"] == "b"
    address = 'http://127.0.0.1:9/openai/v1?a="b"'
    for keys, name in (
        ({"OPENAI_API_KEY": "a"}, "OPENAI_API_KEY"),
        ({"CODEX_API_KEY": "b"}, "CODEX_API_KEY"),
        ({"OPENAI_API_KEY": "a", "CODEX_API_KEY": "b"}, "OPENAI_API_KEY"),  # the key of the address
        ({}, None),
    ):
        arguments = start(tmp_path, "codex", OPENAI_BASE_URL=address, **keys).arguments
        *rest, first, second, third, fourth = arguments
        assert (rest[-1], first, third) == ("Which files?", "-c", "-c")
        options = tomllib.loads(f"{second}\n{fourth}")
        assert options["model_provider"] == "scoregate"
        provider = options["model_providers"]["scoregate"]
        assert (provider["base_url"], provider["wire_api"], provider.get("env_key")) == (address, "responses", name)
    own = start(tmp_path, "codex", ["codex", "exec", "--json", "{prompt}"], OPENAI_BASE_URL=address, OPENAI_API_KEY="a")
    assert (own.arguments, own.environment["CODEX_API_KEY"]) == (["exec", "--json", "Which files?"], "a")


@pytest.mark.usefixtures("keyless")
def test_gemini_trusts_its_workspace_and_authenticates_by_key_at_other_addresses(tmp_path: Path) -> None:
    plain = start(tmp_path, "gemini", GEMINI_API_KEY="a")
    assert (plain.environment["GEMINI_CLI_TRUST_WORKSPACE"], plain.settings) == ("true", None)
    moved = start(tmp_path, "gemini", GEMINI_API_KEY="a", GOOGLE_GEMINI_BASE_URL="http://127.0.0.1:9")
    assert moved.settings == {"security": {"auth": {"selectedType": "gemini-api-key"}}}
    own_home = tmp_path / "home"
    own_home.mkdir()
    own = start(tmp_path, "gemini", GEMINI_API_KEY="a", GOOGLE_GEMINI_BASE_URL="http://127.0.0.1:9", HOME=str(own_home))
    assert (own.settings, list(own_home.iterdir())) == (None, [])  # the user's own folder has the user's own settings
    chosen = start(tmp_path, "gemini", GEMINI_CLI_TRUST_WORKSPACE="false")
    assert chosen.environment["GEMINI_CLI_TRUST_WORKSPACE"] == "false"


@pytest.mark.usefixtures("keyless")
def test_claude_learns_as_root_that_it_may_run_without_questions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for user, variables, expected in ((0, {}, "1"), (0, {"IS_SANDBOX": "0"}, "0"), (1000, {}, None)):
        monkeypatch.setattr("os.geteuid", lambda user=user: user)
        assert start(tmp_path, "claude", **variables).environment.get("IS_SANDBOX") == expected
