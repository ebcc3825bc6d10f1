"""Earlier runs of the base branch in jobs: they count where the records prove that nothing changed."""

from __future__ import annotations

from typing import Any

import pytest
from tests.fakes.github import events
from tests.features.affected.test_jobs import write_suites
from tests.integration.jobs.world import Job, World

SETTINGS = "affected = true\nmin_pass_rate = 0\n"


def push(world: World, times: int, name: str = "README.md") -> list[str]:
    """Commits on main that change a file, each with its job; their hashes."""
    commits = []
    for index in range(times):
        world.project.write(name, f"text {index}")
        world.commit()
        job = world.push()
        assert job.exit_code == 0, job.output
        commits.append(job.result["run"]["commit"])
    return commits


def judge(world: World) -> Job:
    """The job of a pull request that affects both suites."""
    world.branch()
    for name in ("one", "two"):
        world.project.write(f"app/{name}.py", "def answer(input): return input + ''\n")
    world.commit()
    return world.job(events.pull_request(world.open_pull_request()))


def base_runs(job: Job) -> dict[str, int]:
    rows: list[dict[str, Any]] = job.result["rows"]
    return {row["suite"]: row["base_runs"] for row in rows}


def test_unchanged_runs_count(world: World) -> None:
    write_suites(world, SETTINGS)
    (first,) = push(world, 1)
    push(world, 2)
    job = judge(world)
    assert job.exit_code == 0, job.output
    assert base_runs(job) == {"one": 3, "two": 3}
    assert f"3 runs, unchanged since {first[:7]}" in job.comment
    assert f"unchanged since {first[:7]}" in (job.out / "report.html").read_text(encoding="utf-8")
    assert [each["suites"] for each in job.result["earlier_runs"]] == [["one", "two"]] * 2
    assert job.result["pooled"] == 1


def test_a_change_ends_it_for_dependent_suites(world: World) -> None:
    write_suites(world, SETTINGS)
    push(world, 2)
    push(world, 1, "prompts/two.md")
    (last,) = push(world, 1)
    job = judge(world)
    assert base_runs(job) == {"one": 4, "two": 2}
    assert "4 runs, unchanged since" in job.comment
    known = job.result["earlier_runs"]
    assert [each["suites"] for each in known] == [["one", "two"], ["one"], ["one"]]
    assert last not in [each["commit"] for each in known]


def test_a_new_lock_file_ends_it_for_all(world: World) -> None:
    write_suites(world, SETTINGS)
    push(world, 2)
    push(world, 1, "requirements.txt")
    downloads = len([each for each in world.github.requests if str(each.path).endswith("/zip")])
    job = judge(world)
    assert base_runs(job) == {"one": 1, "two": 1}
    assert "unchanged since" not in job.comment
    # The history of the base shows that they differ, so that they are not even downloaded.
    assert len([each for each in world.github.requests if str(each.path).endswith("/zip")]) == downloads + 1


@pytest.mark.parametrize(("settings", "expected"), [("base_runs = 2\n", 2), ("base_runs = 1\n", 1)])
def test_a_setting_limits_them(world: World, settings: str, expected: int) -> None:
    write_suites(world, SETTINGS + settings)
    push(world, 3)
    assert base_runs(judge(world)) == {"one": expected, "two": expected}


def test_without_records_only_the_base_counts(world: World) -> None:
    write_suites(world, "min_pass_rate = 0\n")
    push(world, 3)
    assert base_runs(judge(world)) == {"one": 1, "two": 1}


def test_data_branch_runs_count(world: World) -> None:
    world.permissions = {**world.permissions, "contents": "write"}
    write_suites(world, SETTINGS + 'baseline = "branch"\n')
    push(world, 3)
    assert base_runs(judge(world)) == {"one": 3, "two": 3}


def test_an_unreadable_earlier_run_is_skipped(world: World) -> None:
    write_suites(world, SETTINGS)
    push(world, 3)
    oldest = min(world.repo.artifacts.values(), key=lambda each: each.id)
    middle = sorted(world.repo.artifacts.values(), key=lambda each: each.id)[1]
    middle.content = oldest.content[:50]
    job = judge(world)
    assert job.exit_code == 0, job.output
    assert base_runs(job) == {"one": 2, "two": 2}


def test_more_than_the_limit_is_an_error(world: World) -> None:
    write_suites(world, "base_runs = 21\n")
    job = world.job(events.push(world.repo))
    assert job.exit_code == 2
    assert "base_runs" in job.output
