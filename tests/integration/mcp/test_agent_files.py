"""`scoregate init --agents`: a section of AGENTS.md, and a skill."""

from __future__ import annotations

import yaml
from tests.integration.host.conftest import Project, project

__all__ = ["project"]
SKILL = ".agents/skills/scoregate-evals/SKILL.md"


def test_the_section_and_the_skill_are_written_once(project: Project) -> None:
    first = project.scoregate("init", "--agents")
    assert "written  AGENTS.md" in first.output
    skill = (project.root / SKILL).read_text("utf-8")
    front = yaml.safe_load(skill.split("---")[1])
    assert front["name"] == (project.root / SKILL).parent.name
    assert 20 < len(front["description"]) < 1024
    before = (project.root / "AGENTS.md").read_text("utf-8")
    second = project.scoregate("init", "--agents")
    assert "kept     AGENTS.md" in second.output
    assert (project.root / "AGENTS.md").read_text("utf-8") == before


def test_a_file_that_exists_keeps_its_text(project: Project) -> None:
    project.write("AGENTS.md", "# Rules\n\nUse tabs.")
    outcome = project.scoregate("init", "--agents")
    assert "added to AGENTS.md" in outcome.output
    text = (project.root / "AGENTS.md").read_text("utf-8")
    assert text.startswith("# Rules\n\nUse tabs.\n\n<!-- scoregate -->\n## Evals\n")
    assert text.endswith("<!-- /scoregate -->\n")


def test_a_link_out_of_the_folder_is_refused(project: Project) -> None:
    outside = project.root.parent / "outside.md"
    outside.write_text("theirs", "utf-8")
    (project.root / "AGENTS.md").symlink_to(outside)
    outcome = project.scoregate("init", "--agents")
    assert (outcome.exit_code, "is not a regular file" in outcome.output) == (2, True)
    assert outside.read_text("utf-8") == "theirs"


def test_without_the_option_neither_is_written(project: Project) -> None:
    project.scoregate("init")
    assert not (project.root / "AGENTS.md").exists()
    assert not (project.root / SKILL).exists()
