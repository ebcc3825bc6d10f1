"""The line of the base branch, as jobs on pull requests and pushes know it."""

from __future__ import annotations

import json
from typing import Any

from tests.fakes.github import events
from tests.integration.jobs.test_lifecycle import WORSE
from tests.integration.jobs.test_merge import LEGS, base_of_legs, legs
from tests.integration.jobs.world import Job, World


def history_runs(job: Job) -> list[dict[str, Any]]:
    return list(job.run.get("history", {}).get("runs", []))


def commits(job: Job) -> list[str]:
    return [each["commit"] for each in history_runs(job)]


def test_a_pull_request_shows_the_history_of_main(world: World) -> None:
    first = world.push().run["commit"]
    world.commit_suite(good=20)
    second = world.push()
    assert commits(second) == [first]
    world.branch()
    world.commit_suite(**WORSE)
    pull = world.open_pull_request()
    job = world.job(events.pull_request(pull))
    assert commits(job) == [first, second.run["commit"]]
    assert {each["branch"] for each in history_runs(job)} == {"main"}
    report = (job.out / "report.html").read_text("utf-8")
    assert "last 2 runs: 1.000 … 1.000; now 0.450; lowest 0.450, highest 1.000" in report
    assert f"main@{first[:7]}" in report
    assert "last 2 runs" not in job.comment


def test_a_job_that_is_run_again_replaces_its_run(world: World) -> None:
    world.push()
    world.commit_suite(good=20)
    world.push()
    second = world.push()
    world.commit_suite(good=20)
    third = world.push()
    assert len(commits(second)) == 1
    assert history_runs(third)[-1]["id"] == second.run["id"]
    assert len(commits(third)) == len(set(commits(third))) == 2


def test_the_data_branch_has_it(world: World) -> None:
    world.permissions = {**world.permissions, "contents": "write"}
    first = world.job(events.push(world.repo), "run", "--baseline", "branch")
    world.commit_suite(good=20)
    second = world.job(events.push(world.repo), "run", "--baseline", "branch")
    world.branch()
    world.commit_suite(**WORSE)
    job = world.job(events.pull_request(world.open_pull_request()), "run", "--baseline", "branch")
    assert commits(job) == [first.run["commit"], second.run["commit"]]


def test_files_in_a_job_folder_are_no_history(world: World) -> None:
    world.job(events.push(world.repo))
    assert history_runs(world.job(events.push(world.repo))) == []


def test_a_merged_run_has_the_base_history(world: World) -> None:
    base_of_legs(world)
    world.branch()
    world.commit_suite(good=20)
    event = events.pull_request(world.open_pull_request())
    folder = legs(world, event)
    job = world.job(event, "merge", *(str(folder / name) for name in LEGS))
    assert len(commits(job)) == 1
    assert set(job.run["history"]["suites"]) == {"demo (py311)", "demo (py312)"}


def test_history_of_a_fork_is_not_trusted(world: World) -> None:
    base = world.push()
    fork = world.fork()
    world.branch()
    world.commit_suite(good=20)
    pull = world.open_pull_request(fork=fork)
    job = world.job(events.pull_request(pull))
    run_json = job.out / "run" / "run.json"
    head = json.loads(run_json.read_text("utf-8"))
    assert head["history"]["runs"][0]["commit"] == base.run["commit"]
    head["history"]["runs"][0] |= {"branch": "made-up", "message": "praise"}
    run_json.write_text(json.dumps(head), "utf-8")
    job.upload()
    published = world.second_stage(job.ran)
    assert published.exit_code == 0, published.output
    (report,) = published.out.glob("*/report.html")
    text = report.read_text("utf-8")
    assert "last run: 1.000; now 1.000" in text
    assert "made-up" not in text
    assert "praise" not in text
