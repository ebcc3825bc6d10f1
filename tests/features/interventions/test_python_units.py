"""Units of Python: texts that were sent."""

from __future__ import annotations

import ast
from typing import Any

from tests.features.interventions.units import mutate

from scoregate.features.interventions.mutation.operators import Operator
from scoregate.features.interventions.mutation.units import explain_skipped, find_units

CODE = '''\
"""Not sent, é."""
PROMPT = """You are the bot of {shop}.

- Always answer in French
- Never guess a price: \\"no\\"
- Ask one question each time
"""
HINT = (
    "Customers like short answers. "  # it's true
    f"Today is {day}, mind the holidays."
)
short = "Hi"
other = "This text was never sent."
'''
SENT = [
    'You are the bot of X.\n\n- Always answer in French\n- Never guess a price: "no"\n- Ask one question each time\n',
    "Customers like short answers. Today is Monday, mind the holidays.",
]


def values_of(code: str) -> dict[str, Any]:
    names: dict[str, Any] = {"day": "Monday"}
    exec(code, names)
    return names


def test_texts_that_were_sent_are_units_and_prompts_are_split() -> None:
    units = find_units("bot.py", CODE.encode(), requests=SENT)
    assert [(unit.lines, unit.text) for unit in units] == [
        ((2, 2), "You are the bot of {shop}."),
        ((4, 4), "Always answer in French"),
        ((6, 6), "Ask one question each time"),
        ((9, 9), '"Customers like short answers. "'),
        ((10, 10), 'f"Today is {day}, mind the holidays."'),
    ]


def test_a_deleted_text_is_empty() -> None:
    mutants = mutate("bot.py", CODE, requests=SENT)
    assert values_of(mutants["Always answer in French"])["PROMPT"] == values_of(CODE)["PROMPT"].replace(
        "- Always answer in French\n", ""
    )
    assert values_of(mutants['"Customers like short answers. "'])["HINT"] == "Today is Monday, mind the holidays."
    assert values_of(mutants['f"Today is {day}, mind the holidays."'])["HINT"] == "Customers like short answers. "


def test_every_operator_leaves_valid_code() -> None:
    for operator in Operator:
        mutants = mutate("bot.py", CODE, operator, requests=SENT)
        assert all(ast.parse(each) and each != CODE for each in mutants.values())
    assert mutate("bot.py", CODE, Operator.NEGATE, requests=SENT)["Always answer in French"] == CODE.replace(
        "Always", "Never"
    )


def test_an_indented_prompt_is_split() -> None:
    code = (
        'def ask():\n    return dedent("""\n        Answer in French.\n\n        Never guess a price.\n        """)\n'
    )
    mutants = mutate("bot.py", code, requests=["Answer in French.\n\nNever guess a price.\n"])
    assert list(mutants) == ["Answer in French.", "Never guess a price."]
    assert mutants["Answer in French."] == code.replace("        Answer in French.\n\n", "")


def test_without_requests_python_has_no_units() -> None:
    assert find_units("bot.py", CODE.encode()) == []
    assert explain_skipped("bot.py", CODE.encode()) == ""
    assert explain_skipped("bot.py", b"def").startswith("it can't be read as Python")
