"""Summarizes incident reports: picks the sentences that have the most frequent words and the most figures."""

import re
from collections import Counter


def summarize(text: str, most_words: int = 40) -> dict[str, object]:
    """The summary, and the text that it may rest on.

    Args:
        text: the source, at least one sentence.
        most_words: how long the summary may be.
    """
    sentences = re.split(r"(?<=[.!?])\s+", text.strip())
    chosen: set[int] = set()
    for index in sorted(range(len(sentences)), key=lambda at: -rate(sentences[at], at, text)):
        if sum(len(sentences[at].split()) for at in (*chosen, index)) <= most_words:
            chosen.add(index)
    summary = " ".join(sentences[at] for at in sorted(chosen))
    return {"answer": summary, "contexts": [text]}


def rate(sentence: str, position: int, text: str) -> float:
    """How much a sentence says: frequent words, figures, and its place, since reports begin with what happened."""
    counts = Counter(tokenize(text))
    words = tokenize(sentence)
    frequency = sum(counts[word] - 1 for word in words) / max(1, len(words))
    return frequency + 2 * len(re.findall(r"\d+", sentence)) + (3 if position == 0 else 0)


def tokenize(text: str) -> list[str]:
    """The words of five letters or more: shorter ones say little about the subject."""
    return re.findall(r"[a-z]{5,}", text.lower())
