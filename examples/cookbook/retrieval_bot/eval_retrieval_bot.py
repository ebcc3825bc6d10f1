"""Evals of the handbook bot: what it retrieves, what it answers and cites, and when it admits that it can't answer."""

import os
from typing import Any

from bot import UNKNOWN, Bot

from scoregate import evaluate, scorers


def states_fact(output: dict[str, Any], fact: str) -> bool:
    """Whether the answer has the fact that the question asks for."""
    return fact in output["answer"]


# These compare the ids in `contexts` with those of the case.
checks: list[Any] = [scorers.retrieval_recall(3, threshold=0.5), scorers.mrr(threshold=0.5), scorers.ndcg(3)]
checks += [states_fact, scorers.regex(r"\[[a-z-]+\]\.$", field="answer", name="has_citation")]
if os.environ.get("OPENAI_API_KEY"):
    # These ask a model about the texts of the passages, and about the expected answer.
    checks += [scorers.faithfulness(), scorers.hallucination_free(), scorers.citation_correct()]
    checks += [scorers.answer_relevancy(), scorers.context_precision(), scorers.context_recall()]

bot = Bot()
evaluate("handbook-bot", data="questions.jsonl", task=bot.answer, scorers=checks)

# Questions that the handbook doesn't answer.
evaluate(
    "handbook-limits",
    data=["What is the weather in Oslo?", "Which train goes to the airport?", "Who pays for parking?"],
    task=lambda question: bot.answer(question)["answer"],
    scorers=[scorers.equals(UNKNOWN, name="admits_ignorance")],
)
