"""From the first run without a base to a pull request that is worse, mended, run again and merged."""

from __future__ import annotations

from tests.fakes.github import events
from tests.integration.jobs.world import World

WORSE = {"fn": "lambda case: case.input if '1' not in case.input else 'no'", "good": 20}


def test_a_first_run_shows_that_no_base_exists(world: World) -> None:
    job = world.job(events.push(world.repo))
    assert job.exit_code == 0, job.output
    assert job.outputs["conclusion"] == "passed"
    assert job.outputs["pass-rate"] == "1.0000"
    assert job.outputs["failed-gates"] == "0"
    assert job.outputs["comment-url"] == ""
    assert job.outputs["comment-pending"] == "false"
    assert job.outputs["run-path"] == "scoregate-out/run"
    assert job.outputs["report-path"] == "scoregate-out/report.html"
    assert job.outputs["junit-path"] == "scoregate-out/junit.xml"
    assert job.outputs["artifact-name"] == "scoregate-evals-evals"
    assert "no baseline yet" in job.summary
    assert "The next run on main creates one" in job.summary
    assert job.warnings == []


def test_a_worse_pull_request_is_fixed_and_merged(world: World) -> None:
    base = world.push()
    world.branch()
    world.commit_suite(**WORSE)
    pull = world.open_pull_request()
    head = pull.head_sha

    job = world.job(events.pull_request(pull), "run", "--check-run")
    assert job.exit_code == 1, job.output
    (comment,) = pull.comments
    assert job.outputs["comment-url"].endswith(str(comment.id))
    run, comment_line = job.output.splitlines()[-2:]
    assert run.endswith(f"/actions/runs/{job.ran.id}")
    assert comment_line == f"Comment: {job.outputs['comment-url']}"
    assert f"Baseline: <code>main@{base.run['commit'][:7]}</code>, exact" in comment.body
    assert "11 newly failing" in comment.body
    assert "| Baseline | PR |" in comment.body
    assert f"commit <code>{head[:7]}</code>" in comment.body
    assert job.run["branch"] == "change"
    (check,) = world.repo.check_runs.values()
    assert (check.head_sha, check.conclusion) == (head, "failure")
    errors = [each for each in job.commands if each.name == "error"]
    assert errors
    assert {each.properties["file"] for each in errors if "file" in each.properties} == {"evals/demo.py"}
    assert all(each.properties["line"].isdigit() for each in errors if "file" in each.properties)

    job.ran.run_attempt = 2
    second = world.job(events.pull_request(pull), "run", "--check-run", run=job.ran)
    assert (second.exit_code, len(pull.comments)) == (1, 1)
    assert f"run={job.ran.id}.2 " in comment.body

    world.project.git("checkout", "-q", "change")
    world.commit_suite(good=20)
    world.check_out_merge(pull)
    fixed = world.job(events.pull_request(pull), "run", "--check-run")
    assert fixed.exit_code == 0, fixed.output
    assert len(pull.comments) == 1
    assert comment.body.splitlines()[1].startswith("## ✅")
    assert [check.conclusion for check in world.repo.check_runs.values()] == ["failure", "failure", "success"]

    queued = world.job(events.merge_group(pull))
    assert queued.exit_code == 0, queued.output
    assert len(pull.comments) == 1
    assert f"main@{base.run['commit'][:7]}" in queued.summary
    assert "exact" in queued.summary
    assert "| Baseline | Now |" in queued.summary


def test_a_merge_queue_blocks_worse_runs(world: World) -> None:
    world.push()
    world.branch()
    world.commit_suite(**WORSE)
    pull = world.open_pull_request()
    job = world.job(events.merge_group(pull))
    assert job.exit_code == 1, job.output
    assert pull.comments == []
    assert "11 newly failing" in job.summary


def test_two_keys_in_a_repository_have_a_base_and_comment_each(world: World) -> None:
    for key in ("agents-eval", "search-eval"):
        world.push(INPUT_KEY=key)
    world.branch()
    world.commit_suite(**WORSE)
    pull = world.open_pull_request()
    for key in ("agents-eval", "search-eval", "agents-eval"):
        job = world.job(events.pull_request(pull), INPUT_KEY=key)
        assert job.outputs["artifact-name"] == f"scoregate-{key}"
        assert "11 newly failing" in job.summary
    assert [comment.body.split()[2] for comment in pull.comments] == ["key=agents-eval", "key=search-eval"]
