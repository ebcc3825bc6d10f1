"""A repository with nothing but a skill, its cases and the command line of an agent, in the container."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest
from tests.e2e.container.conftest import Action
from tests.e2e.container.test_configs import step
from tests.e2e.container.workflow import Workflow
from tests.fakes.fixtures import github
from tests.fakes.github import GitHub, events
from tests.features.arms.skills import AGENT, cases, settings, skill

__all__ = ["github"]
FOLDER = "skills/paint"


@pytest.fixture
def workflow(github: GitHub, action: Action, tmp_path: Path) -> Workflow:
    new_workflow = Workflow.new(github, tmp_path)
    new_workflow.action = action
    (new_workflow.project.root / "evals" / "demo.py").unlink()
    new_workflow.project.write("tools/agent.py", AGENT.read_text("utf-8"))
    # An agent that the workspace doesn't hold is named by its path in the project.
    run = 'import os, runpy; runpy.run_path(os.environ["GITHUB_WORKSPACE"] + "/tools/agent.py")'
    new_workflow.project.write("scoregate.toml", settings("min_pass_rate = 0.0", python="python3", words=("-c", run)))
    new_workflow.project.write(f"{FOLDER}/SKILL.md", skill(facts=19))
    new_workflow.project.write(f"{FOLDER}/evals/evals.json", cases(number=20, unwanted=5))
    new_workflow.commit()
    return new_workflow


def test_a_skill_gets_its_comment_with_three_arms(workflow: Workflow, tmp_path: Path) -> None:
    first = workflow.steps(events.push(workflow.repo), step({}))
    assert (first.exit_code, first.outputs["conclusion"]) == (0, "passed"), first.log
    workflow.branch()
    workflow.project.write(f"{FOLDER}/SKILL.md", skill(facts=17, text="Be brief."))
    workflow.commit()
    pull = workflow.open_pull_request()
    judged = workflow.steps(events.pull_request(pull), step({}))
    assert judged.exit_code == 0, judged.log
    (comment,) = pull.comments
    (tmp_path / "comment.html").write_text(comment.body, "utf-8")
    text = html.unescape(re.sub(r"<[^>]+>", "", comment.body))
    assert "helps +85.0 pp [" in text, text
    assert "compared with running without it (results of the base's run); this change −10.0 pp [" in text
    assert "triggers in 20 of 20 cases where it should, and in 0 of 5 cases where it should not" in text
    assert "+1,900 tokens per case" in text
    assert "1 arm did not run" in text


def test_a_pull_request_before_the_first_run_has_three_arms_too(workflow: Workflow) -> None:
    workflow.branch()
    workflow.project.write(f"{FOLDER}/SKILL.md", skill(facts=10))
    workflow.commit()
    pull = workflow.open_pull_request()
    judged = workflow.steps(events.pull_request(pull), step({}))
    assert judged.exit_code == 0, judged.log
    text = html.unescape(re.sub(r"<[^>]+>", "", pull.comments[0].body))
    assert "this change −45.0 pp [" in text, text
    assert json.loads(json.dumps(judged.outputs))["conclusion"] == "passed"
