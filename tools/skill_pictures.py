"""The repository of the picture of a skill: its cases, an agent that follows rules, and a change."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

COLOURS = ("red", "green", "blue", "black", "white")
CASES, KNOWN_BEFORE, KNOWN_NOW = 60, 50, 48
AGENT = "tests/fakes/skilled_agent.py"


def write_project(folder: Path, root: Path) -> None:
    """Write the repository with the base's version of the skill.

    Args:
        folder: an empty folder.
        root: the top of this repository.
    """
    shutil.copy(root / AGENT, folder / "agent.py")
    (folder / "skills" / "paint" / "evals").mkdir(parents=True)
    settings = f'min_pass_rate = 0.75\n\n[agent]\ncommand = ["{sys.executable}", "agent.py", "{{prompt}}"]\n'
    (folder / "scoregate.toml").write_text(f'{settings}format = "claude"\nworkspace = "worktree"\n', encoding="utf-8")
    (folder / ".gitignore").write_text("scoregate-out/\nruns/\n", encoding="utf-8")
    cases: list[dict[str, object]] = [
        {"id": at, "prompt": f"paint fact{at}", "checks": [f"grep -qx {COLOURS[at % 5]} answer.txt"]}
        for at in range(CASES)
    ]
    cases += [{"id": f"no{at}", "prompt": f"sing song{at}", "should_trigger": False} for at in range(9)]
    cases += [{"id": "no9", "prompt": "sing about paint", "should_trigger": False}]
    path = folder / "skills" / "paint" / "evals" / "evals.json"
    path.write_text(json.dumps({"skill_name": "paint", "evals": cases}, indent=1), encoding="utf-8")
    write_skill(folder, KNOWN_BEFORE)


def write_skill(folder: Path, known: int) -> None:
    """Write a version of the skill that knows so many facts."""
    facts = "\n".join(f"fact{at} = {COLOURS[at % 5]}" for at in range(known))
    text = f"---\nname: paint\ndescription: The colours of all parts.\n---\nkeyword: paint\n{facts}\n"
    (folder / "skills" / "paint" / "SKILL.md").write_text(text, encoding="utf-8")
