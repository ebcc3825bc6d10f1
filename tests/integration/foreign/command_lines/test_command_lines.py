"""Real command lines of agents, with a scripted provider on loopback and no other network.

`SCOREGATE_TEST_AGENTS=newest` installs their newest versions from npm, and `documented` those of the guide. Without it,
those on PATH run, and a missing one is skipped: together they take more than a gigabyte.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.docs.project import ROOT
from tests.integration.cached_environments import cached_folder
from tests.integration.foreign.command_lines.provider import ANSWER
from tests.integration.foreign.command_lines.session import KEY

# The versions that passed: the table of docs/guides/agents.md.
PACKAGES = {
    "claude": ("@anthropic-ai/claude-code", "2.1.197"),
    "codex": ("@openai/codex", "0.171.0"),
    "gemini": ("@google/gemini-cli", "0.61.0"),
    "opencode": ("opencode-ai", "1.18.33"),
}
CHOICE = os.environ.get("SCOREGATE_TEST_AGENTS", "")
_UNSHARE = ("unshare", "--user", "--map-root-user", "--net")


@dataclass(frozen=True)
class Api:
    """An agent at one API: the path of its requests, the variables of key and address, and its file of settings."""

    agent: str
    path: str
    variables: tuple[str, str]
    address: str = "{provider}"
    settings: str = ""


# OpenCode asks other providers by an API that it finds in its settings.
_CHAT = {
    "$schema": "https://opencode.ai/config.json",  # without it, OpenCode adds it to the file
    "model": "shop/gpt-4o",
    "small_model": "shop/gpt-4o",
    "provider": {
        "shop": {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": "{env:OPENAI_BASE_URL}", "apiKey": "{env:OPENAI_API_KEY}"},
            "models": {"gpt-4o": {}},
        }
    },
}
_OPENAI, _ANTHROPIC = ("OPENAI_API_KEY", "OPENAI_BASE_URL"), ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL")
APIS = {
    "claude-messages": Api("claude", r"/v1/messages", _ANTHROPIC),
    "codex-responses": Api("codex", r"/v1/responses", _OPENAI, "{provider}/v1"),
    "gemini-generateContent": Api(
        "gemini", r"/v1beta/models/[^/]+:(streamG|g)enerateContent", ("GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL")
    ),
    "opencode-responses": Api("opencode", r"/v1/responses", _OPENAI, "{provider}/v1"),
    "opencode-messages": Api("opencode", r"/v1/messages", _ANTHROPIC, "{provider}/v1"),
    "opencode-chat": Api("opencode", r"/v1/chat/completions", _OPENAI, "{provider}/v1", json.dumps(_CHAT)),
}
_SUITE = """
from scoregate import evaluate
from scoregate.agents import command_agent
from scoregate.scorers import contains, files_changed


def ran_the_command(trajectory):
    return any("> hours.txt" in str(call.arguments) for call in trajectory.tool_calls)


evaluate(
    "agent",
    data=[{{"input": "Write the opening hours to hours.txt."}}],
    task=command_agent({agent!r}, workspace="shop", timeout=400),
    scorers=[files_changed(["hours.txt"]), contains({answer!r}), ran_the_command],
)
"""


@pytest.fixture(scope="module")
def programs() -> Path | None:
    """The folder of the installed command lines; None for those on PATH."""
    if not CHOICE:
        return None
    assert CHOICE in ("newest", "documented"), f"SCOREGATE_TEST_AGENTS={CHOICE} must be newest or documented"
    assert shutil.which("npm"), "SCOREGATE_TEST_AGENTS is set, and there is no npm"
    wanted = [f"{package}@{_find_version(agent)}" for agent, (package, _) in PACKAGES.items()]

    def make(folder: Path) -> None:
        folder.mkdir()
        # Binaries are optional dependencies, which scripts of the packages put into their places.
        quiet = ("--no-audit", "--no-fund", "--no-package-lock")
        process = subprocess.run(
            ["npm", "install", *quiet, "--prefix", str(folder), *wanted], capture_output=True, text=True, check=False
        )
        assert process.returncode == 0, process.stderr

    return cached_folder("agents", wanted, make) / "node_modules" / ".bin"


def _find_version(agent: str) -> str:
    package, documented = PACKAGES[agent]
    if CHOICE == "documented":
        return documented
    found = subprocess.run(["npm", "view", package, "version"], capture_output=True, text=True, check=True)
    return found.stdout.strip()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The project, whose folder `shop` is the workspace."""
    folder = tmp_path / "project"
    (folder / "evals").mkdir(parents=True)
    (folder / "shop").mkdir()
    (folder / "shop" / "README.md").write_text("A shop.\n")
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    return folder


@pytest.mark.parametrize("gateway", [False, True], ids=["direct", "gateway"])
@pytest.mark.parametrize("api", APIS.values(), ids=APIS.keys())
def test_an_agent_works_in_its_workspace(api: Api, gateway: bool, programs: Path | None, project: Path) -> None:
    path = os.pathsep.join(
        [*([str(programs)] if programs else []), str(Path(sys.executable).parent), os.environ["PATH"]]
    )
    if shutil.which(api.agent, path=path) is None:
        assert not CHOICE, f"npm installed no {api.agent}"
        pytest.skip(f"{api.agent} is NOT tested: it isn't installed, and SCOREGATE_TEST_AGENTS=newest isn't set")
    suite = _SUITE.format(agent=api.agent, answer=ANSWER)
    (project / "evals" / "eval_agent.py").write_text(suite)
    (project / "scoregate.toml").write_text(f'gateway = "{"on" if gateway else "off"}"\n')
    if api.settings:
        (project / "shop" / "opencode.json").write_text(api.settings)
    before = _list_files(project)
    key, address = api.variables
    session = run_session(project, {"PATH": path, key: KEY, address: api.address})
    assert session["exit_code"] == 0, session["output"]
    requests = session["requests"]
    assert requests
    assert all(each["has_key"] and re.fullmatch(api.path, each["path"]) for each in requests), requests
    assert any(each["stream"] for each in requests), requests
    assert _list_files(project) == before  # whatever the agent goes by, it works in its copy
    result = json.loads((project / "scoregate-out" / "result.json").read_text())
    counted = sum(row["calls"] for row in result["model_calls"]) if gateway else 0
    assert counted == (len(requests) if gateway else 0), result["model_calls"]


def _list_files(folder: Path) -> set[str]:
    """The files of the project, without those that git and scoregate keep there."""
    files = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
    return {file.as_posix() for file in files if not file.parts[0].startswith((".git", ".scoregate", "scoregate-out"))}


def run_session(project: Path, variables: dict[str, str]) -> Any:
    """Run the project's suites beside the provider, in a network of its own where this machine allows it."""
    environment = {"HOME": str(project.parent), "LANG": "C.UTF-8", "PWD": str(project), **variables}
    given = {"command": ["scoregate", "run", "--baseline", "none"], "folder": str(project), "environment": environment}
    has_network = subprocess.run([*_UNSHARE, "true"], capture_output=True, check=False).returncode == 0
    done = subprocess.run(
        [
            *(_UNSHARE if has_network else ()),
            *(sys.executable, "-m", "tests.integration.foreign.command_lines.session", json.dumps(given)),
        ],
        cwd=ROOT, env={**os.environ, "SCOREGATE_TEST_OWN_NETWORK": "1" if has_network else ""},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_guide_has_the_versions_that_passed() -> None:
    text = (ROOT / "docs" / "guides" / "agents.md").read_text(encoding="utf-8")
    table = text.partition("### Tested versions")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| `([^`]+)` \| ([\d.]+) \|", table, re.MULTILINE)
    assert {name: (package, version) for name, package, version in rows} == PACKAGES
