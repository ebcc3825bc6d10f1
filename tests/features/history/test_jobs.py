"""Jobs that write their runs to the shared history, and take their base from it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.fakes.github import events
from tests.features.history.cluster import ENCODED, PASSWORD, Cluster
from tests.integration.jobs.world import World

from scoregate.features.history.postgres import PostgresHistory
from scoregate.features.history.queries import RunFilter, load_trend

WORSE = {"fn": "lambda case: case.input if '1' not in case.input else 'no'", "good": 20}
ALL = RunFilter("acme/bot")


@pytest.fixture
def history(cluster: Cluster) -> Iterator[PostgresHistory]:
    store = PostgresHistory(cluster.create_database(), migrates=True)
    yield store
    store.close()


def address_of(store: PostgresHistory) -> str:
    return store.location.replace("postgresql://", f"postgresql://writer:{ENCODED}@")


def test_a_push_to_main_is_the_base_of_pull_requests(world: World, history: PostgresHistory) -> None:
    environ = {"SCOREGATE_HISTORY": address_of(history)}
    base = world.job(events.push(world.repo), "run", "--baseline", "history", **environ)
    assert (base.exit_code, base.warnings) == (0, []), base.output
    assert len(load_trend(history, "demo", "is-equals", ALL)) == 1
    world.branch()
    world.commit_suite(**WORSE)
    pull = world.open_pull_request()
    job = world.job(events.pull_request(pull), "run", "--baseline", "history", **environ)
    assert job.exit_code == 1, job.output
    assert "exact" in job.comment
    assert "11 newly failing" in job.comment
    # A pull request writes nothing, although it has the address.
    assert len(load_trend(history, "demo", "is-equals", ALL)) == 1
    assert PASSWORD.encode() not in b"".join(job.written.values())
    assert ENCODED.encode() not in b"".join(job.written.values())


def test_earlier_bases_count_if_nothing_changed(world: World, history: PostgresHistory) -> None:
    environ = {"SCOREGATE_HISTORY": address_of(history)}
    world.project.write("scoregate.toml", "affected = true\n")
    for text in ("one", "two"):
        world.project.write("README.md", text)
        world.commit()
        assert world.job(events.push(world.repo), "run", "--baseline", "history", **environ).exit_code == 0
    world.branch()
    world.commit_suite(**WORSE)
    pull = world.open_pull_request()
    job = world.job(events.pull_request(pull), "run", "--baseline", "history", **environ)
    assert [row["base_runs"] for row in job.result["rows"]] == [2], job.output


def test_only_pushes_to_the_base_branch_are_bases(world: World, history: PostgresHistory) -> None:
    environ = {"SCOREGATE_HISTORY": address_of(history)}
    for event in (events.schedule(world.repo), events.workflow_dispatch(world.repo)):
        assert world.job(event, "run", "--baseline", "none", **environ).warnings == []
    world.branch()
    world.commit_suite(**WORSE)
    pushed = world.job(events.push(world.repo, "change"), "run", "--baseline", "none", **environ)
    assert pushed.warnings == []
    assert len(load_trend(history, "demo", "is-equals", ALL)) == 3
    assert history.query("SELECT COUNT(*) FROM bases", {}) == [(0,)]
    job = world.job(events.pull_request(world.open_pull_request()), "run", "--baseline", "history", **environ)
    assert "the history has no base of acme/bot on main" in job.comment


def test_a_history_outage_is_a_warning_and_recovers(world: World, history: PostgresHistory) -> None:
    environ = {"SCOREGATE_HISTORY": address_of(history)}
    down = {"SCOREGATE_HISTORY": f"postgresql://writer:{ENCODED}@127.0.0.1:1/history"}
    missed = world.job(events.push(world.repo), "run", "--baseline", "none", **down)
    assert missed.exit_code == 0, missed.output
    (warning,) = missed.warnings
    assert "the run is not in the history" in warning
    assert PASSWORD not in missed.output
    assert ENCODED not in missed.output
    missed.upload()
    world.commit_suite(good=19, bad=1)
    for _ in range(2):
        job = world.job(events.push(world.repo), "run", "--baseline", "none", **environ)
        assert (job.exit_code, job.warnings) == (1, []), job.output
        job.upload()
    assert [point.passed for point in load_trend(history, "demo", "is-equals", ALL)] == [20, 19, 19]
    assert history.query("SELECT COUNT(*) FROM bases", {}) == [(3,)]
    for kind, text in {"artifacts": "0 runs added to acme/bot, 3 known", "branch": "0 runs added"}.items():
        outcome = world.job(events.push(world.repo), "history", "import", kind, **environ)
        assert text in outcome.output
    elsewhere = world.project.scoregate("history", "import", "artifacts", **environ)
    assert (elsewhere.exit_code, "gh run download" in elsewhere.output) == (2, True)


def test_a_developer_compares_with_the_commit_that_is_checked_out(world: World, history: PostgresHistory) -> None:
    environ = {"SCOREGATE_HISTORY": address_of(history)}
    world.job(events.push(world.repo), "run", "--baseline", "none", **environ)
    world.project.git("config", "remote.origin.url", "git@github.com:acme/bot.git")
    world.branch()
    world.commit_suite(**WORSE)
    outcome = world.project.scoregate("run", "--baseline", "history", **environ)
    assert outcome.exit_code == 1, outcome.output
    assert "1 commits before this one" in outcome.comment
    assert history.query("SELECT COUNT(*) FROM runs", {}) == [(1,)]


def test_without_an_address_the_base_is_unreadable(world: World) -> None:
    world.branch()
    world.commit_suite(**WORSE)
    job = world.job(events.pull_request(world.open_pull_request()), "run", "--baseline", "history")
    assert "SCOREGATE_HISTORY is not set" in job.comment


def test_suites_get_no_address(world: World, history: PostgresHistory) -> None:
    body = "import os\nassert 'SCOREGATE_HISTORY' not in os.environ\n"
    world.commit_suite(body, good=20)
    environ = {"SCOREGATE_HISTORY": address_of(history)}
    job = world.job(events.push(world.repo), "run", "--baseline", "none", **environ)
    assert (job.exit_code, job.warnings) == (0, []), job.output
