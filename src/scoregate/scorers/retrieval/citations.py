"""The citations of an answer: `[2]` is the second passage, `[faq-7]` the passage with this id."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from scoregate.scorers.retrieval.passages import Passage

# A Markdown link, `[text](address)`, is no citation.
_CITATION = re.compile(r"[ \t]*\[([^\[\]\n]{1,200})\](?!\()")
_SENTENCE_END = re.compile(r"(?<=[.!?])(?:[ \t]+(?!\[)|(?=\n))|\n+")
_SEPARATOR = re.compile(r"[,;]")


class Citation(NamedTuple):
    """A citation.

    Attributes:
        sentence: the sentence that has it, without its citations.
        mark: the citation as it is written, without brackets.
        passage: the passage it names; None if there is none.
    """

    sentence: str
    mark: str
    passage: Passage | None


def find_citations(answer: str, passages: Sequence[Passage]) -> list[Citation]:
    """The citations of an answer, in their order.

    `[1, 3]` and `[1][3]` are two citations. Text in brackets that is neither a number nor an id is no citation.

    Args:
        answer: the answer.
        passages: the passages that it may cite.
    """
    by_id = {passage.id: passage for passage in passages if passage.id}
    found: list[Citation] = []
    for sentence in _split_sentences(answer):
        text = " ".join(_CITATION.sub("", sentence).split())
        for mark in _list_marks(sentence):
            passage = by_id.get(mark)
            if passage is None and mark.isdecimal() and 1 <= int(mark) <= len(passages):
                passage = passages[int(mark) - 1]
            if passage is not None or mark.isdecimal():
                # A citation on a line of its own, or after the full stop, belongs to the sentence before.
                found.append(Citation(text or (found[-1].sentence if found else ""), mark, passage))
    return found


def _split_sentences(answer: str) -> list[str]:
    return [part for part in _SENTENCE_END.split(answer) if part and part.strip()]


def _list_marks(sentence: str) -> Iterator[str]:
    for match in _CITATION.finditer(sentence):
        yield from filter(None, (mark.strip().removeprefix("^") for mark in _SEPARATOR.split(match[1])))
