"""Scheduled jobs on the base branch: one issue and webhooks for what got worse, after a second measurement."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from tests.fakes.github import events
from tests.fakes.github.issues import Issue, open_issue
from tests.integration.jobs.world import Job, World

CASES = 40
SETTINGS = 'min_pass_rate = 0\nalert = ["issue", "slack", "webhook"]\n'
# What the model does is in a file that git ignores, as a provider is in no commit.
FN = "lambda case: 'no' if int(case.input.split()[1]) < int(open('provider.txt').read() or 0) else case.input"
FLAKY = (
    "lambda case: (open('calls.txt', 'a').write('x'),"
    " 'no' if {first} < len(open('calls.txt').read()) <= {last} else case.input)[1]"
)


class Hook:
    """A webhook on loopback; `status` is what it answers."""

    def __init__(self) -> None:
        self.messages: dict[str, list[Any]] = {}
        self.status = 200
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                hook.messages.setdefault(self.path, []).append(json.loads(body))
                self.send_response(hook.status)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    @property
    def environ(self) -> dict[str, str]:
        return {
            "SCOREGATE_SLACK_WEBHOOK": f"{self.url}/T0/secret",
            "SCOREGATE_ALERT_WEBHOOK": f"{self.url}/json-secret",
        }

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def hook() -> Iterator[Hook]:
    new_hook = Hook()
    yield new_hook
    new_hook.close()


def start(world: World, settings: str = SETTINGS, fn: str = FN) -> None:
    world.permissions = {**world.permissions, "issues": "write"}
    world.project.write("scoregate.toml", settings)
    world.project.write(".gitignore", "scoregate-out\nprovider.txt\ncalls.txt\n")
    world.project.write("provider.txt", "0")
    world.project.write("calls.txt", "")
    world.commit_suite(good=CASES, fn=fn)


def run_schedule(world: World, failing: int, hook: Hook, **environ: str) -> Job:
    """A scheduled job, in which so many cases fail; its run is uploaded."""
    world.project.write("provider.txt", str(failing))
    job = world.job(events.schedule(world.repo), **{**hook.environ, **environ})
    job.upload()
    return job


def only_issue(world: World) -> Issue:
    (issue,) = world.repo.issues.values()
    return issue


def test_one_issue_is_opened_updated_and_closed(world: World, hook: Hook) -> None:
    start(world)
    assert run_schedule(world, 0, hook).exit_code == 0
    assert not world.repo.issues
    job = run_schedule(world, 12, hook)
    assert job.exit_code == 0, job.output
    issue = only_issue(world)
    assert (issue.state, issue.login) == ("open", "github-actions[bot]")
    assert issue.body.startswith("<!-- scoregate-alert:v1 key=evals-evals -->\n")
    assert "| <code>demo</code> · <code>is-equals</code> | 1.000 → 0.700" in issue.body
    assert "secret" not in job.output
    (slack,), (plain,) = hook.messages["/T0/secret"], hook.messages["/json-secret"]
    assert slack["text"].startswith(
        "*scoregate: Scores got worse on main of acme/bot*\n• demo · is-equals: 1.000 → 0.700"
    )
    assert f"issues/{issue.number}|issue>" in slack["text"]
    assert (plain["event"], plain["branch"], plain["problems"][0]["mean"]) == ("alert", "main", 0.7)
    # Worse again: the same issue, which still knows the score before the first drop.
    run_schedule(world, 30, hook)
    assert only_issue(world).state == "open"
    assert "→ 0.250" in only_issue(world).body
    assert '"base": 1.0, "mean": 0.25' in only_issue(world).body
    # No worse than the last run, but not recovered either.
    run_schedule(world, 30, hook)
    assert only_issue(world).state == "open"
    assert run_schedule(world, 0, hook).exit_code == 0
    assert (only_issue(world).state, only_issue(world).state_reason) == ("closed", "completed")
    assert "**Recovered.**" in only_issue(world).body
    assert hook.messages["/json-secret"][-1]["event"] == "recovered"
    # A later drop opens a new one.
    run_schedule(world, 20, hook)
    assert [each.state for each in world.repo.issues.values()] == ["closed", "open"]


def test_a_suite_that_did_not_run_is_not_measured_again(world: World, hook: Hook) -> None:
    start(world, f"affected = true\naffected_push = true\n{SETTINGS}".replace("rate = 0", "rate = 0.9"))
    world.project.write("provider.txt", "20")
    jobs = []
    for text in ("a", "b"):
        world.project.write("README.md", text)
        world.commit()
        jobs.append(world.push(**hook.environ))
    assert [job.exit_code for job in jobs] == [1, 1], jobs[1].output
    assert jobs[1].result["suites"][0]["carried"]
    assert jobs[1].warnings[-1] == "alert: what got worse could not be measured again, so nothing is reported"
    assert len(hook.messages["/json-secret"]) == 1


def test_an_unconfirmed_regression_is_no_alert(world: World, hook: Hook) -> None:
    # The second run fails, and the measurement after it passes.
    start(world, fn=FLAKY.format(first=CASES, last=2 * CASES))
    run_schedule(world, 0, hook)
    job = run_schedule(world, 0, hook)
    assert job.result["rows"][0]["label"] == "worse", job.output
    assert "alert: a second measurement did not confirm what got worse" in " ".join(job.warnings)
    assert not world.repo.issues
    assert not hook.messages


def test_a_failing_gate_is_an_alert(world: World, hook: Hook) -> None:
    start(world, 'min_pass_rate = 0.9\nalert = "issue"\n')
    job = run_schedule(world, 12, hook)
    assert job.exit_code == 1, job.output
    assert "pass rate" in only_issue(world).body.lower()
    assert not hook.messages
    run_schedule(world, 0, hook)
    assert only_issue(world).state == "closed"


def test_pull_requests_and_other_branches_alert_nothing(world: World, hook: Hook) -> None:
    start(world)
    run_schedule(world, 0, hook)
    world.branch()
    world.commit()
    world.project.write("provider.txt", "12")
    job = world.job(events.pull_request(world.open_pull_request()), **hook.environ)
    assert job.result["rows"][0]["label"] == "worse", job.output
    world.project.git("checkout", "-q", "change")
    world.job(events.push(world.repo, "change"), **hook.environ)
    assert not world.repo.issues
    assert not hook.messages


def test_an_issue_of_another_user_is_kept(world: World, hook: Hook) -> None:
    start(world)
    run_schedule(world, 0, hook)
    forged = open_issue(world.repo, "Mine", "<!-- scoregate-alert:v1 key=evals-evals -->\nkeep", "mallory")
    run_schedule(world, 12, hook)
    assert (forged.body.endswith("keep"), len(world.repo.issues)) == (True, 2)


def test_an_edited_issue_does_not_stop_the_next_alert(world: World, hook: Hook) -> None:
    start(world)
    run_schedule(world, 0, hook)
    run_schedule(world, 12, hook)
    first = only_issue(world).body.partition("\n")[0]
    for data in ("[1]", '{"problems": [{"suite": 1}]}', '{"problems": 3}', "{" * 9_000, '{"problems": [[]]}'):
        only_issue(world).body = f"{first}\n<!-- scoregate-alert-data: {data} -->\n"
        run_schedule(world, 30, hook)
        assert only_issue(world).state == "open"
        run_schedule(world, 12, hook)
        only_issue(world).state = "open"


def test_failures_are_warnings_without_addresses(world: World, hook: Hook) -> None:
    start(world)
    run_schedule(world, 0, hook)
    world.permissions = {**world.permissions, "issues": "read"}
    hook.status = 404
    job = run_schedule(world, 12, hook)
    assert job.exit_code == 0, job.output
    text = " ".join(job.warnings)
    assert "give the job the permission `issues: write`" in text
    assert "the address in SCOREGATE_SLACK_WEBHOOK answered 404" in text
    assert "secret" not in job.output
    hook.status = 200
    for failing, url, problem in (
        (18, "", "`alert` has slack, but SCOREGATE_SLACK_WEBHOOK is not set"),
        (24, "http://example.com/secret", "SCOREGATE_SLACK_WEBHOOK is not an address that starts with https://"),
        (30, "https://127.0.0.1:1/secret", "could not be sent to the address in SCOREGATE_SLACK_WEBHOOK: ConnectError"),
        (36, "https://[secret", "SCOREGATE_SLACK_WEBHOOK is not an address that starts with https://"),
    ):
        job = run_schedule(world, failing, hook, SCOREGATE_SLACK_WEBHOOK=url)
        assert job.exit_code == 0, job.output
        assert problem in " ".join(job.warnings)
        assert "secret" not in job.output


def test_suites_get_no_addresses(world: World, hook: Hook) -> None:
    start(world, fn="lambda case: __import__('os').environ.get('SCOREGATE_SLACK_WEBHOOK', case.input)")
    assert run_schedule(world, 0, hook).result["totals"]["failed"] == 0


def test_invalid_settings_fail(world: World) -> None:
    for name, value in (
        ("alert", '["mail"]'),
        ("alert", "3"),
        ("drift_control", "1.1"),
        ("drift_control", "-0.1"),
        ("drift_control", "true"),
        ("drift_control", '"a tenth"'),
    ):
        world.project.write("scoregate.toml", f"{name} = {value}\n")
        job = world.job(events.schedule(world.repo))
        assert job.exit_code == 2, job.output
        assert name in job.output


def test_a_slow_decline_is_an_alert(world: World, hook: Hook) -> None:
    start(world, 'min_pass_rate = 0\nmax_decline = 0.1\ndecline_window = "2 runs"\nalert = "issue"\n')
    for failing in (0, 4, 8):
        world.project.write("provider.txt", str(failing))
        world.commit()
        job = world.job(events.push(world.repo), **hook.environ)
        job.upload()
    assert job.exit_code == 1, job.output
    assert "A score declined" in only_issue(world).body


def test_a_decline_by_a_case_each_night_is_an_alert(world: World, hook: Hook, monkeypatch: pytest.MonkeyPatch) -> None:
    """No night is worse than the one before."""
    monkeypatch.setattr("scoregate.kernel.types.runs.history._RERUN_S", 0.0)  # the nights of this test take a second
    start(world)
    for night, failing in enumerate((0, 0, 0, 0, 0, 1, 2, 3, 4, 5)):
        job = run_schedule(world, failing, hook)
        assert job.result["rows"][0]["label"] != "worse", job.output
        assert bool(world.repo.issues) == (night == 9)
    assert not (world.project.root / "scoregate-out" / "confirm-alert").exists()
    assert "1.000 → 0.925 (−0.075, newest 5 runs against the 5 before them, nothing changed)" in only_issue(world).body
    assert hook.messages["/json-secret"][0]["problems"][0]["mean"] == 0.925
