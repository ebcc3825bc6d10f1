"""Skills in pull requests: the base's version from its stored run, or run in the same job."""

from __future__ import annotations

import json
from typing import Any

from tests.fakes.github import events
from tests.features.arms.skills import cases, settings, skill
from tests.integration.jobs.world import Job, World

FOLDER = "skills/paint"


def prepare(world: World, *lines: str) -> None:
    (world.project.root / "evals" / "demo.py").unlink()
    world.project.write("scoregate.toml", settings("min_pass_rate = 0.0", *lines))
    world.project.write(".gitignore", "scoregate-out/\n.scoregate-cache/\n")
    world.project.write(f"{FOLDER}/SKILL.md", skill())
    world.project.write(f"{FOLDER}/evals/evals.json", cases())
    world.commit()


def judge(world: World, **files: str) -> Job:
    """The job of a pull request whose skill knows five facts instead of ten."""
    world.branch()
    world.project.write(f"{FOLDER}/SKILL.md", skill(facts=5))
    for name, text in files.items():
        world.project.write(name, text)
    world.commit()
    return world.job(events.pull_request(world.open_pull_request()))


def arm_of(job: Job) -> dict[str, Any]:
    (arm,) = json.loads((job.out / "result.json").read_text("utf-8"))["arms"]
    return dict(arm)


def test_the_stored_run_has_the_base_version(world: World) -> None:
    prepare(world)
    assert world.push().exit_code == 0
    job = judge(world)
    assert job.exit_code == 0, job.output
    arm = arm_of(job)
    assert (arm["effect"]["delta"], arm["change"]["delta"]) == (0.5, -0.5)
    assert (
        "1 arm did not run, because nothing that it depends on changed: the results are those of main@" in job.comment
    )
    assert "helps +50.0 pp" in job.comment
    assert "this change −50.0 pp" in job.comment


def test_a_base_without_results_runs_in_the_same_job(world: World) -> None:
    prepare(world)
    job = judge(world)
    assert job.exit_code == 0, job.output
    arm = arm_of(job)
    assert (arm["effect"]["delta"], arm["change"]["delta"], arm["change"]["label"]) == (0.5, -0.5, "worse")
    assert "did not run, because" not in job.comment
    assert job.output.count("pdf [task=without]") <= 1


def test_a_new_skill_has_no_change(world: World) -> None:
    world.push()
    prepare(world)
    world.project.git("rm", "-rq", FOLDER)
    world.commit()
    world.branch()
    world.project.write(f"{FOLDER}/SKILL.md", skill())
    world.project.write(f"{FOLDER}/evals/evals.json", cases())
    world.commit()
    job = world.job(events.pull_request(world.open_pull_request()))
    arm = arm_of(job)
    assert (arm["effect"]["delta"], arm["change"]) == (1.0, None), job.output


def test_a_control_runs_every_arm(world: World) -> None:
    prepare(world, "drift_control = 0.5")
    world.push()
    job = judge(world)
    assert "did not run, because" not in job.comment, job.comment
    assert "Drift control: " in job.comment
