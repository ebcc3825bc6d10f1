"""A team's provider changes: the cost before the run, drift in a pull request, and alerts of the nightly job."""

from __future__ import annotations

import re

from tests.e2e.container.test_stories import UPLOADED, workflow
from tests.e2e.container.workflow import OURS, Workflow
from tests.fakes.fixtures import github, openai_server
from tests.fakes.github import events
from tests.fakes.openai import OpenAIServer
from tests.integration.jobs.test_alerts import Hook, hook
from tests.integration.jobs.test_drift import SETTINGS, Provider, provider
from tests.integration.jobs.test_gateway import KEY, SUITE

__all__ = ["github", "hook", "openai_server", "provider", "workflow"]
CASES = 100  # drift is corrected from 50 cases of the control on
OPTIONS = 'drift_control = 0.5\nalert = ["issue", "webhook"]\n'


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
    event, asked = events.pull_request(pull), len(openai_server.asked())
    refused = workflow.steps(event, [{**evals, "with": {"key": "evals", "gateway": "on", "max-cost": "0.001"}}])
    assert refused.exit_code == 3, refused.log
    assert "nothing was run, because this run would exceed the budget" in refused.log
    assert len(openai_server.asked()) == asked
    provider.drifted = 1
    drifted = workflow.steps(event, [evals])
    assert drifted.exit_code == 0, drifted.log
    assert len(openai_server.asked()) - asked == CASES + CASES // 2
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
