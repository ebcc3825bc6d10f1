"""The agent `claude` uses the skill `returns`. A model calls the tool of the server, and answers with its result."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.docs.project import Project
from tests.fakes.openai import ToolCall
from tests.fakes.openai.question import Question
from tests.warm_program import program_folder

# In place of Claude Code: it answers with the last line of the skill, if there is one that fits.
_CLAUDE = """\
import json
import sys
from pathlib import Path

prompt, answer, tokens = sys.argv[2], "I don't know.", 300
skill = Path(".claude/skills/returns/SKILL.md")
if skill.exists() and "return" in prompt:
    call = {"type": "tool_use", "id": "1", "name": "Skill", "input": {"skill": "returns"}}
    result = {"type": "tool_result", "tool_use_id": "1", "content": "Launching skill: returns"}
    print(json.dumps({"type": "assistant", "message": {"content": [call]}}))
    print(json.dumps({"type": "user", "message": {"content": [result]}}))
    answer, tokens = skill.read_text().splitlines()[-1], 2200
Path("hours.txt" if "hours.txt" in prompt else "answer.txt").write_text(answer)
usage = {"input_tokens": tokens, "output_tokens": 20}
print(json.dumps({"type": "result", "subtype": "success", "is_error": False, "result": answer, "usage": usage}))
"""


def prepare(project: Project) -> None:
    add_claude(project)
    project.write(".gitignore", "scoregate-out/\n")

    def answer(question: Question) -> object:
        if "open on Monday" not in str(question.messages[-1].get("content")) and len(question.messages) < 3:
            return None
        return "At 9:00." if len(question.messages) > 2 else ToolCall("find_hours", {"day": "Monday"})

    project.models.answer_with(answer)


def add_claude(project: Project) -> None:
    """Put a program `claude` on the path of the project."""
    program = project.folder.parent / f"{project.folder.name}-programs" / "claude"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\n{_CLAUDE}", encoding="utf-8")
    program.chmod(0o755)
    folders = (program.parent, program_folder(), Path(sys.executable).parent, os.environ["PATH"])
    project.environment["PATH"] = os.pathsep.join(map(str, folders))


def finish(project: Project) -> None:
    """The endpoint works in a suite without Python, and the setting finds that every tool is used."""
    project.write("evals/hours.toml", '[testset]\nname = "hours"\nendpoint = "shop.toml"\n')
    header = "prompt_content,category,topic,behavior,expected_response"
    project.write("evals/hours.csv", f"{header}\nMonday,Hours,Weekdays,Names the hours,9:00 to 17:00\n")
    for suite in ("hours.toml", "eval_tools.py"):
        outcome = project.run(["scoregate", "run", f"evals/{suite}", "--baseline", "none"])
        assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert "that cases use: 1 of 1 tool" in outcome.stdout, outcome.stdout
