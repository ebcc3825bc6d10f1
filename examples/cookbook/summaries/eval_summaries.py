"""Evals of the summarizer: length, facts, closeness to a reference, and faithfulness to the source."""

import os
from importlib.util import find_spec
from typing import Any

from summarizer import summarize

from scoregate import evaluate
from scoregate.scorers import faithfulness, length, rouge_l, scorer


@scorer(threshold=0.75)
def keeps_facts(output: dict[str, Any], facts: list[str]) -> dict[str, Any]:
    """The share of the facts of a case that the summary has."""
    missing = [fact for fact in facts if fact not in output["answer"]]
    return {"score": 1 - len(missing) / len(facts), "reason": f"missing: {missing}" if missing else ""}


def compression(output: dict[str, Any]) -> float:
    """How much shorter the summary is than its source. It is compared with the baseline, and has no threshold."""
    return 1 - min(1, len(output["answer"]) / len(output["contexts"][0]))


def no_courtesies(output: dict[str, Any]) -> bool:
    """Whether the summary leaves out courtesies."""
    return not any(phrase in output["answer"] for phrase in ("sorry", "friendly", "thank"))


checks: list[Any] = [length(min=8, max=40, unit="words", field="answer"), keeps_facts, compression, no_courtesies]
if find_spec("rapidfuzz"):  # in the extra `scorers`
    checks.append(rouge_l(field="answer", threshold=0.3))
if os.environ.get("OPENAI_API_KEY"):
    checks.append(faithfulness(threshold=0.9))  # asks a model which claims `contexts`, the source, supports

evaluate("incident-summaries", data="reports.jsonl", task=summarize, scorers=checks)
