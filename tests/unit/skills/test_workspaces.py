"""The workspace of each arm: what the agent finds in it, and what it must not find."""

from __future__ import annotations

from pathlib import Path

import pytest

from scoregate.errors import AgentError
from scoregate.skills.workspaces import ArmWorkspaces, MeasuredFiles


def list_files(folder: str) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in Path(folder).rglob("*") if path.is_file())


@pytest.fixture
def project(tmp_path: Path) -> Path:
    names = ("src/a.py", "AGENTS.md", ".cursor/rules/x.md", "out/run.json", "skills/pdf/evals/evals.json")
    for name in (*names, "skills/pdf/SKILL.md", "skills/pdf/scripts/run.sh", "skills/pdf/evals/files/in.csv"):
        path = tmp_path / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return tmp_path / "project"


def test_a_skill_is_copied_for_agents_without_cases(project: Path) -> None:
    skill, target, left_out = project / "skills/pdf", ".claude/skills/pdf", ("out", "skills/pdf")
    with_it = ArmWorkspaces(project, project, left_out, skill, target, inputs=skill)
    without = ArmWorkspaces(project, project, left_out, None, target, inputs=skill)
    rest = [".cursor/rules/x.md", "AGENTS.md", "src/a.py"]
    made = with_it.make(["evals/files/in.csv", "scripts/run.sh"])
    own = [".claude/skills/pdf/SKILL.md", ".claude/skills/pdf/scripts/run.sh", "in.csv", "scripts/run.sh"]
    assert list_files(made) == sorted([*own, *rest])
    assert list_files(without.make([])) == sorted(rest)
    assert list_files(ArmWorkspaces(project, None, left_out, skill, target).make([])) == sorted(own[:2])


def test_other_files_are_only_in_their_arm(project: Path) -> None:
    files = ("AGENTS.md", ".cursor/rules")
    for source in (project, None):
        rest = list_files(ArmWorkspaces(project, source, files).make([]))
        found = list_files(ArmWorkspaces(project, source, files, files=files).make([]))
        assert sorted({*found} - {*rest}) == [".cursor/rules/x.md", "AGENTS.md"]
        assert not {*rest} & {".cursor/rules/x.md", "AGENTS.md"}


def test_measured_files_must_not_change(project: Path) -> None:
    measured = MeasuredFiles(project, ["skills/pdf", "AGENTS.md", "no-file"], ["out"])
    (project / "skills/pdf/new.txt").write_text("")
    (project / "src/a.py").write_text("another")
    measured.check()
    (project / "skills/pdf/SKILL.md").write_text("another")
    (project / "AGENTS.md").unlink()
    with pytest.raises(AgentError, match=r"changed during the run: skills/pdf/SKILL\.md, AGENTS\.md"):
        measured.check()


def test_no_link_leaves_the_skill_or_the_workspace(project: Path) -> None:
    (project.parent / "secret").write_text("secret")
    (project / "skills/pdf/link").symlink_to(project.parent / "secret")
    skill = project / "skills/pdf"
    with pytest.raises(ValueError, match="points to the outside"):
        ArmWorkspaces(project, None, (), skill, "s/pdf").make([])
    with pytest.raises(ValueError, match="leads out of"):
        ArmWorkspaces(project, None, inputs=skill).make(["link"])
    (project / "data").symlink_to(project / "src")
    (skill / "data").mkdir()
    (skill / "data" / "new.py").write_text("new")
    with pytest.raises(ValueError, match=r"a link in the workspace makes data/new\.py lead out of it"):
        ArmWorkspaces(project, project, ("skills",), inputs=skill).make(["data/new.py"])
    assert not (project / "src" / "new.py").exists()
