"""What a model would answer to the prompts of ragas, found by comparing words, so the scores are known in advance."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from tests.fakes.openai import Question

ASKED_BACK = "How tall is the tower?"


def answer(question: Question) -> Mapping[str, Any] | None:
    """The answer to one of ragas' prompts; they end with their input as JSON."""
    asked = next((make for pattern, make in _PROMPTS.items() if pattern in question.last), None)
    data = json.loads(question.last.rpartition("input:")[2].rpartition("Output:")[0]) if asked else {}
    return asked(data) if asked else None


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def says(context: str, sentence: str) -> int:
    """Whether all words of the sentence are in the context: 1 or 0."""
    return int(words(sentence) <= words(context))


def sentences(text: str) -> list[str]:
    return re.findall(r"[^.]+\.", text.strip())


def _entities(given: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"entities": re.findall(r"[A-Z]\w+", given["text"])}


def _claims(given: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"claims": sentences(given["response"])}


def _statements(given: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"statements": sentences(given["answer"])}


def _verdicts(given: Mapping[str, Any]) -> Mapping[str, Any]:
    verdicts = {each: says(given["context"], each) for each in given["statements"]}
    return {"statements": [{"statement": s, "reason": "words", "verdict": v} for s, v in verdicts.items()]}


def _useful(given: Mapping[str, Any]) -> Mapping[str, Any]:
    found = max(says(given["context"], each) for each in sentences(given["answer"]))
    return {"reason": "words", "verdict": found}


def _attributed(given: Mapping[str, Any]) -> Mapping[str, Any]:
    verdicts = {each: says(given["context"], each) for each in sentences(given["answer"])}
    return {"classifications": [{"statement": s, "reason": "words", "attributed": v} for s, v in verdicts.items()]}


def _asked_back(given: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"question": ASKED_BACK if given["response"] else "", "noncommittal": 0}


_PROMPTS = {
    "extract unique entities": _entities,
    "Decompose and break down": _claims,
    "analyze the complexity of each sentence": _statements,
    "judge the faithfulness of a series of statements": _verdicts,
    "verify if the context was useful": _useful,
    "classify if the sentence can be attributed": _attributed,
    "Generate a question for the given answer": _asked_back,
}
