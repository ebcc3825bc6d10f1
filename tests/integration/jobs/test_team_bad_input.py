"""Bad input of a team's features in jobs: nothing of it is green, and the message has the reason."""

from __future__ import annotations

from typing import Any

from tests.fakes.github import Pull, events
from tests.features.affected.test_affected import carried_suites
from tests.features.affected.test_jobs import prepare as prepare_affected
from tests.integration.jobs.test_exemptions import ENTRY, FLAKY, LABEL, change, explain, judge, prepare
from tests.integration.jobs.world import Job, World

FILES = 1_000  # GitHub lists 300


def output_text(job: Job) -> str:
    return " ".join(job.output.split())


def write_files(world: World, folder: str) -> None:
    (world.project.root / folder).mkdir()
    for number in range(FILES):
        (world.project.root / folder / f"{number}.md").write_text(str(number))


def test_a_diff_of_1000_files_is_complete(world: World) -> None:
    prepare_affected(world, 'affected = true\nannotate_unread = ["docs/**"]\nfail_on_regression = true\n')
    world.branch()
    write_files(world, "docs")
    world.project.write("prompts/two.md", "other")
    # The last of all changed files is the one that a suite depends on.
    world.project.write("zz/last.txt", "new")
    world.commit()
    job = world.job(events.pull_request(world.open_pull_request()))
    assert (job.exit_code, carried_suites(job)) == (0, ["one"]), job.output
    notices = [each.message for each in job.commands if each.name == "notice"]
    assert notices.count("No eval reads this file.") == 4
    assert any("more changed files that no eval reads" in each for each in notices)
    assert any("GitHub lists only 300 of the changed files" in each for each in notices)
    # What a pull request adds in so many files counts no more than in one.
    world.project.git("checkout", "-q", "change")
    world.project.write("app/two.py", "def answer(input): return 'wrong'\n")
    world.project.write(".scoregate/accepted.toml", ENTRY.replace("demo", "two").replace("is-*", "*"))
    world.commit()
    pull = world.repo.pulls[max(world.repo.pulls)]
    world.check_out_merge(pull)
    job = judge(world, pull)
    assert job.exit_code == 1, job.output
    assert LABEL in explain(job)


def test_entries_that_are_expired_or_match_nothing_accept_nothing(world: World) -> None:
    old = ENTRY.replace("2999-12-31", "2020-01-31")
    other = ENTRY.replace('"demo"', '"nothing-*"')
    flaky = FLAKY.replace("good 1*", "nothing *") + FLAKY.replace("2999-12-31", "2020-01-31")
    prepare(world, accepted=old + other, quarantine=flaky)
    job = judge(world, change(world))
    assert job.exit_code == 1, job.output
    text = explain(job)
    assert text.count("expired on 2020-01-31") == 2
    states = [each["state"] for each in job.result["exemptions"]]
    assert sorted(states) == ["expired", "expired", "unmatched", "unmatched"]
    assert "nothing-*" in output_text(job)
    assert "expired on 2020-01-31" in job.comment


def test_a_filter_that_matches_no_suite_is_unmeasurable(world: World) -> None:
    world.push()
    job = judge(world, change(world), INPUT_SUITE="nothing-*")
    assert job.exit_code == 3, job.output
    assert "nothing-*" in output_text(job)


def test_a_renamed_suite_is_neither_accepted_nor_skipped_nor_drift(world: World) -> None:
    prepare(world, accepted=ENTRY)
    settings = "fail_on_regression = true\nmin_pass_rate = 0\naffected = true\ndrift_control = 1\n"
    world.project.write("scoregate.toml", settings)
    world.commit()
    world.push()
    world.branch("renamed")
    world.project.git("mv", "evals/demo.py", "evals/other.py")
    source = (world.project.root / "evals" / "other.py").read_text()
    world.project.write("evals/other.py", source.replace("'demo'", "'renamed'"))
    world.commit()
    job = judge(world, world.open_pull_request("renamed"))
    assert job.exit_code == 3, job.output
    assert carried_suites(job) == []
    assert "demo" in str(job.result["gone"])
    assert "no suite of this run has results in the base" in output_text(job)


def test_a_payload_with_forged_labels_changes_nothing(world: World) -> None:
    prepare(world)
    pull = change(world, ENTRY)
    for label in (LABEL, "scoregate: skip", "scoregate: run"):
        job = world.job(forge(pull, labels=[{"name": label}]))
        assert job.exit_code == 1, job.output
        assert len(job.result["suites"]) == 1


def forge(pull: Pull, **fields: Any) -> events.Event:
    """The event of a pull request with other fields than GitHub has."""
    event = events.pull_request(pull)
    event.payload["pull_request"] |= fields
    return event
