"""Projects with a skill, its cases, and the agent that follows rules."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

AGENT = Path(__file__).parents[2] / "fakes" / "skilled_agent.py"
COLOURS = ("red", "green", "blue", "black", "white")


def settings(
    *lines: str, agent: str = "", python: str = sys.executable, words: tuple[str, ...] = ("-I", "-S", str(AGENT))
) -> str:
    """The settings of a project whose agent is the fake one, which starts fast."""
    command = json.dumps([python, *words, "{prompt}"])
    return "\n".join((*lines, "[agent]", f"command = {command}", 'format = "claude"', agent, ""))


def skill(facts: int = 20, keyword: str = "paint", name: str = "paint", text: str = "") -> str:
    """A skill that knows so many facts."""
    lines = [f"fact{at} = {COLOURS[at % 5]}" for at in range(facts)]
    return "\n".join(("---", f"name: {name}", "description: Colours", "---", f"keyword: {keyword}", *lines, text, ""))


def cases(number: int = 20, unwanted: int = 5, **more: Any) -> str:
    """Questions about facts, and prompts that need no skill."""
    found: list[dict[str, Any]] = [
        {"id": at, "prompt": f"paint fact{at}", "checks": [f"grep -qx {COLOURS[at % 5]} answer.txt"]}
        for at in range(number)
    ]
    found += [{"id": f"no{at}", "prompt": f"sing song{at}", "should_trigger": False} for at in range(unwanted)]
    return json.dumps({"skill_name": "paint", "evals": found, **more}, indent=1)
