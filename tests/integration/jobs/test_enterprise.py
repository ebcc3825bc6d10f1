"""A GitHub Enterprise Server: its addresses are in the environment, and its API has a prefix."""

from __future__ import annotations

from pathlib import Path

from tests.fakes.github import GitHub, events
from tests.integration.jobs.test_lifecycle import WORSE
from tests.integration.jobs.world import World


def test_enterprise_works(tmp_path: Path) -> None:
    with GitHub.start(prefix="/api/v3", server_url="https://github.corp.example") as github:
        world = World.new(github, tmp_path)
        world.push()
        world.branch()
        world.commit_suite(**WORSE)
        pull = world.open_pull_request()
        for _ in range(2):
            job = world.job(events.pull_request(pull), "run", "--check-run")
            assert job.exit_code == 1, job.output
            assert job.warnings == []
        (comment,) = pull.comments
        assert "exact" in comment.body
        assert f'href="https://github.corp.example/acme/bot/actions/runs/{job.ran.id}"' in comment.body
        assert "api.github.com" not in comment.body + job.output
        assert all(not exchange.misses_prefix for exchange in github.requests if exchange.path != "/api/graphql")
        assert github.violations == []
