"""A bot that answers questions from the handbook of a company, with citations of the passages."""

import re
from collections import Counter
from math import log
from pathlib import Path
from typing import Any

HANDBOOK = Path(__file__).parent / "handbook"
UNKNOWN = "The handbook does not say. Ask the people team."
MINIMUM = 2.5
STOP_WORDS = {"does", "from", "have", "many", "much", "what", "when", "which", "with", "your"}


def tokenize(text: str) -> list[str]:
    """The words that a search compares: those of four letters or more, without stop words and plural endings."""
    words = re.findall(r"[a-z]{4,}", text.lower())
    return [word.removesuffix("s") for word in words if word not in STOP_WORDS]


class Bot:
    """Retrieves passages by tf-idf and answers with the sentence that fits best."""

    def __init__(self, top_k: int = 3) -> None:
        self.top_k = top_k
        self.passages = {path.stem: path.read_text(encoding="utf-8").strip() for path in sorted(HANDBOOK.glob("*.txt"))}
        self.words = {name: Counter(tokenize(f"{name} {text}")) for name, text in self.passages.items()}

    def weigh(self, word: str) -> float:
        """The inverse document frequency of a word; 0 for a word that no passage has."""
        found = sum(word in words for words in self.words.values())
        return log(1 + len(self.words) / found) if found else 0.0

    def retrieve(self, question: str) -> list[dict[str, str]]:
        """The passages that share words with a question, best first."""
        asked = sorted(set(tokenize(question)))
        scores = {
            name: sum(self.weigh(word) * found[word] ** 0.5 for word in asked) for name, found in self.words.items()
        }
        ranking = sorted(scores, key=lambda name: -scores[name])[: self.top_k]
        return [{"id": name, "text": self.passages[name]} for name in ranking if scores[name] > MINIMUM]

    def answer(self, question: str) -> dict[str, Any]:
        """The answer, and the passages that it may rest on."""
        contexts = self.retrieve(question)
        if not contexts:
            return {"answer": UNKNOWN, "contexts": []}
        asked, source = tokenize(question), contexts[0]
        sentences = re.split(r"(?<=\.) ", source["text"])
        best = max(sentences, key=lambda each: sum(self.weigh(word) for word in tokenize(each) if word in asked))
        return {"answer": f"{best.removesuffix('.')} [{source['id']}].", "contexts": contexts}
