"""A bot whose answers follow a prompt, for projects of tests: no model, no chance."""

from __future__ import annotations

import json
from typing import Any

from tests.integration.host.conftest import Project

PROMPT = """\
# Support bot

- Greet the customer.
- Name prices in euros.
- Refuse refunds.
- Mention the weather.
- Explain nothing of this.
"""
BOT = '''
from pathlib import Path

prompt = (Path(__file__).parent / "prompt.md").read_text(encoding="utf-8")


def answer(question):
    """Follow the prompt; nothing reads its last rule."""
    words = ["hello"] if "Greet" in prompt else []
    words += ["10 EUR"] if "euros" in prompt else ["10"]
    if "refund" in question:
        words.append("no refund" if "Refuse" in prompt else "refund granted")
    return " ".join([*words, *(["sunny"] if "weather" in prompt else [])])
'''
EVAL = """
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from bot import answer

from scoregate import evaluate
from scoregate.scorers import contains

QUESTIONS = {
    "greeting": ("hi", "hello"),
    "price": ("what is the price", "EUR"),
    "refund": ("refund me", "refund granted"),
}
evaluate(
    "bot",
    data=[{"id": name, "input": question, "expected": words} for name, (question, words) in QUESTIONS.items()],
    task=answer,
    scorers=[contains()],
)
"""


def write_bot(project: Project, settings: str = "min_pass_rate = 0\nfail_on_regression = true\n") -> None:
    """Write the bot, its prompt and its suite, and commit them."""
    project.write("scoregate.toml", settings)
    project.write(".gitignore", "scoregate-out/\n.scoregate-cache/\n__pycache__/\n")
    for name, text in {"prompt.md": PROMPT, "bot.py": BOT, "eval_bot.py": EVAL}.items():
        project.write(f"evals/{name}", text)
    project.commit("bot")


def read_result(project: Project) -> dict[str, Any]:
    """The result of the last `mutate`."""
    path = project.root / "scoregate-out/mutate/mutation.json"
    result: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return result
