"""From an empty folder through the ten-line suite to a red comment on a pull request."""

from __future__ import annotations

from pathlib import Path

from tests.docs.page import read_blocks
from tests.fakes.github import GitHub, events
from tests.integration.host.conftest import Project
from tests.integration.jobs.world import World

ROOT = Path(__file__).parents[3]


def test_a_new_project_gets_a_red_comment(github: GitHub, tmp_path: Path) -> None:
    root = tmp_path / "workspace"
    root.mkdir()
    world = World(github, Project(root), github.repository("acme/bot"), tmp_path)
    assert world.project.scoregate("init").exit_code == 0
    suite = root / "evals" / "eval_hours.py"
    assert len(suite.read_text(encoding="utf-8").splitlines()) == 10
    outcome = world.project.scoregate("run")
    assert (outcome.exit_code, outcome.statuses) == (0, {"passed": 2}), outcome.output

    world.commit()
    base = world.push()
    assert base.exit_code == 0, base.output
    world.branch()
    suite.write_text(suite.read_text(encoding="utf-8").replace("from 9 to 17", "from 9 to 5"), encoding="utf-8")
    world.commit()
    pull = world.open_pull_request()
    job = world.job(events.pull_request(pull))
    assert job.exit_code == 1, job.output
    (comment,) = pull.comments
    assert comment.body.splitlines()[1].startswith("## ❌"), comment.body
    assert "1 newly failing" in comment.body
    assert "And close?" in comment.body
    assert "When do you open?" not in comment.body
    assert "from 9 to 5" in comment.body
    assert "missing: 17" in comment.body
    errors = [each for each in job.commands if each.name == "error" and "file" in each.properties]
    assert {(each.properties["file"], each.properties["line"]) for each in errors} == {("evals/eval_hours.py", "5")}
    assert [each.message.partition(":")[0] for each in errors] == ["Pass rate", "Broken cases"]


def test_the_suite_of_init_is_the_one_of_the_readme() -> None:
    (example,) = (block for block in read_blocks(ROOT / "README.md") if block.path == "evals/eval_hours.py")
    template = ROOT / "src" / "scoregate" / "cli" / "starter" / "eval_hours.py.txt"
    written = template.read_text(encoding="utf-8").partition("\n")[2]
    assert example.text.partition("\n")[2].replace("  # call your application here", "") == written
