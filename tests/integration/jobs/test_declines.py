"""A slow decline on the base branch: small drops, each within noise, against the run of some runs or days ago."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from tests.fakes.github import events
from tests.features.affected.test_affected import carried_suites
from tests.features.affected.test_jobs import write_suites
from tests.integration.jobs.world import Job, World

SETTINGS = 'fail_on_regression = true\nfail_on_broken_cases = "off"\nmin_pass_rate = 0\nmax_decline = 0.05\n'
CASES = 60


def push(world: World, failing: int) -> Job:
    """A commit on main in which the first cases fail, and its job."""
    fn = f"lambda case: case.input if int(case.input.split()[1]) >= {failing} else 'no'"
    world.commit_suite(good=CASES, fn=fn)
    return world.push()


def decline(world: World, window: str = "3 runs") -> Job:
    """Four commits on main that each break four more cases; the job of the last one."""
    world.project.write("scoregate.toml", f'{SETTINGS}decline_window = "{window}"\n')
    for failing in (0, 4, 8):
        job = push(world, failing)
        assert job.exit_code == 0, job.output
        assert "was not applied" in job.output
    return push(world, 12)


def test_small_drops_that_add_up_fail_on_main_and_not_on_a_pull_request(world: World) -> None:
    job = decline(world)
    assert job.exit_code == 1, job.output
    (finding,) = [each for each in job.result["findings"] if each["conclusion"] == "failed"]
    assert (finding["rule"], finding["evaluator"]) == ("decline", "is-equals")
    assert "−0.200" in finding["value"]
    assert "3 runs ago" in finding["value"]
    assert "A score declined" in job.summary
    world.branch()
    world.project.write("notes.md", "")
    world.commit()
    change = world.job(events.pull_request(world.open_pull_request()))
    assert change.exit_code == 0, change.output
    assert "decline" not in change.comment


def test_a_short_history_is_a_note(world: World) -> None:
    job = decline(world, "10 runs")
    assert job.exit_code == 0, job.output
    assert "max_decline was not applied: main has 3 earlier runs, none is 10 runs old" in job.output


def test_unreadable_earlier_runs_are_unmeasurable(world: World) -> None:
    world.project.write("scoregate.toml", f'{SETTINGS}decline_window = "1 run"\nbaseline = "artifact"\n')
    push(world, 0)
    world.github.fail("GET", "*/actions/artifacts", status=403, body={"message": "Resource not accessible"}, times=9)
    job = push(world, 0)
    assert job.exit_code == 3, job.output
    assert "the earlier runs of main could not be listed" in job.output


def test_days_count_from_the_storage_time(world: World) -> None:
    world.project.write("scoregate.toml", f'{SETTINGS}decline_window = "7 days"\n')
    push(world, 0)
    assert "none is 7 days old" in push(world, 4).output
    for index, artifact in enumerate(sorted(world.repo.artifacts.values(), key=lambda each: each.id)):
        artifact.created_at = datetime.now(UTC) - timedelta(days=9 - index)
    assert push(world, 16).exit_code == 1


def test_an_accepted_decline_passes(world: World) -> None:
    about = 'until = 2999-12-31\nreason = "new"\nby = "ana"\nat_most = 0.3\n'
    entry = f'[[accepted]]\nsuite = "demo"\nevaluator = "is-*"\n{about}'
    world.project.write(".scoregate/accepted.toml", entry)
    job = decline(world)
    assert job.exit_code == 0, job.output
    assert "is accepted" in str(job.result["findings"])


def test_the_data_branch_has_the_earlier_runs(world: World) -> None:
    world.permissions = {**world.permissions, "contents": "write"}
    world.project.write("scoregate.toml", f'{SETTINGS}decline_window = "1 run"\nbaseline = "branch"\nmax_drop = 0.9\n')
    world.project.write("scoregate.toml", (world.project.root / "scoregate.toml").read_text().replace("true", "false"))
    for failing, code in ((0, 0), (12, 1)):
        job = push(world, failing)
        assert job.exit_code == code, job.output


@pytest.mark.parametrize("window", ["ten runs", "0 runs", "10", "10 weeks", "99999 days"])
def test_an_invalid_window_fails(world: World, window: str) -> None:
    world.project.write("scoregate.toml", f'max_decline = 0.1\ndecline_window = "{window}"\n')
    world.commit()
    job = world.job(events.push(world.repo))
    assert job.exit_code == 2, job.output
    assert "must be a number of runs or days, such as '10 runs' or '30 days'" in " ".join(job.output.split())


def test_a_decline_is_never_green_when_the_run_is_judged_again(world: World) -> None:
    """The earlier run isn't stored with the run, so a report of it can't measure the decline again."""
    world.project.write("scoregate.toml", 'min_pass_rate = 0\nmax_decline = 0.05\ndecline_window = "3 runs"\n')
    for failing in (0, 4, 8, 12):
        job = push(world, failing)
    assert job.exit_code == 1, job.output
    again = world.project.scoregate("gate", str(job.out / "run"))
    assert again.exit_code == 3, again.output
    assert "A score declined" in again.output
    assert "isn't stored with this one" in " ".join(again.output.split())


def test_a_decline_stays_while_its_suite_is_not_affected(world: World) -> None:
    affected = "affected = true\naffected_push = true\n"
    write_suites(world, f'{affected}min_pass_rate = 0\nmax_decline = 0.05\ndecline_window = "4 runs"\n')
    world.push()
    jobs = []
    for failing in (2, 4, 6, 8):
        # Python keeps compiled code of the same size that is written within a second.
        comment = "#" * failing
        world.project.write(
            "app/one.py", f"def answer(input): return input if int(input) >= {failing} else ''\n{comment}\n"
        )
        world.commit()
        jobs.append(world.push())
    for text in ("a", "b", "c", "d"):
        world.project.write("README.md", text)
        world.commit()
        jobs.append(world.push())
    # Since the last push, the earlier run has the same results of the suite.
    assert [job.exit_code for job in jobs] == [0, 0, 0, 1, 1, 0, 0, 0], jobs[4].output
    assert carried_suites(jobs[4]) == carried_suites(jobs[-1]) == ["one", "two"]
    (finding,) = (each for each in jobs[4].result["findings"] if each["rule"] == "decline")
    assert (finding["suite"], finding["value"][:6]) == ("one", "−0.300")
    assert "decline" not in str(jobs[-1].result["findings"])
