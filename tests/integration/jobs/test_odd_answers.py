"""Arbitrary answers of GitHub, and forged records: errors are clear, and the summary and outputs are written."""

from __future__ import annotations

import gzip
import http.server
import json
import math
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from tests.fakes.github import events
from tests.integration.github.stage import CASE, HEAD, record
from tests.integration.jobs.test_lifecycle import WORSE
from tests.integration.jobs.world import Job, World

ODD: dict[str, Any] = {
    "list": [],
    "object": {},
    "null": b"null",
    "number": b"7",
    "odd items": [None, 1, "x", {}],
    "deep": b"[" * 5_000 + b"]" * 5_000,
    "text": b"<html>",
}


def check_reports(job: Job) -> None:
    """No internal error, and later steps of the job find the reports."""
    assert job.exit_code != 4, job.output
    assert "Traceback" not in job.output
    assert job.outputs["conclusion"] in ("passed", "failed", "unmeasurable")
    assert {"comment-url", "run-path", "failed-gates"} <= job.outputs.keys()
    assert job.summary.strip()


@pytest.mark.parametrize("name", ODD)
def test_random_answers_of_github(world: World, name: str) -> None:
    world.branch()
    world.commit_suite(good=3)
    pull = world.open_pull_request()
    world.github.fail("*", "*", status=200, body=ODD[name], times=math.inf)
    job = world.job(events.pull_request(pull), "run", "--check-run")
    check_reports(job)
    assert job.exit_code == 0, job.output


@pytest.mark.parametrize("name", ODD)
def test_an_odd_answer_to_a_comment_is_a_warning(world: World, name: str) -> None:
    world.branch()
    world.commit_suite(good=3)
    pull = world.open_pull_request()
    world.github.fail("POST", "*/comments", status=201, body=ODD[name], times=math.inf)
    job = world.job(events.pull_request(pull))
    check_reports(job)
    assert job.exit_code == 0, job.output
    assert any("cannot write the comment" in warning for warning in job.warnings)


@pytest.mark.parametrize("name", ODD)
def test_the_publishing_stage_of_an_odd_github(world: World, name: str) -> None:
    first = first_stage(world, record())
    world.github.fail("GET", "*", status=200, body=ODD[name], times=math.inf)
    second = world.second_stage(first)
    check_reports(second)


@pytest.fixture
def other_port() -> Iterator[tuple[str, list[dict[str, str]]]]:
    """Another port of the same host, and the headers of the requests that come there."""
    calls: list[dict[str, str]] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            calls.append(dict(self.headers))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"[]")

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", calls
    server.shutdown()
    server.server_close()


def test_no_other_port_gets_the_token(world: World, other_port: tuple[str, list[dict[str, str]]]) -> None:
    url, requests = other_port
    world.branch()
    world.commit_suite(good=3)
    pull = world.open_pull_request()
    link = {"link": f'<{url}/next>; rel="next"'}
    world.github.fail("GET", "*/comments", status=200, body=[], headers=link, times=math.inf)
    world.github.fail("GET", "*/artifacts", status=200, body={"artifacts": []}, headers=link, times=math.inf)
    job = world.job(events.pull_request(pull))
    check_reports(job)
    assert requests == []
    assert any("the token is not sent there" in warning for warning in job.warnings)


def first_stage(world: World, *contents: dict[str, bytes]) -> Any:
    """A fork's run with these artifacts."""
    world.push()
    world.branch()
    world.commit_suite(**WORSE)
    pull = world.open_pull_request(fork=world.fork())
    workflow_run = world.workflow_run(events.pull_request(pull))
    for number, content in enumerate(contents):
        workflow_run.upload(f"scoregate-evals-evals-{number:02}", content)
    return workflow_run


UNDECLARED = record(cases=[{**CASE, "evaluations": {"e": {"score": 1.0}, "nobody": {"score": 0.5}}}])
POISON = {
    "undeclared": UNDECLARED,
    "undeclared error": record(
        cases=[{**CASE, "errors": [{"error": {"type": "E", "message": "m"}, "evaluator": "x"}]}]
    ),
    "negative tokens": record(cases=[{**CASE, "usage": {"input_tokens": -5}}]),
    "huge tokens": record(cases=[{**CASE, "usage": {"input_tokens": 10**20}}]),
    "negative cost": record(cases=[{**CASE, "usage": {"cost": -1000.0}}]),
    "deep": record(b"[" * 5_000),
    "no zip": {"run.json": b"{", "cases.jsonl.gz": b""},
}


@pytest.mark.parametrize("name", POISON)
def test_a_bad_artifact_stops_no_other(world: World, name: str) -> None:
    first = first_stage(world, POISON[name], record())
    second = world.second_stage(first)
    check_reports(second)
    (pull,) = world.repo.pulls.values()
    assert any("key=evals-evals-01 " in comment.body for comment in pull.comments)


def test_three_comments_at_most_and_the_others_are_named(world: World) -> None:
    first = first_stage(world, *[record()] * 25)
    second = world.second_stage(first)
    check_reports(second)
    (pull,) = world.repo.pulls.values()
    assert len(pull.comments) == 3
    assert "evals-evals-03" in second.summary
    assert "a run publishes at most 3" in second.output


def test_the_message_of_a_fork_is_not_shown(world: World) -> None:
    first = first_stage(world, record(message="APPROVED BY THE SECURITY TEAM"))
    second = world.second_stage(first)
    assert second.exit_code == 0, second.output
    (pull,) = world.repo.pulls.values()
    assert "APPROVED" not in pull.comments[0].body + second.summary + second.output


@pytest.mark.parametrize("name", ["undeclared", "undeclared error"])
@pytest.mark.parametrize("command", ["report", "gate", "merge", "compare", "html"])
def test_a_record_with_an_undeclared_evaluator_is_reported(world: World, command: str, name: str) -> None:
    folder = world.project.root / "stored"
    folder.mkdir()
    for file, content in POISON[name].items():
        (folder / file).write_bytes(content)
    arguments = {
        "report": ["report", "stored"],
        "html": ["report", "stored", "--format", "html"],
        "gate": ["gate", "stored"],
        "merge": ["merge", "stored"],
        "compare": ["compare", "stored", "--baseline", "stored"],
    }[command]
    outcome = world.project.scoregate(*arguments)
    assert outcome.exit_code in (0, 1, 3), outcome.output
    assert "Traceback" not in outcome.output
    assert ("nobody" if name == "undeclared" else "x") in outcome.output


def test_an_error_before_any_report_still_sets_the_outputs(world: World) -> None:
    world.project.write("scoregate.toml", "min_pass_rate = 'much'\n")
    job = world.job(events.push(world.repo))
    assert job.exit_code == 2, job.output
    check_reports(job)
    assert job.outputs["conclusion"] == "unmeasurable"
    assert "min_pass_rate" in job.summary


def test_the_unchanged_record_is_valid() -> None:
    assert json.loads(record()["run.json"])["id"] == HEAD["id"]
    assert gzip.decompress(record()["cases.jsonl.gz"])
