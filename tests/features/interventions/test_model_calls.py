"""Prompts that are sent to a model: what is seen of requests, what the cache saves, and what stops the command."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.fakes.openai import OpenAIServer, Question
from tests.features.interventions.bot import read_result
from tests.integration.host.conftest import Project

PYTHON_PROMPT = '''
RULES = """You answer customers.

- Greet the customer first.
- Be brief in each answer.
"""
UNUSED = "This text is in no request at all."
'''
YAML_PROMPT = """\
style: |
  - Name prices in euros.
  - Write in full sentences.
limit: 3
"""
BOT = """
from pathlib import Path

from openai import OpenAI
from prompts import RULES
from yaml import safe_load

from scoregate.models import wrap

client = wrap(OpenAI())
style = safe_load((Path(__file__).parent / "style.yaml").read_text())


def answer(question):
    system = {"role": "system", "content": RULES + style["style"]}
    messages = [system, {"role": "user", "content": question}]
    return client.chat.completions.create(model="gpt-6-luna", messages=messages).choices[0].message.content
"""
EVAL = """
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from bot import answer

from scoregate import evaluate
from scoregate.scorers import contains

rows = [("hi", "hello"), ("how much is it", "EUR"), ("what does it cost", "EUR")]
data = [{"id": question, "input": question, "expected": words} for question, words in rows]
evaluate("bot", data=data, task=answer, scorers=[contains()])
"""


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    """A model that follows the two rules that cases notice."""

    def follow(question: Question) -> str:
        greeting = "hello" if "Greet the customer" in question.text else ""
        return f"{greeting} 10 {'EUR' if 'euros' in question.text else ''}"

    with OpenAIServer.start() as started:
        started.answers("", follow)
        yield started


@pytest.fixture
def bot(project: Project) -> Project:
    """A project with a prompt in Python and one in YAML."""
    project.write("scoregate.toml", "min_pass_rate = 0\nfail_on_regression = true\n")
    project.write(".gitignore", "scoregate-out/\n.scoregate-cache/\n__pycache__/\n")
    files = {"prompts.py": PYTHON_PROMPT, "style.yaml": YAML_PROMPT, "bot.py": BOT, "eval_bot.py": EVAL}
    for name, text in files.items():
        project.write(f"evals/{name}", text)
    project.commit("bot")
    return project


def test_prompts_in_python_and_yaml_are_edited_part_by_part(bot: Project, server: OpenAIServer) -> None:
    ran = bot.scoregate("mutate", "--budget", "500 calls", **server.environment)
    assert ran.exit_code == 0, ran.output
    result = read_result(bot)
    outcomes = {each["text"].strip().removeprefix("- "): each["outcome"] for each in result["units"]}
    assert outcomes == {
        "You answer customers.": "not_noticed",
        "Greet the customer first.": "gated",
        "Be brief in each answer.": "not_noticed",
        "Name prices in euros.": "gated",
        "Write in full sentences.": "not_noticed",
        "limit: 3": "not_exercised",
    }, ran.output
    assert result["calls"] == len(server.asked())


def test_the_budget_ends_the_command_and_the_next_one_goes_on(bot: Project, server: OpenAIServer) -> None:
    # The unedited tree takes three calls, the first edit three and 32 in fresh trials, and the second one three.
    ran = bot.scoregate("mutate", "--budget", "40", "--copies", "1", "--files", "*.yaml", **server.environment)
    assert ran.exit_code == 0, ran.output
    first = read_result(bot)
    assert (len(first["units"]), first["left_out"], first["calls"]) == (2, 1, 41)
    assert "calls of models were made" in first["ended"]
    asked = len(server.asked())
    bot.scoregate("mutate", "--budget", "500", "--copies", "1", "--files", "*.yaml", **server.environment)
    second = read_result(bot)
    assert (len(second["units"]), second["left_out"]) == (3, 0)
    # What was measured is not measured again, and the unedited tree is read from the cache.
    assert len(server.asked()) - asked == second["calls"]
    assert first["units"][0] in second["units"]


def test_a_provider_that_does_not_answer_shows_nothing(bot: Project, server: OpenAIServer) -> None:
    ran = bot.scoregate("mutate", "--files", "none", **server.environment)
    assert ran.exit_code == 0, ran.output
    nowhere = {name: "http://127.0.0.1:9/v1" if "URL" in name else text for name, text in server.environment.items()}
    ran = bot.scoregate("mutate", "--files", "*.yaml", "--copies", "1", **nowhere)
    result = read_result(bot)
    assert [each["outcome"] for each in result["units"]] == ["not_exercised"], ran.output
    assert (result["left_out"], result["score"]) == (2, None)
    assert "ConnectionError" in result["ended"]


def test_a_budget_of_the_settings_holds_for_all_trees(bot: Project, server: OpenAIServer) -> None:
    bot.write("scoregate.toml", "min_pass_rate = 0\nmax_tokens = 150\n")
    ran = bot.scoregate("mutate", "--budget", "500", "--copies", "1", **server.environment)
    result = read_result(bot)
    assert result["left_out"] > 0, ran.output
    assert "BudgetSpent" in result["ended"]
