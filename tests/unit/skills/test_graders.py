"""The checks of other tools' formats on one trial: what holds, what doesn't, and what can't be measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scoregate.kernel.types.skill_cases import TOOL_KINDS
from scoregate.kernel.types.trajectories.trajectory import Trajectory
from scoregate.kernel.types.trajectory_steps import ToolCall
from scoregate.skills.graders import Trial, run_grader

CALLS = (
    ToolCall("Skill", {"skill": "shop:paint"}),
    ToolCall("bash", {"command": "rm -rf build"}),
    ToolCall("Read", {"file_path": "/w/.claude/skills/mix/SKILL.md"}),
    ToolCall("edit", {"path": "main.go"}),
)


def make_trial(tmp_path: Path, output: Any = "Hello Alice", **details: Any) -> Trial:
    workspace = tmp_path / "workspace"
    for name, text in {"a.CSV": "x", "src/b.cs": "stackalloc", ".claude/skills/paint/SKILL.md": "stackalloc"}.items():
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text(text)
    (tmp_path / "secret.csv").write_text("secret")
    if not (workspace / "link.csv").is_symlink():
        (workspace / "link.csv").symlink_to(tmp_path / "secret.csv")
    trajectory = Trajectory(CALLS, workspace=str(workspace), **details)
    return Trial(output, trajectory, 1.5, (".claude/skills/paint",))


def holds(trial: Trial, kind: str, **options: Any) -> bool:
    label, found, reason = run_grader({"label": kind, "kind": kind, **options}, trial)
    assert label == kind
    assert found or reason, (kind, options)
    return found


def test_checks_pass_or_fail(tmp_path: Path) -> None:
    trial = make_trial(tmp_path)
    (tmp_path / "same.txt").write_text("x")
    patterns = {"tool": "^BASH$", "command_pattern": r"rm\s+-rf"}
    same = {"path": "a.CSV", "source": str(tmp_path / "same.txt")}
    right: list[tuple[str, dict[str, Any]]] = [
        ("contains", {"text": "alice", "ignore_case": True}),
        ("contains_any", {"texts": ["Bob", "Alice"]}),
        ("matches", {"pattern": "^hello", "ignore_case": True}),
        ("not_empty", {}),
        ("duration", {"most_ms": 1_500}),
        ("file_exists", {"glob": "*.csv"}),
        ("file_exists", {"glob": "**/*.cs"}),
        ("file_exists", {"path": "src"}),
        ("file_contains", {"glob": "src/*", "text": "stackalloc"}),
        ("file_contains", {"path": "src/b.cs", "pattern": "stack.*"}),
        ("file_equals", same),
        ("called", {"tool": "bash"}),
        ("max_tool_calls", {"most": 4}),
        ("tool_calls", {"expected": ["bash", "edit"], "mode": "in_order"}),
        ("tool_calls", {"expected": ["edit", "bash"], "mode": "superset"}),
        ("tool_matches", {"patterns": patterns}),
        ("tool_matches", {"patterns": {"tool": "edit", "path_pattern": r"\.go$"}}),
        ("skills", {"expected": ["paint", "mix"], "mode": "exact"}),
        ("python", {"expression": "len(output) > 3 and re.search('alice', output.lower())"}),
        ("program", {"command": ["sh", "-c", 'grep -q Alice && test -e "$WAZA_WORKSPACE_DIR/a.CSV"']}),
    ]
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("contains", {"text": "alice"}),
        ("contains_any", {"texts": ["Bob"]}),
        ("matches", {"pattern": "^hello"}),
        ("duration", {"most_ms": 1_499}),
        ("file_exists", {"glob": "*.cs"}),
        ("file_exists", {"path": "src", "is_regular": True}),
        ("file_exists", {"glob": "link.csv"}),
        ("file_exists", {"path": "link.csv"}),
        ("file_exists", {"glob": "**/*.md"}),
        ("file_contains", {"glob": "*.csv", "text": "secret"}),
        ("file_equals", same | {"path": "src/b.cs"}),
        ("file_equals", same | {"path": "src"}),
        ("called", {"tool": "ba*"}),
        ("max_tool_calls", {"most": 3}),
        ("tool_calls", {"expected": ["edit", "bash"], "mode": "in_order"}),
        ("tool_matches", {"patterns": patterns | {"command_pattern": "git"}}),
        ("tool_matches", {"patterns": {"tool": "edit", "command_pattern": "."}}),
        ("skills", {"expected": ["mix", "paint"], "mode": "in_order"}),
        ("python", {"expression": "len(output) > 300"}),
        ("python", {"expression": "__import__('os')"}),
        ("program", {"command": ["sh", "-c", "exit 3"]}),
        ("program", {"command": ["no-such-program"]}),
    ]
    for checks, is_right in ((right, True), (wrong, False)):
        for kind, options in checks:
            more = {"folder": str(tmp_path), "timeout": 5} if kind == "program" else {}
            assert holds(trial, kind, **options, **more) is is_right, (kind, options)
            assert holds(trial, kind, **options, **more, negated=True) is not is_right, (kind, options)
    assert not holds(make_trial(tmp_path, ""), "not_empty")


def test_json_is_checked_with_a_schema(tmp_path: Path) -> None:
    schema = {"type": "object", "required": ["status"]}
    assert holds(make_trial(tmp_path, '{"status": 1}'), "json_schema", schema=schema)
    for output in ("{}", "no JSON"):
        assert not holds(make_trial(tmp_path, output), "json_schema", schema=schema)


def test_unknown_checks_never_pass(tmp_path: Path) -> None:
    trial = make_trial(tmp_path, incomplete="the stream ended")
    options: dict[str, dict[str, Any]] = {
        "called": {"tool": "bash"},
        "max_tool_calls": {"most": 9},
        "tool_calls": {"expected": ["bash"], "mode": "superset"},
        "tool_matches": {"patterns": {"tool": "bash"}},
        "skills": {"expected": ["paint"], "mode": "superset"},
    }
    assert options.keys() == TOOL_KINDS
    for kind, given in options.items():
        for negated in (False, True):
            with pytest.raises(ValueError, match="some may be missing"):
                run_grader({"label": kind, "kind": kind, "negated": negated, **given}, trial)
    with (Path(str(trial.trajectory.workspace)) / "big.cs").open("wb") as file:
        file.truncate(17 << 20)
    with pytest.raises(ValueError, match=r"big\.cs has more than 16 MB"):
        holds(trial, "file_contains", glob="*.cs", text="a")
    with pytest.raises(ValueError, match="there is none"):
        run_grader({"label": "a", "kind": "file_exists", "glob": "*"}, Trial("", Trajectory(), 1.0))
