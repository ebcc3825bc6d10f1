"""Commands in comments: who may give them, what they start, and what is refused."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.fakes.github import Pull, events
from tests.integration.jobs.commands import KEY, Commands
from tests.integration.jobs.world import WRITE, World

BROKEN = "lambda case: 'no' if case.input.startswith('good 1') else case.input"


@pytest.fixture
def commands(world: World) -> Commands:
    world.project.write("scoregate.toml", "fail_on_regression = true\nmin_pass_rate = 0\n")
    world.commit()
    world.push()
    world.repo.roles |= {"ana": "maintain", "tim": "triage"}
    return Commands(world)


def open_change(commands: Commands, *, fork: bool = False, **options: str) -> Pull:
    world = commands.world
    world.branch()
    world.commit_suite(good=20, **options)
    source = world.fork() if fork else None
    return world.open_pull_request(fork=source)


def last_comment(pull: Pull) -> str:
    return [each.body for each in pull.comments if each.login == "github-actions[bot]"][-1]


def reactions(pull: Pull) -> list[str]:
    return [kind for _, kind in pull.comments[0].reactions]


def test_a_command_runs_the_newest_commit_and_sets_its_status(commands: Commands) -> None:
    pull = open_change(commands)
    answer, job, published = commands.carry_out(pull, f"/scoregate run repeats=2 @{pull.head_sha[:9]}\nplease")
    assert answer.outputs == {
        "approved": f"{pull.number}@{pull.head_sha}", "commit": pull.head_sha, "suite": "", "repeats": "2"
    }  # fmt: skip
    assert job.exit_code == 0, job.output
    assert len(job.result["suites"]) == 1
    assert published.exit_code == 0, published.output
    assert reactions(pull) == ["eyes", "rocket"]
    pending, final = commands.world.repo.statuses
    assert (pending.sha, pending.state, pending.context) == (pull.head_sha, "pending", f"scoregate ({KEY})")
    assert (final.sha, final.state, final.context) == (pull.head_sha, "success", f"scoregate ({KEY})")
    _, report = pull.comments
    assert report.body.startswith(f"<!-- scoregate:v1 key={KEY} sha={pull.head_sha}")
    assert "All suites run on" in report.body
    assert "2 times each" in report.body


def test_a_worse_score_is_a_failure_of_the_commit(commands: Commands) -> None:
    pull = open_change(commands, fn=BROKEN)
    _, job, published = commands.carry_out(pull, "/scoregate run")
    assert job.exit_code == 1, job.output
    assert published.exit_code == 0, published.output
    final = commands.world.repo.statuses[-1]
    assert (final.sha, final.state) == (pull.head_sha, "failure")
    assert "9 of 20 (45.0%)" in last_comment(pull)


def test_a_status_is_no_success_unless_the_job_and_its_results_agree(commands: Commands) -> None:
    pull = open_change(commands)
    comment = pull.comment("/scoregate run", "ana")
    event = events.issue_comment(commands.world.repo, comment)
    answer = commands.answer(comment)
    statuses = commands.world.repo.statuses
    nothing = commands.publish(answer, event, "success")
    assert nothing.exit_code == 3, nothing.output
    assert (statuses[-1].state, "left no artifact command-run" in statuses[-1].description) == ("error", True)
    assert "could not be measured" in last_comment(pull)
    assert commands.run(answer, event).exit_code == 0
    for result in ("failure", "cancelled", ""):
        commands.publish(answer, event, result)
        assert statuses[-1].state == "failure"
    (artifact,) = [each for each in commands.world.repo.artifacts.values() if each.name == "command-run"]
    artifact.serve(b"no zip")
    commands.publish(answer, event, "success")
    assert statuses[-1].state == "error"
    commands.world.repo.artifacts = {
        index: each for index, each in commands.world.repo.artifacts.items() if each is not artifact
    }
    other = next(iter(commands.world.repo.artifacts.values()))
    answer.ran.upload("command-run", other.content)
    commands.publish(answer, event, "success")
    assert (statuses[-1].state, "is a run of" in statuses[-1].description) == ("error", True)


def test_a_run_of_some_suites_has_its_own_status(commands: Commands) -> None:
    pull = open_change(commands)
    answer, job, published = commands.carry_out(pull, "/scoregate run de*")
    assert (answer.outputs["suite"], job.exit_code, published.exit_code) == ("de*", 0, 0)
    contexts = {status.context for status in commands.world.repo.statuses}
    assert contexts == {f"scoregate ({KEY}, some suites)"}
    _, job, _ = commands.carry_out(pull, "/scoregate run misspelt-*")
    assert job.exit_code == 3, job.output
    assert commands.world.repo.statuses[-1].state == "error"


def test_a_commit_that_is_no_longer_the_newest_is_not_run(commands: Commands) -> None:
    pull = open_change(commands)
    comment = pull.comment("/scoregate run", "ana")
    event = events.issue_comment(commands.world.repo, comment)
    answer = commands.answer(comment)
    old = pull.head_sha
    commands.world.project.git("checkout", "-q", "change")
    commands.world.commit_suite(good=20, bad=1)
    outcome = commands.run(answer, event)
    assert outcome.exit_code == 3, outcome.output
    assert "has moved" in outcome.output
    assert "is-equals" not in outcome.output
    published = commands.publish(answer, event, "failure")
    assert published.exit_code == 3
    final = commands.world.repo.statuses[-1]
    assert (final.sha, final.state) == (old, "error")


def test_another_commit_than_the_approved_one_is_not_run(commands: Commands) -> None:
    pull = open_change(commands)
    comment = pull.comment("/scoregate run", "ana")
    event = events.issue_comment(commands.world.repo, comment)
    answer = commands.answer(comment)
    commands.world.project.git("checkout", "-q", "main")
    inputs = {"INPUT_APPROVED": answer.outputs["approved"], "INPUT_GATEWAY": "on"}
    other = commands.world.job(event, "run", **inputs)
    assert other.exit_code == 2, other.output
    assert "is checked out" in other.output
    commands.world.project.git("checkout", "-q", "--detach", pull.head_sha)
    direct = commands.world.job(event, "run", **{**inputs, "INPUT_GATEWAY": "off"})
    assert (direct.exit_code, "gets keys through the gateway only" in direct.output) == (2, True)


REFUSED = {
    "/scoregate rum": "there is no command 'rum'. Commands are: run,",
    "/scoregate run ; rm -rf /": "is not a glob of names",
    "/scoregate run repeats=1000": "repeats must be from 1 to 20",
    "/scoregate run other/repo@0123456789": "is not a glob of names",
    "/scoregate run @" + "0" * 40: "The newest commit of this pull request is",
    "/scoregate run " + "x" * 65_000: "the command has",
    "/scoregate run\n/scoregate help": "one comment can have one command",
    "/scoregate accept demo is-equals until 2020-01-01 because of it": "2020-01-01 is over",
    "/scoregate accept demo is-equals until 2020-13-41 because of it": "is not a day",
}


def test_an_invalid_command_gets_an_answer_and_runs_nothing(commands: Commands) -> None:
    pull = open_change(commands)
    for text, why in REFUSED.items():
        comment = pull.comment(text, "ana")
        answer = commands.answer(comment)
        assert answer.exit_code == 2, answer.output
        assert answer.outputs.get("approved", "") == "", text
        assert why.lower() in last_comment(pull).lower(), last_comment(pull)
        assert [kind for _, kind in comment.reactions] == ["eyes", "confused"]
    assert commands.world.repo.statuses == []
    assert len([each for each in pull.comments if each.login == "github-actions[bot]"]) == 1
    assert len(last_comment(pull)) < 6_000


def test_people_without_write_access_are_refused(commands: Commands) -> None:
    pull = open_change(commands)
    commands.say(pull, "/scoregate help", "ana")
    for login in ("tim", "mallory", "octocat"):
        answer = commands.say(pull, "/scoregate run", login)
        assert answer.exit_code == 2, answer.output
        assert "approved" not in answer.outputs or not answer.outputs["approved"]
        assert f"which {login} doesn't have" in last_comment(pull)
    assert "which tim doesn" not in last_comment(pull), "strangers share one place"
    assert "list the commands" in last_comment(pull), "answers to others stay"
    assert commands.world.repo.statuses == []


def test_only_an_unchanged_comment_of_a_user_counts(commands: Commands) -> None:
    pull = open_change(commands)
    repo = commands.world.repo
    edited = pull.comment("/scoregate run", "ana")
    edited.edit("/scoregate run")
    forged = pull.comment("Looks good", "ana")
    forged_event = events.issue_comment(repo, forged)
    forged_event.payload["comment"]["body"] = "/scoregate run"
    other = events.issue_comment(repo, pull.comment("/scoregate run", "ana"))
    other.payload["comment"]["user"]["login"] = "tim"
    elsewhere = events.issue_comment(repo, pull.comment("/scoregate run", "ana"))
    elsewhere.payload["issue"]["number"] = 99
    gone = events.issue_comment(repo, pull.comment("/scoregate run", "ana"))
    del repo.comments[gone.payload["comment"]["id"]]
    cases = {
        "the comment was edited": events.issue_comment(repo, edited),
        "was edited": forged_event,
        "is by another user": other,
        "on another issue": elsewhere,
        "is not a user": events.issue_comment(repo, pull.comment("/scoregate run", "helper[bot]")),
        "404": gone,
        "is not an event for commands": events.push(repo),
    }
    for why, event in cases.items():
        answer = commands.answer_event(event)
        assert answer.exit_code in (2, 3), answer.output
        assert why in answer.output
        assert not answer.outputs.get("approved")
    assert not repo.statuses
    assert not any(each.reactions for each in pull.comments)


def test_other_comments_change_nothing(commands: Commands) -> None:
    pull = open_change(commands)
    for text in ("Thanks", "/scoregates run", "Write /scoregate run", ""):
        answer = commands.say(pull, text)
        assert (answer.exit_code, answer.outputs["approved"]) == (0, ""), answer.output
    assert all(each.login == "ana" for each in pull.comments)


def test_issues_and_closed_pull_requests_are_refused(commands: Commands) -> None:
    pull = open_change(commands)
    issue = pull.comment("/scoregate run", "ana")
    issue.issue = 99
    answer = commands.answer(issue)
    assert (answer.exit_code, "99 is not a pull request" in answer.output) == (2, True)
    pull.state = "closed"
    answer = commands.say(pull, "/scoregate run")
    assert (answer.exit_code, "This pull request is closed" in last_comment(pull)) == (2, True)
    assert commands.world.repo.statuses == []


def test_a_forks_commit_must_be_named_and_needs_the_container(commands: Commands) -> None:
    pull = open_change(commands, fork=True)
    refusal = commands.say(pull, "/scoregate run")
    assert refusal.exit_code == 2, refusal.output
    assert f"<code>/scoregate run @{pull.head_sha[:12]}</code>" in last_comment(pull)
    comment = pull.comment(f"/scoregate run @{pull.head_sha[:12]}", "ana")
    answer = commands.answer(comment)
    assert answer.outputs["commit"] == pull.head_sha, answer.output
    outcome = commands.run(answer, events.issue_comment(commands.world.repo, comment))
    assert outcome.exit_code == 2, outcome.output
    assert "without the container" in outcome.output


def test_the_failed_jobs_of_the_newest_commit_run_again(commands: Commands) -> None:
    pull = open_change(commands)
    nothing = commands.say(pull, "/scoregate rerun-failed")
    assert (nothing.exit_code, "has no run with the key" in last_comment(pull)) == (2, True)
    repo = commands.world.repo
    head = {"event": "pull_request", "head_branch": "change"}
    failed = repo.workflow_run(**head, conclusion="failure")
    green = repo.workflow_run(**head)
    other = repo.workflow_run(**head, conclusion="failure", name="lint")
    named = repo.workflow_run(**head, conclusion="cancelled", name="nightly")
    named.upload(f"scoregate-{KEY}", {"run.json": "{}"})
    second = commands.say(pull, "/scoregate rerun-failed")
    assert second.exit_code == 0, second.output
    assert [len(run.reruns) for run in (failed, green, other, named)] == [1, 0, 0, 1]
    assert "run again" in last_comment(pull)
    running = commands.say(pull, "/scoregate rerun-failed")
    assert (running.exit_code, "has not ended yet" in last_comment(pull)) == (2, True)
    assert not running.outputs.get("approved")


def accept(commands: Commands, pull: Pull, text: str = "", **environment: str) -> str:
    """The answer to `accept`; the run of the pull request is stored."""
    answer = commands.say(pull, f"/scoregate accept demo is-* until 2999-12-31 {text}because of it", **environment)
    assert answer.exit_code == 0, answer.output
    return last_comment(pull)


def test_accept_prints_the_regression_entry(commands: Commands) -> None:
    pull = open_change(commands, fn=BROKEN)
    early = commands.say(pull, "/scoregate accept demo is-* until 2999-12-31 because of it")
    assert (early.exit_code, "has no finished run" in last_comment(pull)) == (2, True)
    assert 'evaluator = "is-*"' in accept(commands, pull, "at_most=0.6 "), "without a run, as it is written"
    commands.world.check_out_merge(pull)
    commands.world.permissions = dict(WRITE)
    outcome = commands.world.job(events.pull_request(pull))
    assert outcome.exit_code == 1, outcome.output
    outcome.upload()
    answer = accept(commands, pull)
    for line in (
        'suite = "demo"',
        'evaluator = "is-equals"',
        "until = 2999-12-31",
        'reason = "of it"',
        'by = "ana"',
        "at_most = 0.55",
    ):
        assert f"\n{line}\n" in answer, answer
    none = commands.say(pull, "/scoregate accept other is-* until 2999-12-31 because of it")
    assert (none.exit_code, "no score that is worse matches" in last_comment(pull).lower()) == (2, True)
    assert commands.world.repo.files("change").keys() == commands.world.repo.files("main").keys()


def test_accept_finds_a_regression_beside_a_case_in_quarantine(commands: Commands) -> None:
    world = commands.world
    entry = '[[quarantine]]\ncase = "good 5"\nowner = "bo"\nreason = "the clock"\nuntil = 2999-12-31\n'
    world.project.write(".scoregate/quarantine.toml", entry)
    world.commit()
    world.push()
    pull = open_change(commands, fn=BROKEN)
    world.check_out_merge(pull)
    world.permissions = dict(WRITE)
    world.job(events.pull_request(pull)).upload()
    assert "\nat_most = 0.58\n" in accept(commands, pull)  # 11 of 19 cases


def test_accept_commits_the_entry_with_the_token_of_an_app_only(commands: Commands) -> None:
    pull = open_change(commands, fn=BROKEN)
    repo = commands.world.repo
    own = commands.world.github.token(contents="write")
    text = "/scoregate accept demo is-* until 2999-12-31 at_most=0.6 because of it"
    refusal = commands.answer(pull.comment(text, "ana"), "--app-token", own)
    assert (refusal.exit_code, "is the job's own token" in refusal.output) == (2, True), refusal.output
    head = pull.head_sha
    app = commands.world.github.token("evals-app[bot]", contents="write")
    outcome = commands.answer(pull.comment(text, "ana"), "--app-token", app)
    assert outcome.exit_code == 0, outcome.output
    assert app not in outcome.output
    assert repo.objects.commits[pull.head_sha].parents == (head,)
    assert b'evaluator = "is-*"' in repo.files("change")[".scoregate/accepted.toml"]
    repo.commit("change", files={".scoregate/accepted.toml": "[[accepted]"})
    invalid = commands.answer(pull.comment(text, "ana"), "--app-token", app)
    assert (invalid.exit_code, "is not valid TOML" in last_comment(pull)) == (2, True)


def test_the_label_runs_the_commit_it_was_set_on(commands: Commands) -> None:
    pull = open_change(commands)
    pull.label("scoregate: run", "ana")
    event = events.labeled(pull, "scoregate: run", "ana")
    answer = commands.answer_event(event)
    assert answer.outputs["commit"] == pull.head_sha, answer.output
    assert pull.labels == []
    assert "the label" in last_comment(pull)
    assert commands.run(answer, event).exit_code == 0
    assert commands.publish(answer, event, "success").exit_code == 0
    assert commands.world.repo.statuses[-1].state == "success"


def test_a_label_that_does_not_count_runs_nothing(commands: Commands) -> None:
    pull = open_change(commands)
    for login, why in (("tim", "without write access"), ("helper[bot]", "is not a user")):
        pull.label("scoregate: run", login)
        refusal = commands.answer_event(events.labeled(pull, "scoregate: run", "ana"))
        assert (refusal.exit_code, why in refusal.output) == (2, True), refusal.output
        pull.unlabel("scoregate: run", login)
    missing = commands.answer_event(events.labeled(pull, "scoregate: run", "ana"))
    assert (missing.exit_code, "it is not set" in missing.output) == (2, True), missing.output
    other = commands.answer_event(events.labeled(pull, "bug", "ana"))
    assert (other.exit_code, other.outputs["approved"]) == (0, "")
    pull.label("scoregate: run", "ana")
    event = events.labeled(pull, "scoregate: run", "ana")
    commands.world.project.git("checkout", "-q", "change")
    commands.world.commit_suite(good=20, bad=1)
    moved = commands.answer_event(event)
    assert (moved.exit_code, "The newest commit of this pull request is" in last_comment(pull)) == (2, True)
    assert commands.world.repo.statuses == []


def test_an_entry_that_the_pull_request_adds_counts_in_both_jobs_with_its_label(commands: Commands) -> None:
    terms = 'until = 2999-12-31\nreason = "x"\nby = "ana"\nat_most = 0.6\n'
    entry = f'[[accepted]]\nsuite = "demo"\nevaluator = "*"\n{terms}'
    commands.world.branch()
    commands.world.project.write(".scoregate/accepted.toml", entry)
    commands.world.commit_suite(good=20, fn=BROKEN)
    pull = commands.world.open_pull_request()
    for push in commands.world.repo.activities:
        push.timestamp -= timedelta(minutes=10)
    for labels, exit_code, state in (([], 1, "failure"), (["scoregate: accept"], 0, "success")):
        for label in labels:
            pull.label(label, "ana")
        _, job, published = commands.carry_out(pull, "/scoregate run")
        assert job.exit_code == exit_code, job.output
        assert published.exit_code == 0, published.output
        assert commands.world.repo.statuses[-1].state == state, published.output


def test_a_github_failure_approves_nothing(commands: Commands) -> None:
    pull = open_change(commands)
    github = commands.world.github
    odd = {"permission": ["admin"]}
    for path, status, body in (
        ("*/collaborators/ana/permission", 403, {"message": "Resource not accessible by integration"}),
        ("*/collaborators/ana/permission", 200, odd),
        ("*/issues/comments/*", 200, {"body": "/scoregate run"}),
        ("*/pulls/1", 200, {"state": "open"}),
    ):
        github.fail("GET", path, status=status, body=body)
        answer = commands.say(pull, "/scoregate run")
        assert answer.exit_code == 3, answer.output
        assert not answer.outputs.get("approved")
    assert commands.world.repo.statuses == []


def test_failed_answers_are_warnings(commands: Commands) -> None:
    pull = open_change(commands)
    pull.locked = True
    github = commands.world.github
    for path in ("*/reactions", "*/statuses/*"):
        github.fail("POST", path, status=403, body={"message": "Resource not accessible by integration"}, times=2)
    answer = commands.say(pull, "/scoregate run")
    assert (answer.exit_code, answer.outputs["commit"]) == (0, pull.head_sha), answer.output
    warnings = " ".join(answer.warnings)
    assert "`statuses: write`" in warnings
    assert "locked" in warnings


def test_a_job_without_a_token_or_event_is_refused(commands: Commands) -> None:
    pull = open_change(commands)
    event = events.issue_comment(commands.world.repo, pull.comment("/scoregate run", "ana"))
    for name in ("answer", "run", "publish"):
        approved = {} if name == "answer" else {"INPUT_APPROVED": f"1@{pull.head_sha}"}
        job = commands.world.job(event, name, **{"INPUT_GITHUB-TOKEN": ""}, **approved)
        assert job.exit_code == 2, job.output
        assert "token" in job.output
    for text in ("1", "1@abc", "x@" + "0" * 40, f"1@{pull.head_sha.upper()}", f"0@{pull.head_sha}"):
        job = commands.world.job(event, "run", INPUT_APPROVED=text)
        assert job.exit_code == 2, job.output
        assert "must be the number of a pull request and a whole SHA" in job.output
    commands.world.project.write("scoregate.toml", f'approved = "1@{pull.head_sha}"\n')
    job = commands.world.job(event, "run")
    assert (job.exit_code, "a change can't approve itself" in job.output) == (2, True), job.output
