"""Jobs and runs that are made again with the same code: every attempt counts."""

from __future__ import annotations

import re
import shutil
import signal
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from tests.fakes.github import Run, events
from tests.features.affected.test_jobs import prepare
from tests.integration.host.conftest import Project, suite
from tests.integration.host.test_kills import flushed_cases, kill
from tests.integration.jobs.world import Job, World
from tests.waiting import wait_until

# The first four of eight cases fail while a file exists, and the sixth waits while another does.
BODY = """
import os, pathlib, time

def fn(case):
    state = pathlib.Path(os.environ["STATE"])
    if case.input == "good 5" and (state / "wait").exists():
        (state / "began").write_text("x")
        time.sleep(300)
    return "wrong" if (state / "bad").exists() and case.input < "good 4" else case.input
"""
LIMIT = "min_pass_rate = 0.8\n"
NO_PUSHES = {"pushes": 0, "unchanged": [], "not_counted": []}


@pytest.fixture
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("state")


@pytest.fixture
def jobs(world: World, state: Path) -> Jobs:
    world.project.write("scoregate.toml", LIMIT)
    world.commit_suite(BODY, fn="fn", good=8, max_test_case_concurrency="1")
    return Jobs(world, state)


class Jobs:
    """The attempts of one workflow run."""

    def __init__(self, world: World, state: Path) -> None:
        self.world, self.state = world, state
        self.event: events.Event = events.push(world.repo)
        self.run: Run | None = None
        self.attempts = 0

    def attempt(self, *, bad: bool = False, stop: signal.Signals | None = None, **more: str) -> Job:
        """The next attempt, its folder uploaded; of eight cases four fail, or it gets a signal after five."""
        self.run = self.run or self.world.workflow_run(self.event)
        self.world.project.git("clean", "-qfdx")
        self.attempts += 1
        environment = {"STATE": str(self.state), "GITHUB_RUN_ATTEMPT": str(self.attempts), **more}
        for name, is_set in (("bad", bad), ("wait", stop is not None)):
            (self.state / name).write_text("x") if is_set else (self.state / name).unlink(missing_ok=True)
        if stop is not None:
            process = self.world.start(self.event, self.run, **environment)
            wait_until((self.state / "began").exists)
            wait_until(lambda: len(flushed_cases(self.world.project)) == 5)
            kill(process) if stop is signal.SIGKILL else process.send_signal(stop)
            job = self.world.finish(process, self.run)
        else:
            job = self.world.job(self.event, run=self.run, **environment)
        self.run.upload(job.outputs["artifact-name"], job.out / "run", overwrite=True)
        return job


def section_of(job: Any) -> dict[str, Any]:
    """What `result.json` says of attempts."""
    sections: dict[str, Any] = job.result.get("sections", {})
    return sections.get("attempts", {})


def test_all_attempts_of_a_job_count(jobs: Jobs) -> None:
    assert jobs.attempt(bad=True).exit_code == 1
    second = jobs.attempt()
    assert second.exit_code == 1, second.output
    assert "1 of 2 gates failed; attempt 2, pooled with 1 earlier" in second.comment.splitlines()[1]
    assert "Attempt 2 at this code, pooled with 1 earlier attempt" in second.comment
    assert "12 of 16 trials (75.0%)" in second.comment
    third = jobs.attempt()
    assert third.exit_code == 0, third.output
    assert section_of(third) == {**NO_PUSHES, "attempt": 3, "earlier": 2}
    assert len(ElementTree.parse(third.out / "junit.xml").findall(".//testsuite[@name='demo']/testcase")) == 24
    assert third.run["suites"][0]["statuses"]["passed"] == 8


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGKILL])
def test_a_stopped_attempt_forgets_no_earlier_one(jobs: Jobs, stop: signal.Signals) -> None:
    assert jobs.attempt(bad=True).exit_code == 1
    jobs.attempt(stop=stop)
    third = jobs.attempt()
    assert "5 of 8 results were reused from attempt 2" in " ".join(third.output.split())
    assert (third.exit_code, section_of(third)["earlier"]) == (1, 1)


def test_a_merged_run_has_the_attempts_of_its_legs(jobs: Jobs) -> None:
    """ "Re-run failed jobs" runs the red legs of a matrix again, and the job that merges them."""
    world, legs = jobs.world, jobs.world.folder / "legs"
    green = world.job(jobs.event, STATE=str(jobs.state), SCOREGATE_MODEL="a")
    red = jobs.attempt(bad=True, SCOREGATE_MODEL="b")
    for name, job in (("a", green), ("b", red)):
        shutil.copytree(job.out / "run", legs / name)
    merge = ("merge", "--expect", "2", str(legs / "a"), str(legs / "b"))
    assert world.job(jobs.event, *merge).exit_code == 1
    shutil.rmtree(legs / "b")
    shutil.copytree(jobs.attempt(SCOREGATE_MODEL="b").out / "run", legs / "b")
    job = world.job(jobs.event, *merge)
    assert (job.exit_code, section_of(job)["earlier"]) == (1, 1)
    assert "12 of 16 trials (75.0%)" in job.output
    assert "Pass rate of demo (b)" in job.output
    assert "Pass rate of demo (a)" not in job.output


class Shards:
    """The two shards of a job, one for each suite, and the job that merges what they left."""

    def __init__(self, jobs: Jobs) -> None:
        self.jobs, self.world = jobs, jobs.world
        text = (self.world.project.root / "evals/demo.py").read_text(encoding="utf-8")
        self.world.project.write("evals/other.py", text.replace("id='demo'", "id='other'"))
        self.world.commit()
        jobs.event = events.push(self.world.repo)
        self.run = jobs.world.workflow_run(jobs.event)

    def attempt(self, number: int, suites: Sequence[str], *, bad: bool = False) -> Job:
        """Run the shards of these suites again, and merge."""
        state, environ = self.jobs.state, {"STATE": str(self.jobs.state), "GITHUB_RUN_ATTEMPT": str(number)}
        (state / "bad").write_text("x") if bad else (state / "bad").unlink(missing_ok=True)
        folders = self.world.folder / "shards"
        for shard in ("1/2", "2/2"):
            self.world.project.git("clean", "-qfdx")
            plan = self.world.job(self.jobs.event, "plan", "--shards", "2", run=self.run, **environ)
            name = re.findall(rf"{shard}.*evals/(.*)\.py", plan.output)[0]
            if name in suites:
                job = self.world.job(self.jobs.event, "run", "--shard", shard, run=self.run, **environ)
                shutil.rmtree(folders / name, ignore_errors=True)
                shutil.copytree(job.out / "run", folders / name)
        self.world.project.git("clean", "-qfdx")
        merge = ("merge", str(folders / "demo"), str(folders / "other"))
        job = self.world.job(self.jobs.event, *merge, run=self.run, **environ)
        self.run.upload(job.outputs["artifact-name"], job.out / "run", overwrite=True)
        return job


def test_shards_that_run_again_count_with_their_earlier_attempts(jobs: Jobs) -> None:
    """A shard that does not run again has the same trials as before, which count once."""
    world, shards, both = jobs.world, Shards(jobs), ("demo", "other")
    assert shards.attempt(1, both, bad=True).exit_code == 1
    alone = shards.attempt(2, ())
    assert (alone.exit_code, section_of(alone)) == (1, {})
    second = shards.attempt(3, both)
    assert (second.exit_code, section_of(second)["earlier"]) == (1, 1), second.output
    assert second.output.count("12 of 16 trials (75.0%)") == 2
    third = shards.attempt(4, ("demo",))
    assert (third.exit_code, section_of(third)["earlier"]) == (1, 2), third.output
    assert "12 of 16 trials (75.0%)" in third.output
    suites = ElementTree.parse(third.out / "junit.xml").findall(".//testsuite")
    trials = {suite.get("name"): len(suite.findall("testcase")) for suite in suites}
    assert (trials["demo"], trials["other"]) == (24, 16)
    assert "Pass rate of other" in third.output
    assert "Pass rate of demo" not in third.output
    world.project.git("clean", "-qfdx")
    fourth = shards.attempt(5, both)
    assert (fourth.exit_code, section_of(fourth)["earlier"]) == (0, 3), fourth.output


def test_an_attempt_that_lost_a_shard_forgets_no_earlier_one(jobs: Jobs) -> None:
    world, shards, both = jobs.world, Shards(jobs), ("demo", "other")
    assert shards.attempt(1, both, bad=True).exit_code == 1
    shutil.rmtree(world.folder / "shards" / "demo")
    lost = shards.attempt(2, ())
    assert "its run is missing" in lost.output
    third = shards.attempt(3, both)
    assert (third.exit_code, section_of(third)["earlier"]) == (1, 1), third.output
    assert "12 of 16 trials (75.0%)" in third.output
    assert "4 of 8 cases (50.0%)" in third.output  # reused from the second attempt: the same trials as in the first


def test_a_pull_request_says_how_many_of_its_pushes_were_measured(world: World) -> None:
    world.branch()
    world.commit()
    old = world.open_pull_request()
    world.workflow_run(events.pull_request(old)).created_at -= timedelta(days=900)
    lint = {"name": "evals", "path": ".github/workflows/lint.yml"}
    world.repo.workflow_run(event="pull_request", head_branch="change", head_sha=old.head_sha, **lint)
    world.repo.workflow_run(event="push", head_branch="change", head_sha=old.head_sha)
    counts = []
    for conclusion in ("cancelled", "success", "failure"):
        world.project.git("checkout", "-q", "change")
        world.commit()
        world.check_out_merge(old)
        event = events.pull_request(old)
        run = world.workflow_run(event)
        job = world.job(event, run=run)
        run.conclusion = conclusion
        counts.append(section_of(job)["measured_pushes"])
    assert counts == [1, 1, 2]
    assert "2 pushes of this pull request were measured" in job.comment
    assert section_of(world.job(event, run=run, GITHUB_RUN_ATTEMPT="2"))["measured_pushes"] == 2
    world.github.fail("GET", "*/actions/runs", status=403)
    assert section_of(world.job(event, run=run))["measured_pushes"] == "unknown"


def test_what_a_push_did_not_change_keeps_its_trials(world: World) -> None:
    """The first push breaks one of two suites for a while, and the second changes the other."""
    prepare(world)
    world.branch()
    flaky = "import os\n\ndef answer(input): return 'wrong' if os.environ.get('PROVIDER') == 'down' else input\n"
    world.project.write("app/one.py", flaky)
    world.commit()
    pull = world.open_pull_request()
    first = world.job(events.pull_request(pull), PROVIDER="down")
    assert first.exit_code == 1, first.output
    first.upload()
    world.project.git("checkout", "-q", "change")
    world.project.write("app/two.py", "def answer(input): return input + ''\n")
    world.commit()
    world.check_out_merge(pull)
    second = world.job(events.pull_request(pull))
    unchanged = {"pushes": 1, "unchanged": ["one"], "measured_pushes": 2}
    assert section_of(second) == {**NO_PUSHES, **unchanged, "attempt": 1, "earlier": 0}
    assert second.exit_code == 1, second.output
    assert "20 of 40 trials (50.0%)" in second.comment


def test_a_comment_on_a_forks_pull_request_counts_all_attempts(world: World, jobs: Jobs) -> None:
    world.push(STATE=str(jobs.state))
    fork = world.fork()
    world.branch()
    world.project.write("notes.md", "new")
    world.commit()
    pull = world.open_pull_request(fork=fork)
    jobs.event = events.pull_request(pull)
    assert jobs.attempt(bad=True).exit_code == 1
    assert jobs.attempt().exit_code == 1
    assert jobs.run is not None
    first_push = world.repo.branch("main")
    world.repo.workflow_run(event="pull_request", head_branch="change", head_repository=fork, head_sha=first_push)
    published = world.second_stage(jobs.run)
    assert "12 of 16 trials (75.0%)" in published.output
    (comment,) = pull.comments
    assert "2 pushes of this pull request were measured" in comment.body
    assert "pooled with 1 earlier attempt" in comment.body


@pytest.fixture
def local(project: Project) -> Project:
    project.write(".gitignore", "scoregate-out\nbase\n")
    project.write("scoregate.toml", LIMIT)
    project.write("evals/demo.py", suite(BODY, fn="fn", good=8))
    project.commit()
    return project


def test_resumed_runs_of_one_tree_against_a_named_baseline_are_attempts(local: Project, state: Path) -> None:
    environment = {"STATE": str(state)}
    again = ("run", "--baseline", "base", "--resume")
    local.scoregate("run", "--baseline", "none", "--out", "base", **environment)
    (state / "bad").write_text("x")
    assert local.scoregate("run", "--baseline", "base", **environment).exit_code == 1
    (state / "bad").unlink()
    second = local.scoregate(*again, **environment)
    assert (second.exit_code, section_of(second)["earlier"]) == (1, 1)
    assert local.scoregate("gate", "scoregate-out", "--baseline", "base", **environment).exit_code == 1
    alone = local.scoregate(*again[:-1], **environment)
    assert (alone.exit_code, section_of(alone)) == (0, {})
    (state / "bad").write_text("x")
    assert section_of(local.scoregate(*again, **environment))["earlier"] == 1
    (state / "bad").unlink()
    local.write("evals/other.txt", "another tree")
    changed = local.scoregate(*again, "--force", **environment)
    assert (changed.exit_code, section_of(changed)) == (0, {})


def test_the_last_run_is_no_attempt_if_it_is_the_baseline(local: Project, state: Path) -> None:
    (state / "bad").write_text("x")
    assert local.scoregate("run", STATE=str(state)).exit_code == 1
    (state / "bad").unlink()
    again = local.scoregate("run", "--resume", STATE=str(state))
    assert (again.exit_code, section_of(again)) == (0, {})
