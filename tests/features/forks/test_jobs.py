"""Two stages: a fork's job that may only read, and one with more rights that comments for it."""

from __future__ import annotations

import pytest
from tests.fakes.github import Pull, events
from tests.integration.jobs.test_lifecycle import WORSE
from tests.integration.jobs.world import READ, Job, World

NEEDS = '[suites.demo]\nneeds = ["MODEL_API_KEY"]\n'
IMPORTED = """
[[commands]]
name = "own"
run = ["python", "tests/unit.py"]
junit = ["unit.xml"]
[suites."{name}"]
needs = ["{needs}"]
"""
WRITE_RESULTS = """
import os
case = "<testcase name='a'/>" if "MODEL_API_KEY" in os.environ else "<testcase name='a'><failure/></testcase>"
open("unit.xml", "w").write(f"<testsuite name='unit' tests='1'>{case}</testsuite>")
raise SystemExit(case.count("failure"))
"""


def open_fork_pull(world: World, **options: object) -> tuple[Pull, Job]:
    world.push()
    world.branch()
    world.commit_suite(**options or WORSE)
    pull = world.open_pull_request(fork=world.fork())
    return pull, world.job(events.pull_request(pull))


def test_only_the_second_stage_comments(world: World) -> None:
    pull, first = open_fork_pull(world)
    assert first.exit_code == 1, first.output
    assert first.outputs["comment-pending"] == "true"
    assert first.warnings == []
    assert "11 newly failing" in first.summary
    assert {exchange.method for exchange in world.github.requests} == {"GET"}
    first.upload()

    second = world.second_stage(first.ran)
    assert second.exit_code == 0, second.output
    (comment,) = pull.comments
    assert comment.login == "github-actions[bot]"
    assert "11 newly failing" in comment.body
    assert "exact" in comment.body
    assert f"run={first.ran.id}.1 " in comment.body
    assert second.outputs["comment-url"].endswith(str(comment.id))
    assert second.outputs["comment-pending"] == "false"

    repeated = world.second_stage(first.ran)
    assert repeated.exit_code == 0, repeated.output
    assert len(pull.comments) == 1


def test_the_second_stage_completes_a_check(world: World) -> None:
    pull, first = open_fork_pull(world)
    first.upload()
    second = world.second_stage(first.ran, "--check-run")
    assert second.exit_code == 0, second.output
    (check,) = world.repo.check_runs.values()
    assert (check.head_sha, check.conclusion) == (pull.head_sha, "failure")


def test_dependabot_is_treated_as_a_fork(world: World) -> None:
    world.push()
    world.branch()
    world.commit_suite(**WORSE)
    pull = world.open_pull_request()
    pull.login, world.permissions = "dependabot[bot]", READ
    first = world.job(events.pull_request(pull), "run", "--check-run")
    assert first.outputs["comment-pending"] == "true"
    assert {exchange.method for exchange in world.github.requests} == {"GET"}
    first.upload()
    assert world.second_stage(first.ran).exit_code == 0
    assert len(pull.comments) == 1


def test_suites_without_their_key_are_skipped_and_listed(world: World) -> None:
    world.project.write("scoregate.toml", NEEDS)
    world.project.write("evals/other.py", (world.project.root / "evals/demo.py").read_text().replace("'demo'", "'x'"))
    world.commit()
    world.push(MODEL_API_KEY="key-of-a-model")
    world.branch()
    world.commit_suite(good=20)
    pull = world.open_pull_request(fork=world.fork())
    first = world.job(events.pull_request(pull))
    assert first.exit_code == 0, first.output
    assert [suite["id"] for suite in first.run["suites"]] == ["x"]
    assert "MODEL_API_KEY is not set" in first.summary
    first.upload()
    world.second_stage(first.ran)
    (comment,) = pull.comments
    assert "MODEL&#95;API&#95;KEY is not set" in comment.body or "MODEL_API_KEY is not set" in comment.body
    assert not comment.body.splitlines()[1].startswith("## ✅")


def test_suites_named_by_a_result_file_are_skipped_too(world: World) -> None:
    world.project.write("scoregate.toml", IMPORTED.format(name="unit", needs="MODEL_API_KEY"))
    world.project.write("tests/unit.py", WRITE_RESULTS)
    world.commit()
    pushed = world.push(MODEL_API_KEY="key-of-a-model")
    assert {suite["id"] for suite in pushed.run["suites"]} == {"demo", "unit"}
    world.branch()
    world.commit_suite(good=20)
    first = world.job(events.pull_request(world.open_pull_request(fork=world.fork())))
    assert first.exit_code == 0, first.output
    assert [suite["id"] for suite in first.run["suites"]] == ["demo"]
    assert first.run["skipped"] == ["unit"]
    assert "unit was skipped: MODEL_API_KEY is not set" in first.summary


def test_a_run_without_suites_is_not_green(world: World) -> None:
    world.project.write("scoregate.toml", NEEDS)
    world.commit()
    world.push(MODEL_API_KEY="key-of-a-model")
    world.branch()
    world.commit_suite(good=20)
    first = world.job(events.pull_request(world.open_pull_request(fork=world.fork())))
    assert first.exit_code == 3, first.output
    assert first.outputs["conclusion"] == "unmeasurable"
    assert (first.out / "run" / "run.json").is_file()


def test_in_the_repository_a_missing_key_fails(world: World) -> None:
    world.project.write("scoregate.toml", NEEDS)
    world.commit()
    job = world.job(events.push(world.repo))
    assert job.exit_code == 3, job.output
    assert "MODEL_API_KEY is not set" in job.output


def test_in_the_repository_a_missing_key_of_an_imported_suite_fails(world: World) -> None:
    world.project.write("scoregate.toml", IMPORTED.format(name="un*", needs="MODEL_API_KEY"))
    world.project.write("tests/unit.py", WRITE_RESULTS)
    world.commit()
    job = world.job(events.push(world.repo))
    assert job.exit_code == 3, job.output
    assert "suite unit: MODEL_API_KEY is not set" in job.output


@pytest.mark.parametrize("name", ["unit", "own", "un*", "evals/demo.py"])
def test_needs_of_what_runs_cause_no_notice(world: World, name: str) -> None:
    assert not list_unused_needs(world, name)


@pytest.mark.parametrize("name", ["Unit", "tests/unit.py"])
def test_needs_that_apply_to_nothing_are_reported(world: World, name: str) -> None:
    (notice,) = list_unused_needs(world, name)
    assert f'`needs` of [suites."{name}"] (scoregate.toml' in notice
    assert notice.endswith("applies to nothing; these suites ran: demo, unit")


def list_unused_needs(world: World, name: str) -> list[str]:
    """The notices of a run whose settings have `needs` for a name, of variables that are set."""
    world.project.write("scoregate.toml", IMPORTED.format(name=name, needs="HOME"))
    world.project.write("tests/unit.py", WRITE_RESULTS)
    outcome = world.project.scoregate("run", "--baseline", "none")
    return [notice for notice in outcome.run["notices"] if "applies to nothing" in notice]


def test_a_data_suite_is_skipped_without_its_endpoint_variables(world: World) -> None:
    definition = '[testset]\n[endpoint]\nurl = "http://127.0.0.1:9"\nauth_token = "${SHOP_TOKEN}"\n'
    world.project.write("evals/shop.toml", definition)
    world.project.write("evals/shop.csv", "prompt_content,category,topic,behavior\nWhen?,Support,Hours,Answers\n")
    world.commit()
    world.push(SHOP_TOKEN="a-token-of-the-shop")
    world.branch()
    world.commit_suite(good=20)
    job = world.job(events.pull_request(world.open_pull_request(fork=world.fork())))
    assert job.exit_code == 0, job.output
    assert [suite["id"] for suite in job.run["suites"]] == ["demo"]
    assert job.run["skipped"] == ["shop"]
    assert "SHOP_TOKEN is not set, which its endpoint needs" in job.summary


def test_an_outdated_head_gets_no_comment(world: World) -> None:
    pull, first = open_fork_pull(world)
    first.upload()
    world.project.git("checkout", "-q", "change")
    world.commit_suite(good=20)
    pull.head_repository.refs["refs/heads/change"] = world.project.git("rev-parse", "HEAD").strip()
    second = world.second_stage(first.ran)
    assert second.exit_code == 0, second.output
    assert "no longer the head of an open pull request" in second.output
    assert pull.comments == []


@pytest.mark.parametrize("what", ["closed", "of another fork", "pushed", "nothing left", "expired"])
def test_unsuitable_runs_get_no_comment(world: World, what: str) -> None:
    pull, first = open_fork_pull(world)
    if what == "closed":
        pull.state = "closed"
    elif what == "of another fork":
        first.ran.head_repository = world.fork("trudy/bot")
    elif what == "pushed":
        first.ran.event = "push"
    if what != "nothing left":
        first.upload()
    if what == "expired":
        first.ran.artifacts[0].expired = True
    second = world.second_stage(first.ran)
    assert second.exit_code == 0, second.output
    assert pull.comments == []


def test_a_comment_of_the_first_stage_is_kept(world: World) -> None:
    world.push()
    world.branch()
    world.commit_suite(**WORSE)
    pull = world.open_pull_request()
    first = world.job(events.pull_request(pull))
    first.upload()
    (comment,) = pull.comments
    comment_text = comment.body
    second = world.second_stage(first.ran)
    assert second.exit_code == 0, second.output
    assert [comment.body for comment in pull.comments] == [comment_text]


def test_publishing_in_another_event_is_an_error(world: World) -> None:
    job = world.job(events.push(world.repo), "publish")
    assert job.exit_code == 2
    assert "workflow_run" in job.output


@pytest.mark.parametrize("command", ["run", "publish"])
@pytest.mark.parametrize("checkout", ["change", "merged", "later"])
def test_fork_code_in_a_privileged_job_is_refused(world: World, command: str, checkout: str) -> None:
    world.branch()
    world.commit_suite(**WORSE)
    pull = world.open_pull_request(fork=world.fork())
    first = world.workflow_run(events.pull_request(pull))
    world.project.git("branch", "later", "change")
    world.project.git("checkout", "-q", "later")
    world.commit()
    world.project.git("checkout", "-q", checkout)
    if command == "run":
        target = world.job(events.pull_request(pull, name="pull_request_target"), run=first)
        assert target.exit_code == 2, target.output
        assert "a fork's commit is checked out in a job on pull_request_target" in target.output
    job = world.job(events.workflow_run(first), command)
    assert job.exit_code == 2, job.output
    assert "a fork's commit is checked out in a job on workflow_run" in job.output
    assert not (world.project.root / "scoregate-out").exists()


def test_repository_code_may_run_there(world: World) -> None:
    world.branch()
    world.commit_suite(**WORSE)
    pull = world.open_pull_request(fork=world.fork())
    world.project.git("checkout", "-q", "main")
    job = world.job(
        events.pull_request(pull, name="pull_request_target"), run=world.workflow_run(events.pull_request(pull))
    )
    assert job.exit_code == 0, job.output


def test_a_fork_next_to_the_checkout_is_refused(world: World) -> None:
    fork = world.fork()
    world.branch()
    world.commit_suite(**WORSE)
    pull = world.open_pull_request(fork=fork)
    world.project.git("worktree", "add", "-q", "pr", "change")
    world.project.git("checkout", "-q", "main")
    job = world.job(events.pull_request(pull, name="pull_request_target"), "run", "pr/evals")
    assert job.exit_code == 2, job.output
    assert "a fork's commit is checked out" in job.output


def test_the_second_stage_fails_without_permission(world: World) -> None:
    world.push()
    fork = world.fork()
    world.branch()
    world.commit_suite(**WORSE)
    pull = world.open_pull_request(fork=fork)
    first = world.job(events.pull_request(pull))
    first.upload()
    world.project.git("checkout", "-q", "main")
    world.permissions = READ
    second = world.job(events.workflow_run(first.ran), "publish")
    assert second.exit_code == 3, second.output
    assert "pull-requests: write" in second.output
