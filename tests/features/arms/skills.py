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


def skill(facts: int = 10, keyword: str = "paint", name: str = "paint", text: str = "") -> str:
    """A skill that knows so many facts."""
    lines = [f"fact{index} = {COLOURS[index % 5]}" for index in range(facts)]
    return "\n".join(("---", f"name: {name}", "description: Colours", "---", f"keyword: {keyword}", *lines, text, ""))


def cases(number: int = 10, unwanted: int = 2, **more: Any) -> str:
    """Questions about facts, and prompts that need no skill."""
    results: list[dict[str, Any]] = [
        {"id": index, "prompt": f"paint fact{index}", "checks": [f"grep -qx {COLOURS[index % 5]} answer.txt"]}
        for index in range(number)
    ]
    results += [
        {"id": f"no{index}", "prompt": f"sing song{index}", "should_trigger": False} for index in range(unwanted)
    ]
    return json.dumps({"skill_name": "paint", "evals": results, **more}, indent=1)
