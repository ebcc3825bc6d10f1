"""Accepted regressions and quarantined cases in jobs: on pull requests, the base and a verified label decide."""

from __future__ import annotations

import json
import math
from datetime import timedelta

import pytest
from tests.fakes.github import Pull, events
from tests.integration.jobs.world import Job, World

ENTRY = """\
[[accepted]]
suite = "demo"
evaluator = "is-*"
until = 2999-12-31
reason = "the new parser"
by = "ana"
at_most = 0.6
"""
FLAKY = '[[quarantine]]\ncase = "good 1*"\nowner = "bo"\nreason = "the clock"\nuntil = 2999-12-31\n'
BROKEN = "lambda case: 'no' if case.input.startswith('good 1') else case.input"
LABEL = "scoregate: accept"
SETTINGS = "fail_on_regression = true\nmin_pass_rate = 0\n"


def prepare(world: World, *, accepted: str = "", quarantine: str = "") -> None:
    """A suite on main, and a run of it."""
    world.project.write("scoregate.toml", SETTINGS)
    write(world, accepted, quarantine)
    world.commit_suite(good=20)
    world.push()


def write(world: World, accepted: str = "", quarantine: str = "") -> None:
    for name, text in (("accepted", accepted), ("quarantine", quarantine)):
        if text:
            world.project.write(f".scoregate/{name}.toml", text)


def change(world: World, accepted: str = "", quarantine: str = "") -> Pull:
    """A pull request that breaks eleven of twenty cases and writes the files."""
    world.branch()
    write(world, accepted, quarantine)
    world.commit_suite(good=20, fn=BROKEN)
    pull = world.open_pull_request()
    age_pushes(world, minutes=10)
    return pull


def age_pushes(world: World, *, minutes: int) -> None:
    for push in world.repo.activities:
        push.timestamp -= timedelta(minutes=minutes)


def judge(world: World, pull: Pull, **options: str) -> Job:
    return world.job(events.pull_request(pull), **options)


def explain(job: Job) -> str:
    return " ".join(each["text"] for each in job.result["exemptions"])


def test_an_entry_of_the_base_accepts_the_regression_of_a_pull_request(world: World) -> None:
    prepare(world, accepted=ENTRY)
    job = judge(world, change(world))
    assert job.exit_code == 0, job.output
    assert "1 regression accepted" in job.result["title"]
    assert "🔸 **Accepted regression**" in job.comment
    assert ".scoregate/accepted.toml:1 of the base" in job.comment
    assert not [each for each in world.github.requests if "/labels" in each.path]


def test_a_larger_drop_than_the_base_accepts_always_fails(world: World) -> None:
    prepare(world, accepted=ENTRY.replace("0.6", "0.1"))
    job = judge(world, change(world, ENTRY))
    assert job.exit_code == 1, job.output
    assert "more than the 0.100 that is accepted" in job.output
    assert "it needs the label `scoregate: accept`, set by someone with write access" in explain(job)


def test_an_entry_of_the_change_needs_a_label_with_write_access(world: World) -> None:
    prepare(world)
    pull = change(world, ENTRY)
    world.repo.roles |= {"ana": "maintain", "tim": "triage"}
    refusal = judge(world, pull)
    assert refusal.exit_code == 1, refusal.output
    assert "**Doesn&#39;t count**" in refusal.comment or "Doesn't count" in refusal.comment
    for login, why in (
        ("tim", "the label was set by tim, without write access"),
        ("mallory", "the label was set by mallory, without write access"),
        ("helper[bot]", "the label was set by helper[bot], which is not a user"),
    ):
        pull.label(LABEL, login)
        job = judge(world, pull)
        assert job.exit_code == 1, job.output
        assert why in explain(job)
        pull.unlabel(LABEL, login)
    pull.label("Scoregate: Accept", "ana")
    job = judge(world, pull)
    assert job.exit_code == 0, job.output
    assert "the new parser" in job.comment


def test_a_report_in_the_job_counts_the_entries_that_the_gate_counts(world: World) -> None:
    prepare(world)
    pull = change(world, ENTRY)
    job = judge(world, pull)
    assert job.exit_code == 1, job.output
    result, event = job.result, events.pull_request(pull)
    report = world.job(event, "report", "--json", str(job.out / "run"))
    gate = world.job(event, "gate", "--json", str(job.out / "run"))
    for again in (report, gate):
        found = json.loads(again.output[again.output.index("{") : again.output.rindex("}") + 1])
        assert found["exemptions"] == result["exemptions"]
        assert found["conclusion"] != "passed"


def test_only_the_labelled_commit_counts(world: World) -> None:
    prepare(world)
    pull = change(world, ENTRY.replace("0.6", "0.1"))
    world.repo.roles["ana"] = "write"
    pull.label(LABEL, "ana", at=world.repo.activities[-1].timestamp + timedelta(minutes=1))
    world.project.git("checkout", "-q", "change")
    write(world, ENTRY)
    world.commit()
    world.check_out_merge(pull)
    job = judge(world, pull)
    assert job.exit_code == 1, job.output
    assert "its text changed after the label was set" in explain(job)
    world.project.git("checkout", "-q", "change")
    write(world, ENTRY.replace("0.6", "0.1"))
    world.project.write("README.md", "more")
    world.commit()
    world.check_out_merge(pull)
    second = judge(world, pull)
    assert second.exit_code == 1, second.output
    assert [each["state"] for each in second.result["exemptions"]] == ["exceeded"]


def test_unproven_approvals_do_not_count(world: World) -> None:
    prepare(world)
    pull = change(world, ENTRY)
    world.repo.roles["ana"] = "admin"
    pull.labels.append(LABEL)
    assert "GitHub doesn't list who set the label" in explain(judge(world, pull))
    pull.labels.clear()
    last = next(push for push in world.repo.activities if push.ref == "refs/heads/change")
    pull.label(LABEL, "ana", at=last.timestamp)
    assert "in the same second as a push" in explain(judge(world, pull))
    world.repo.activities.remove(last)
    assert "list of pushes lacks the one before the label" in explain(judge(world, pull))
    world.repo.activities.append(last)
    last.timestamp -= timedelta(minutes=1)
    for path, answer in (
        ("*/activity", {"status": 403}),
        ("*/issues/*/events", {"status": 403}),
        ("*/collaborators/*", {"status": 404}),
        ("*/activity", {"status": 200, "body": [{"after": 1}]}),
        ("*/activity", {"status": 200, "body": [{"after": pull.head_sha, "timestamp": "soon"}]}),
    ):
        fault = world.github.fail("GET", path, times=math.inf, **answer)
        job = judge(world, pull)
        fault.times = 0
        assert job.exit_code == 1, job.output
        assert "the label can't be verified: GitHub" in explain(job)
    no_token = judge(world, pull, **{"INPUT_GITHUB-TOKEN": ""}, INPUT_BASELINE="none")
    assert "without a token no label can be verified" in explain(no_token)
    assert judge(world, pull).exit_code == 0


def test_a_fork_cannot_accept_its_own_regression(world: World) -> None:
    prepare(world)
    world.branch()
    write(world, ENTRY)
    world.commit_suite(good=20, fn=BROKEN)
    pull = world.open_pull_request(fork=world.fork())
    world.repo.roles["ana"] = "write"
    pull.label(LABEL, "ana")
    first = judge(world, pull)
    assert first.exit_code == 1, first.output
    assert "in a pull request of a fork no label can approve it" in explain(first)
    first.upload()
    world.second_stage(first.ran)
    (comment,) = pull.comments
    assert "Regression" in comment.body
    assert "Accepted regression" not in comment.body


@pytest.mark.parametrize("shallow", [False, True])
def test_cases_in_quarantine_follow_the_base(world: World, shallow: bool) -> None:
    prepare(world, quarantine=FLAKY)
    pull = change(world, quarantine=FLAKY.replace("good 1*", "*"))
    if shallow:
        world.check_out_shallow("merged")
    job = judge(world, pull)
    assert job.exit_code == 0, job.output
    assert len(job.result["quarantined"]) == 11
    assert {each["status"] for each in job.result["quarantined"]} == {"failed"}
    assert "<b>11 cases in quarantine</b>" in job.comment
    assert "the pull request adds it" in explain(job)
    assert job.result["totals"]["trials"] == 9
    junit = job.written["junit.xml"].decode()
    assert junit.count("in quarantine until 2999-12-31, owner bo: the clock") >= 11


def test_an_entry_takes_cases_out_of_the_comparison_once_the_base_was_measured_with_it(world: World) -> None:
    prepare(world)
    world.repo.roles["ana"] = "write"
    pull = change(world, quarantine=FLAKY)
    pull.label(LABEL, "ana")
    job = judge(world, pull)
    assert job.exit_code == 1, job.output
    assert "Regression of demo" in job.output
    assert "gates that compare scores still count them" in job.comment
    assert {each["compared"] for each in job.result["quarantined"]} == {True}
    measured = world.job(events.pull_request(pull), "run", "--baseline", "rerun")
    assert measured.exit_code == 0, measured.output
    assert [row["n"] for row in measured.result["rows"]] == [9]
    again = world.job(events.pull_request(pull), "gate")
    assert again.exit_code == 0, again.output


def test_a_case_that_was_stable_for_long_can_leave_the_quarantine(world: World) -> None:
    prepare(world, quarantine=FLAKY.replace('"good 1*"', '"good 1"') + "stable_runs = 3\n")
    for stable in (False, True):
        job = world.push()
        (case,) = job.result["quarantined"]
        assert case["stable"] is stable
        assert ("passed 3 runs in a row, so it can leave the quarantine" in job.output) is stable
    job = judge(world, change(world))
    (case,) = job.result["quarantined"]
    assert (case["status"], case["stable_runs"]) == ("failed", 0)


def test_a_quarantine_of_everything_is_not_green(world: World) -> None:
    prepare(world, quarantine=FLAKY.replace("good 1*", "*"))
    job = judge(world, change(world))
    assert job.exit_code == 3, job.output
    assert "every case of the suite is quarantined" in job.output


def test_a_damaged_file_is_an_error_and_one_in_the_base_is_ignored(world: World) -> None:
    prepare(world)
    pull = change(world, ENTRY.replace("until", "untill"))
    job = judge(world, pull)
    assert job.exit_code == 2, job.output
    assert ".scoregate/accepted.toml:1: `until` is missing" in job.output
    world.project.git("checkout", "-q", "main")
    write(world, ENTRY.replace("until", "untill"))
    world.commit()
    world.project.git("checkout", "-q", "change")
    world.project.git("merge", "-q", "-X", "ours", "-m", "merge", "main")
    write(world, ENTRY)
    world.commit()
    world.check_out_merge(pull)
    repaired = judge(world, pull)
    assert repaired.exit_code == 1, repaired.output
    assert "No entry of the base's accepted.toml and quarantine.toml counts" in repaired.output


def test_a_push_uses_its_own_files(world: World) -> None:
    prepare(world)
    write(world, ENTRY)
    world.commit_suite(good=20, fn=BROKEN)
    job = world.push()
    assert job.exit_code == 0, job.output
    assert "1 regression accepted" in job.result["title"]


def test_a_merge_group_uses_its_own_files(world: World) -> None:
    prepare(world)
    job = world.job(events.merge_group(change(world, ENTRY)))
    assert job.exit_code == 0, job.output
    assert "1 regression accepted" in job.result["title"]


def test_the_second_stage_of_a_fork_follows_the_base(world: World) -> None:
    prepare(world, accepted=ENTRY)
    world.branch()
    world.commit_suite(good=20, fn=BROKEN)
    pull = world.open_pull_request(fork=world.fork())
    first = judge(world, pull)
    assert first.exit_code == 0, first.output
    first.upload()
    second = world.second_stage(first.ran)
    assert second.exit_code == 0, second.output
    (comment,) = pull.comments
    assert "Accepted regression" in comment.body


def test_without_the_files_nothing_is_requested_for_them(world: World) -> None:
    prepare(world)
    job = judge(world, change(world))
    assert job.exit_code == 1, job.output
    assert (job.result["exemptions"], job.result["quarantined"]) == ([], [])
    paths = [each.path for each in world.github.requests]
    assert not [path for path in paths if path.endswith(("/labels", "/activity")) or "/git/trees/" in path]


def test_the_gate_command_follows_the_base(world: World) -> None:
    prepare(world)
    pull = change(world, ENTRY)
    assert judge(world, pull).exit_code == 1
    second = rerun_gate(world, pull)
    assert second.exit_code == 1, second.output
    world.repo.roles["ana"] = "write"
    pull.label(LABEL, "ana")
    accepted = rerun_gate(world, pull)
    assert accepted.exit_code == 0, accepted.output


def rerun_gate(world: World, pull: Pull) -> Job:
    baseline = next(path for path in sorted(world.folder.glob("out-*")) if (path / "run").exists())
    return world.job(events.pull_request(pull), "gate", "--baseline", str(baseline / "run"))
