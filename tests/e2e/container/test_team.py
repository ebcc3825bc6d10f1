"""A team's pull requests: affected suites, exemptions, cost before the run and drift; alerts of the nightly job."""

from __future__ import annotations

import re
from datetime import timedelta

from tests.e2e.container.test_stories import UPLOADED, workflow
from tests.e2e.container.workflow import OURS, Workflow
from tests.fakes.fixtures import github, openai_server
from tests.fakes.github import events
from tests.fakes.openai import OpenAIServer
from tests.integration.jobs.test_alerts import Hook, hook
from tests.integration.jobs.test_drift import SETTINGS, Provider, provider
from tests.integration.jobs.test_exemptions import LABEL
from tests.integration.jobs.test_gateway import KEY, SUITE

__all__ = ["github", "hook", "openai_server", "provider", "workflow"]
CASES = 100  # drift is corrected from 50 cases of the control on
OPTIONS = 'drift_control = 0.5\nalert = ["issue", "webhook"]\n'

PROMPTED = """
from pathlib import Path

from scoregate import evaluate
from scoregate.scorers import contains

prompt = Path("prompts/{name}.md").read_text()
limit = int(prompt.split()[-1])
data = [{{"id": f"{name} {{number}}", "input": str(number)}} for number in range(40)]
evaluate("{name}", data=data, task=lambda input: "yes" if int(input) < limit else "no", scorers=[contains("yes")])
"""
GATES = """
affected = true
fail_on_regression = true
fail_on_broken_cases = "off"
min_pass_rate = 0
max_decline = 0.1
decline_window = "2 runs"
paths = ["evals/refunds.py", "evals/tone.py"]
"""
QUARANTINE = """
[[quarantine]]
case = "tone 39"
owner = "bo"
reason = "the clock"
until = 2999-12-31
"""
ACCEPTED = """
[[accepted]]
suite = "tone"
evaluator = "contains*"
until = 2999-12-31
reason = "the new tone"
by = "ana"
at_most = 0.6
"""


def test_affected_suites_exemptions_and_a_slow_decline(workflow: Workflow) -> None:
    evals = {"uses": OURS, "id": "evals", "with": {"key": "evals"}}
    workflow.project.write("scoregate.toml", GATES)
    workflow.project.write(".scoregate/quarantine.toml", QUARANTINE)
    for name in ("refunds", "tone"):
        workflow.project.write(f"evals/{name}.py", PROMPTED.format(name=name))
        workflow.project.write(f"prompts/{name}.md", "Fewer than 39\n")
    workflow.commit()
    assert workflow.steps(events.push(workflow.repo), [evals, *UPLOADED]).exit_code == 0

    workflow.branch()
    workflow.project.write("prompts/tone.md", "Fewer than 20\n")
    workflow.project.write(".scoregate/accepted.toml", ACCEPTED)
    workflow.commit()
    pull = workflow.open_pull_request()
    for push in workflow.repo.activities:
        push.timestamp -= timedelta(minutes=10)
    workflow.repo.roles |= {"ana": "write", "tim": "triage"}
    for login, exit_code, text in (
        ("", 1, "it needs the label"),
        ("tim", 1, "the label was set by tim, without write access"),
        ("ana", 0, "Accepted regression"),
    ):
        if login:
            pull.label(LABEL, login)
        job = workflow.steps(events.pull_request(pull), [evals])
        (comment,) = pull.comments
        assert job.exit_code == exit_code, job.log
        assert text in comment.body
        assert "1 suite did not run, because nothing that it depends on changed" in comment.body
        assert "1 case in quarantine" in comment.body
        if login:
            pull.unlabel(LABEL, login)

    # Small drops on main: each is within noise, and together they are more than `max_decline`.
    workflow.project.git("checkout", "-q", "main")
    codes = []
    for limit in (36, 32):
        workflow.project.write("prompts/tone.md", f"Fewer than {limit}\n")
        workflow.commit()
        job = workflow.steps(events.push(workflow.repo), [evals, *UPLOADED])
        codes.append(job.exit_code)
    assert codes == [0, 1], job.log
    assert "A score declined" in job.summary


def test_cost_drift_and_alerts(workflow: Workflow, openai_server: OpenAIServer, provider: Provider, hook: Hook) -> None:
    environ = {**provider.environ, **hook.environ}
    workflow.project.write("scoregate.toml", SETTINGS + OPTIONS)
    workflow.project.write("evals/ask.py", SUITE.format(prompt="'Please: '", cases=CASES, key=KEY))
    workflow.commit()
    # The gateway counts what the suite's plain client uses.
    evals = {"uses": OURS, "id": "evals", "with": {"key": "evals", "gateway": "on"}, "env": environ}
    base = workflow.steps(events.push(workflow.repo), [evals, *UPLOADED])
    assert base.exit_code == 0, base.log

    workflow.branch()
    workflow.project.write("notes.md", "new")
    workflow.commit()
    pull = workflow.open_pull_request()
    event, request_count = events.pull_request(pull), len(openai_server.asked())
    refusal = workflow.steps(event, [{**evals, "with": {"key": "evals", "gateway": "on", "max-cost": "0.001"}}])
    assert refusal.exit_code == 3, refusal.log
    assert "nothing was run, because this run would exceed the budget" in refusal.log
    assert len(openai_server.asked()) == request_count
    provider.drifted = 1
    drifted = workflow.steps(event, [evals])
    assert drifted.exit_code == 0, drifted.log
    # Fifteen newly failing cases run again on both sides, fail in the base as well, and stop.
    assert len(openai_server.asked()) - request_count == CASES + CASES // 2 + 2 * 15
    assert re.search(rf"estimate \$0\.\d+ \[.*\], {CASES} calls, ", drifted.log)
    (comment,) = pull.comments
    assert "explained by the provider's drift" in comment.body
    assert re.search(r"Cost: estimate .*, actual ", comment.body)

    # The nightly job of main: the provider is worse, even worse, and as it was.
    workflow.project.git("checkout", "-q", "main")
    workflow.permissions = {"contents": "read", "actions": "read", "issues": "write"}
    for drifted, state, text in ((1, "open", "0.900 → 0.700"), (2, "open", "→ 0.500"), (0, "closed", "**Recovered.**")):
        provider.drifted = drifted
        night = workflow.steps(events.schedule(workflow.repo), [evals, *UPLOADED])
        (issue,) = workflow.repo.issues.values()
        assert issue.state == state, night.log
        assert text in issue.body
        assert "secret" not in night.log
    assert [each["event"] for each in hook.messages["/json-secret"]] == ["alert", "alert", "recovered"]
