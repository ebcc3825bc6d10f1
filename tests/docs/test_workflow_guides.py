"""The guide for pull requests: its settings decide about jobs against a fake of GitHub, also of forks and matrices."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest
from tests.docs.page import read_blocks
from tests.fakes.fixtures import github
from tests.fakes.github import GitHub, events
from tests.integration.jobs.world import READ, Job, World

__all__ = ["github"]
PAGE = Path(__file__).parents[2] / "docs" / "guides" / "pull_requests.md"
NEEDS = '[suites."opening-*"]\nneeds = ["OPENAI_API_KEY"]\n'
HOURS = """
from scoregate import evaluate
from scoregate.scorers import contains

evaluate(
    "opening-hours",
    data=[{"input": "When do you open?", "expected": "9"}, {"input": "And close?", "expected": "17"}],
    task=lambda question: "We are open from 9 to 17.",
    scorers=[contains()],
)
"""
GREETING = """
import os

from scoregate import evaluate

evaluate(
    "greeting",
    data=[{"input": "When do you open?"}],
    task=lambda question: f"The {os.environ['MODEL']} model says: at 9.",
    scorers=[lambda output: "9" in output],
)
"""


def first_settings() -> str:
    """The first settings file of the guide."""
    return next(block.content for block in read_blocks(PAGE) if block.path == "scoregate.toml")


@pytest.fixture
def world(github: GitHub, tmp_path: Path) -> World:
    new_world = World.new(github, tmp_path)
    new_world.project.write(".gitignore", "scoregate-out\nlegs\n")
    new_world.project.write("evals/eval_hours.py", HOURS)
    new_world.project.write("scoregate.toml", first_settings())
    new_world.commit()
    return new_world


def change(world: World, path: str, old: str, new: str) -> None:
    file = world.project.root / path
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")
    world.commit()


def test_the_first_pull_request_has_no_base_and_the_next_is_compared(world: World) -> None:
    world.branch("first")
    world.commit()
    first = world.open_pull_request("first")
    assert world.job(events.pull_request(first)).exit_code == 0
    assert "There is no baseline yet" in first.comments[0].body

    assert world.push().exit_code == 0
    world.branch()
    change(world, "evals/eval_hours.py", "from 9 to 17", "on weekdays")
    pull = world.open_pull_request()
    outcome = world.job(events.pull_request(pull))
    assert outcome.exit_code == 1, outcome.output
    assert "2 newly failing" in pull.comments[0].body


def test_a_missing_permission_is_a_warning_that_names_it(world: World) -> None:
    world.push()
    world.branch()
    world.commit()
    pull = world.open_pull_request()
    world.permissions = READ
    outcome = world.job(events.pull_request(pull))
    assert outcome.exit_code == 0, outcome.output
    assert ["`pull-requests: write`" in warning for warning in outcome.warnings] == [True]
    assert outcome.summary != ""


def test_a_fork_without_a_key_is_commented_by_the_second_workflow(world: World) -> None:
    world.project.write("scoregate.toml", NEEDS)
    world.commit()
    world.push(OPENAI_API_KEY="key-of-the-repository")
    world.branch()
    world.commit()
    pull = world.open_pull_request(fork=world.fork())
    first = world.job(events.pull_request(pull))
    assert first.exit_code == 0, first.output
    assert "OPENAI_API_KEY is not set" in first.output
    assert pull.comments == []
    first.upload()
    assert world.second_stage(first.ran).exit_code == 0
    assert "OPENAI_API_KEY is not set" in pull.comments[0].body


def test_only_the_base_settings_decide_what_a_fork_may_skip(world: World) -> None:
    world.push()
    world.branch()
    world.project.write("scoregate.toml", NEEDS)
    world.commit()
    pull = world.open_pull_request(fork=world.fork())
    first = world.job(events.pull_request(pull))
    assert first.exit_code == 0, "the settings of the fork count"
    assert "was skipped" in first.output
    strict = world.job(events.pull_request(pull), "run", "--policy-from", "base")
    assert strict.exit_code == 0
    assert "was skipped" not in strict.output
    first.upload()
    assert world.second_stage(first.ran).exit_code == 0
    assert "A suite of the baseline is missing" in pull.comments[0].body


def test_a_matrix_has_one_comment(world: World) -> None:
    world.project.write("evals/eval_greeting.py", GREETING)
    world.commit()
    assert run_matrix(world, events.push(world.repo), ["small", "large"]).exit_code == 0
    world.branch()
    change(world, "evals/eval_greeting.py", "at 9", "at nine")
    pull = world.open_pull_request()
    outcome = run_matrix(world, events.pull_request(pull), ["small", "large"])
    assert outcome.exit_code == 1, outcome.output
    (comment,) = pull.comments
    assert "greeting (scoregate-leg-small)" in comment.body
    outcome = run_matrix(world, events.pull_request(pull), ["small"])
    assert "missing run 1" in outcome.output


def run_matrix(world: World, event: events.Event, models: Iterable[str]) -> Job:
    """The jobs of the workflow, and what its steps do between them."""
    folder = world.project.root / "legs"
    shutil.rmtree(folder, ignore_errors=True)
    for model in models:
        leg = world.job(event, "run", "--key", f"leg-{model}", "--comment", "off", MODEL=model)
        leg.upload()
        shutil.copytree(leg.out / "run", folder / leg.outputs["artifact-name"])
    outcome = world.job(event, "merge", *map(str, sorted(folder.iterdir())), "--expect", "2")
    outcome.upload()
    return outcome
