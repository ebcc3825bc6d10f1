"""The scorers of skills: checks before expectations, and every way in which agents load a skill."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from scoregate.kernel.types.trajectories.trajectory import Trajectory
from scoregate.kernel.types.trajectory_steps import ToolCall
from scoregate.skills.scorers import ExpectationsScorer, TriggerScorer


def test_a_skill_is_loaded_by_a_tool_for_skills_or_by_reading_its_file() -> None:
    cases: list[tuple[bool, ToolCall]] = [
        (True, ToolCall("Skill", {"skill": "pdf"})),
        (True, ToolCall("Skill", {"command": "plugin:pdf"})),
        (True, ToolCall("skill", {"name": "pdf"})),
        (True, ToolCall("activate_skill", {"name": "pdf"})),
        (True, ToolCall("Read", {"file_path": "/tmp/x/.claude/skills/pdf/SKILL.md"})),
        (True, ToolCall("shell", {"command": ["bash", "-lc", "cat .agents/skills/pdf/SKILL.md"]})),
        (False, ToolCall("Skill", {"skill": "pdf"}, error="no such skill")),
        (False, ToolCall("Skill", {"skill": "pdf-forms"})),
        (False, ToolCall("Read", {"file_path": "skills/docx/SKILL.md"})),
        (False, ToolCall("bash", {"command": "echo pdf"})),
        (False, ToolCall("Skill", {"skill": "docx", "args": "pdf"})),
        (False, ToolCall("Read", {"file_path": "skills/make-pdf/SKILL.md"})),
        (False, ToolCall("Read", {"file_path": "skills/pdf/SKILL.md.bak"})),
        (False, ToolCall("Glob", {"pattern": "**/SKILL.md"})),
        (False, ToolCall("bash", {"command": "ls skills/*/SKILL.md"})),
        (True, ToolCall("bash", {"command": "head -3 skills/*/SKILL.md"})),
        (True, ToolCall("bash", {"command": "cd .claude/skills/pdf && cat SKILL.md"})),
        (True, ToolCall("bash", {"command": "cat skills/docx/SKILL.md skills/pdf/SKILL.md"})),
        (True, ToolCall("Read", {"file_path": "C:\\w\\skills\\pdf\\SKILL.md"})),
    ]
    for loads, call in cases:
        for wanted in (True, False):
            found = TriggerScorer("pdf", "pdf", wanted)(Trajectory((call,)), wanted or False)
            assert found is not None
            assert found.score == float(loads is wanted), call


def test_an_unmarked_case_is_only_compared() -> None:
    scorer = TriggerScorer("pdf", "pdf", wanted=True)
    results = [scorer(Trajectory(), should) for should in (None, True, False)]
    assert [None if each is None else (each.score, each.threshold is not None) for each in results] == [
        (0.0, False),
        (0.0, True),
        None,
    ]


def test_incomplete_calls_have_no_score() -> None:
    for given in (Trajectory(incomplete="spans are missing"), Trajectory(left_out=3)):
        with pytest.raises(ValueError, match="not_triggered needs all tool calls"):
            TriggerScorer("pdf", "pdf", wanted=False)(given, False)


def score_trial(tmp_path: Path, **fields: Any) -> Any:
    async def run() -> Any:
        scorer = ExpectationsScorer()
        return await scorer("done", Trajectory(changed_files=[], workspace=str(tmp_path)), **fields)

    return anyio.run(run)


def test_checks_need_no_model(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    evaluation = score_trial(tmp_path, checks=["test -e a.txt", "test -e b.txt"], expected="not graded beside checks")
    assert evaluation.score == 0.5
    assert evaluation.metadata["reason"] == "1 of 2 hold; test -e b.txt: it exited with 1"
    assert score_trial(tmp_path) is None


def test_a_shell_runs_checks(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    for check, expected in (
        ("python3 -c 'print(1)' && false", 0.0),
        ("echo x | grep -q y", 0.0),
        ('echo "$(false)"; exit 1', 0.0),
        ("no-such-program-here", 0.0),
        ("! grep -q y a.txt", 1.0),
        ("test -e b.txt || grep -q x *.txt", 1.0),
    ):
        assert score_trial(tmp_path, checks=[check]).score == expected, check
