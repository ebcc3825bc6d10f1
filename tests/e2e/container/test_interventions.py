"""Edited copies of the workspace in the container, where each process of a suite has an account of its own."""

from __future__ import annotations

import json
from typing import Any

from tests.e2e.container.conftest import OWNER
from tests.e2e.container.test_stories import UPLOADED, workflow
from tests.e2e.container.workflow import OURS, Workflow
from tests.fakes.fixtures import github, openai_server
from tests.fakes.github import Pull, events
from tests.fakes.openai import OpenAIServer, Question
from tests.features.interventions.bot import BOT, PROMPT, read_result, write_bot
from tests.features.interventions.test_model_calls import EVAL as ASKING_EVAL
from tests.features.interventions.test_model_calls import PYTHON_PROMPT
from tests.features.interventions.test_mutate import OUTCOMES, list_outcomes
from tests.features.interventions.test_tree_copy import digest_tree
from tests.integration.jobs.world import READ

__all__ = ["github", "openai_server", "workflow"]
EVALS: list[dict[str, Any]] = [{"uses": OURS, "id": "evals"}, *UPLOADED]
GATES = 'paths = ["evals/eval_bot.py"]\nmin_pass_rate = 0\nfail_on_regression = true\n'
# The suite has an account of its own. It writes where it runs, and changes a file that git tracks.
WRITES = """
import os

Path("answers").mkdir(exist_ok=True)
Path("answers", str(os.getpid())).write_text("by a suite")
with Path("counter.txt").open("a") as file:
    file.write("1")
assert os.getuid() > 200_000
"""
ASKING_BOT = """
from openai import OpenAI
from prompts import RULES

from scoregate.models import wrap

client = wrap(OpenAI())


def answer(question):
    messages = [{"role": "system", "content": RULES}, {"role": "user", "content": question}]
    return client.chat.completions.create(model="gpt-6-luna", messages=messages).choices[0].message.content
"""


def follow(question: Question) -> str:
    return "hello 10 EUR" if "Greet the customer" in question.text else "10 EUR"


def push_bot(workflow: Workflow) -> None:
    """A bot on main, with a run of it."""
    write_bot(workflow.project, f'{GATES}explain_regressions = "auto"\n')
    workflow.commit()
    pushed = workflow.steps(events.push(workflow.repo), EVALS)
    assert pushed.exit_code == 0, pushed.log


def open_change(workflow: Workflow, **options: Any) -> Pull:
    """A pull request that deletes a rule and edits two other places."""
    workflow.branch()
    prompt = PROMPT.replace("- Greet the customer.\n", "").replace("the weather", "the weather today")
    workflow.project.write("evals/prompt.md", prompt)
    workflow.project.write("evals/bot.py", f"{BOT}\nUNUSED = 1\n")
    workflow.commit()
    return workflow.open_pull_request(**options)


def test_a_pull_request_gets_the_line_that_caused_the_drop(workflow: Workflow) -> None:
    push_bot(workflow)
    pull = open_change(workflow)
    outcome = workflow.steps(events.pull_request(pull), EVALS[:1])
    assert outcome.exit_code == 1, outcome.log
    (comment,) = pull.comments
    assert "Reverting evals/prompt.md line 3 restores 1 of 1 cases (p = " in comment.body
    assert "Reverting evals/prompt.md line 3 restores 1 of 1 cases (p = " in outcome.summary
    assert workflow.project.git("status", "--porcelain") == ""
    assert workflow.project.git("worktree", "list").count("\n") == 1


def test_a_pull_request_of_a_fork_asks_for_no_cause(workflow: Workflow) -> None:
    push_bot(workflow)
    fork = workflow.github.repository("mallory/bot", fork_of=workflow.repo)
    pull = open_change(workflow, fork=fork)
    workflow.permissions = READ
    outcome = workflow.steps(events.pull_request(pull), EVALS[:1])
    assert outcome.exit_code == 1, outcome.log
    assert "newly failing" in outcome.summary
    assert "Reverting" not in outcome.summary
    result = json.loads((workflow.project.root / "scoregate-out/result.json").read_text(encoding="utf-8"))
    assert "interventions" not in result.get("sections", {})


def mutate(
    workflow: Workflow, inputs: dict[str, str] | None = None, event: events.Event | None = None, **env: str
) -> Any:
    step = {"uses": OURS, "with": {"command": "mutate", **(inputs or {})}, "env": env}
    return workflow.steps(event or events.schedule(workflow.repo), [step])


def test_the_command_mutate_measures_a_suite_that_writes_into_its_tree(workflow: Workflow) -> None:
    write_bot(workflow.project, GATES)
    workflow.project.write("counter.txt", "")
    workflow.project.write("evals/bot.py", BOT + WRITES)
    workflow.commit()
    before = digest_tree(workflow.project.root)
    outcome = mutate(workflow)
    assert outcome.exit_code == 0, outcome.log
    assert list_outcomes(read_result(workflow.project)) == OUTCOMES, outcome.log
    assert "The evals notice 2 of 3 units" in outcome.summary
    assert "Would your evals notice?" in outcome.summary
    assert digest_tree(workflow.project.root) == before
    assert workflow.project.git("worktree", "list").count("\n") == 1
    assert workflow.owners == {OWNER}


def test_a_pull_request_gets_one_comment_with_what_nothing_notices(workflow: Workflow) -> None:
    write_bot(workflow.project, GATES)
    workflow.commit()
    pull = open_change(workflow)
    for _ in range(2):
        outcome = mutate(workflow, {"budget": "500 calls"}, events.pull_request(pull))
        assert outcome.exit_code == 0, outcome.log
        (comment,) = pull.comments
        own = comment.body.index("**Nothing notices these parts of the change** (1):")
        assert own < comment.body.index("Mention the weather today.")
        assert "Would your evals notice?" in outcome.summary
    assert workflow.owners == {OWNER}


def test_the_budget_and_the_maximum_cost_hold(workflow: Workflow, openai_server: OpenAIServer) -> None:
    openai_server.answers("", follow)
    write_bot(workflow.project, GATES)
    files = {"prompts.py": PYTHON_PROMPT, "bot.py": ASKING_BOT, "eval_bot.py": ASKING_EVAL}
    for name, text in files.items():
        workflow.project.write(f"evals/{name}", text)
    workflow.commit()
    outcome = mutate(workflow, {"budget": "1 call"}, **openai_server.environment)
    assert outcome.exit_code == 0, outcome.log
    result = read_result(workflow.project)
    # The three texts of the prompt were found in the requests that the suite, under its own account, logged.
    assert (len(result["units"]), result["left_out"]) == (0, 3), outcome.log
    assert result["ended"] == "3 of 1 calls of models were made"
    assert len(openai_server.asked()) == 3
    assert openai_server.environment["OPENAI_API_KEY"] not in outcome.log

    # The requests of the two copies may start together, and are allowed then; those of the third unit are not.
    stopped = mutate(workflow, {"budget": "500 calls", "max-tokens": "10"}, **openai_server.environment)
    assert stopped.exit_code == 0, stopped.log
    result = read_result(workflow.project)
    assert result["left_out"] > 0, stopped.log
    assert "BudgetSpent" in result["ended"]
    assert len(openai_server.asked()) - 3 == result["calls"] <= 6
    assert workflow.owners == {OWNER}
