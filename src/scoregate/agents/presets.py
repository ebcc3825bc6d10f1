"""The command lines of known agents, and the readers of their event streams."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from scoregate.agents.streams.claude import ClaudeStream
from scoregate.agents.streams.codex import CodexStream
from scoregate.agents.streams.copilot import CopilotStream
from scoregate.agents.streams.gemini import GeminiStream
from scoregate.agents.streams.opencode import OpencodeStream
from scoregate.agents.streams.stream import AgentStream

PROMPT = "{prompt}"


@dataclass(frozen=True, slots=True)
class Preset:
    """A known agent.

    Attributes:
        command: its command line without questions to a person; `{prompt}` is the prompt.
        stream: the reader of its events.
    """

    command: tuple[str, ...]
    stream: Callable[[], AgentStream]


PRESETS = {
    "claude": Preset(
        ("claude", "-p", PROMPT, "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"),
        ClaudeStream,
    ),
    "codex": Preset(("codex", "exec", "--json", "--full-auto", "--skip-git-repo-check", PROMPT), CodexStream),
    "gemini": Preset(("gemini", "--prompt", PROMPT, "--output-format", "stream-json", "--yolo"), GeminiStream),
    "opencode": Preset(("opencode", "run", "--format", "json", PROMPT), OpencodeStream),
    "copilot": Preset(("copilot", "-p", PROMPT, "--output-format", "json", "--allow-all-tools"), CopilotStream),
}
