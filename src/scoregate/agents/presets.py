"""The command lines of known agents, what they need in an environment, and the readers of their event streams."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from scoregate.agents.streams.claude import ClaudeStream
from scoregate.agents.streams.codex import CodexStream
from scoregate.agents.streams.copilot import CopilotStream
from scoregate.agents.streams.gemini import GeminiStream
from scoregate.agents.streams.opencode import OpencodeStream
from scoregate.agents.streams.stream import AgentStream

PROMPT = "{prompt}"
_CODEX_PROVIDER = "scoregate"
_CODEX_KEYS = ("OPENAI_API_KEY", "CODEX_API_KEY")


@dataclass(frozen=True, slots=True)
class Setup:
    """What an agent needs in an environment besides its command line.

    Attributes:
        variables: variables for it.
        options: words at the end of the command line of its preset.
        home_files: files of its home folder, by their paths there.
    """

    variables: Mapping[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    home_files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Preset:
    """A known agent.

    Attributes:
        command: its command line without questions to a person; `{prompt}` is the prompt.
        stream: the reader of its events.
        prepare: what it needs in an environment.
    """

    command: tuple[str, ...]
    stream: Callable[[], AgentStream]
    prepare: Callable[[Mapping[str, str]], Setup] = field(default=lambda _environ: Setup())


def _prepare_claude(environ: Mapping[str, str]) -> Setup:
    # As root, as in the containers of jobs, it refuses to run without questions if this is not set.
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    return Setup({"IS_SANDBOX": "1"} if is_root and "IS_SANDBOX" not in environ else {})


def _prepare_codex(environ: Mapping[str, str]) -> Setup:
    key = next((name for name in _CODEX_KEYS if environ.get(name)), None)
    # It reads no other variable of a key when it runs without questions, and no variable of an address at all.
    variables = {"CODEX_API_KEY": environ[key]} if key and not environ.get("CODEX_API_KEY") else {}
    address = environ.get("OPENAI_BASE_URL")
    if not address:
        return Setup(variables)
    table = {"name": _CODEX_PROVIDER, "base_url": address, "wire_api": "responses", **({"env_key": key} if key else {})}
    # Texts of JSON are texts of TOML.
    shown = ", ".join(f"{name} = {json.dumps(value)}" for name, value in table.items())
    provider = f"model_providers.{_CODEX_PROVIDER}={{{shown}}}"
    return Setup(variables, ("-c", f'model_provider="{_CODEX_PROVIDER}"', "-c", provider))


def _prepare_gemini(environ: Mapping[str, str]) -> Setup:
    # It doesn't start without questions in a folder that isn't trusted, and a workspace is always new.
    variables = {"GEMINI_CLI_TRUST_WORKSPACE": "true"} if "GEMINI_CLI_TRUST_WORKSPACE" not in environ else {}
    if not environ.get("GOOGLE_GEMINI_BASE_URL") or not environ.get("GEMINI_API_KEY"):
        return Setup(variables)
    # With an address, it chooses a way to authenticate that it then refuses, unless its settings name another.
    settings = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
    return Setup(variables, home_files={".gemini/settings.json": json.dumps(settings)})


PRESETS = {
    "claude": Preset(
        ("claude", "-p", PROMPT, "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"),
        ClaudeStream,
        _prepare_claude,
    ),
    # Its sandbox can't be made in most containers. Then each command fails, and Codex still ends as if it had worked.
    "codex": Preset(
        ("codex", "exec", "--json", "--dangerously-bypass-approvals-and-sandbox", "--skip-git-repo-check", PROMPT),
        CodexStream,
        _prepare_codex,
    ),
    "gemini": Preset(
        ("gemini", "--prompt", PROMPT, "--output-format", "stream-json", "--yolo"), GeminiStream, _prepare_gemini
    ),
    "opencode": Preset(("opencode", "run", "--format", "json", PROMPT), OpencodeStream),
    "copilot": Preset(("copilot", "-p", PROMPT, "--output-format", "json", "--allow-all-tools"), CopilotStream),
}
