"""The citations of an answer: `[2]` is the second passage, `[faq-7]` the passage with this id."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from scoregate.scorers.passages import Passage

_CITATION = re.compile(r"\[([^\[\]\n]{1,200})\](?!\()")
# A group of citations after the full stop belongs to the sentence before it.
_AFTER_STOP = re.compile(r"([.!?])\s{0,4}((?:\[[^\[\]\n]{1,200}\](?!\()[ \t]{0,4})+)")
_SENTENCE_END = re.compile(r"(?<=[.!?])[ \t]+(?![a-z \t])|\n")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
# `[^1]: note`, and the heading of a list of sources with all that follows.
_DEFINITION = re.compile(r"^[ \t]*\[[^\]\n]{1,200}\]:.*$", re.MULTILINE)
_SOURCES = re.compile(r"^[ \t#*]*(?:sources|references|citations)[ \t*:]*$.*", re.MULTILINE | re.DOTALL | re.IGNORECASE)
_OTHER_MARK = re.compile(r"【(\d{1,3})†[^】\n]{0,100}】")
_NUMBER = re.compile(r"(?:\^|#|(?:source|doc|document|passage|context|ref)[ .:_-]?)?\s*(\d{1,3})", re.IGNORECASE)
_RANGE = re.compile(r"(\d{1,3})\s*[-–]\s*(\d{1,3})")
_LONGEST_RANGE = 20
_SEPARATOR = re.compile(r"[,;]")


class Citation(NamedTuple):
    """A citation.

    Attributes:
        sentence: the sentence that has it, without its citations.
        mark: what it names: a number, or an id.
        text: the text of the passages that it names; None if there are none.
    """

    sentence: str
    mark: str
    text: str | None


def find_citations(answer: str, passages: Sequence[Passage]) -> list[Citation]:
    """The citations of an answer, in their order, each of a sentence once.

    `[1, 3]`, `[1][3]` and `[1-3]` are several. A mark that is like an id, and names no passage, is a citation of
    nothing. Other text in brackets, code, and lists of sources are no citations.

    Args:
        answer: the answer.
        passages: the passages that it may cite. Those with the same id are cited together.
    """
    named = _name_passages(passages)
    found: dict[tuple[str, str], Citation] = {}
    last = ""
    for sentence in _split_sentences(answer):
        text = " ".join(_CITATION.sub("", sentence).replace("[]", "").split())
        text = re.sub(r"\s+([.!?,;])", r"\1", text)
        last = text if any(map(str.isalnum, text)) else last
        for mark in _list_marks(sentence, named):
            passage = named.get(mark.casefold())
            if passage is not None or _is_like_an_id(mark, named):
                found.setdefault((last, mark), Citation(last, mark, passage))
    return list(found.values())


def _name_passages(passages: Sequence[Passage]) -> Mapping[str, str]:
    """The texts of passages by number and by id, without a difference of case; an id wins over a number."""
    texts: dict[str, list[str]] = {}
    for passage in passages:
        if passage.id:
            texts.setdefault(passage.id.casefold(), []).append(passage.text)
    by_id = {name: "\n\n".join(parts) for name, parts in texts.items()}
    return {**{str(number): passage.text for number, passage in enumerate(passages, 1)}, **by_id}


def _split_sentences(answer: str) -> Iterator[str]:
    text = _CODE.sub(" ", _SOURCES.sub("", answer))
    text = _OTHER_MARK.sub(r"[\1]", _DEFINITION.sub("", text))
    text = _AFTER_STOP.sub(r" \2\1 ", text)
    return (part for part in _SENTENCE_END.split(text) if part and part.strip())


def _list_marks(sentence: str, named: Mapping[str, str]) -> Iterator[str]:
    for match in _CITATION.finditer(sentence):
        whole = match[1].strip()
        if whole.casefold() in named:
            yield whole
            continue
        for part in map(str.strip, _SEPARATOR.split(whole)):
            if part.casefold() in named:
                yield part
            elif (bounds := _RANGE.fullmatch(part)) and int(bounds[1]) <= int(bounds[2]):
                numbers = range(int(bounds[1]), int(bounds[2]) + 1)
                yield from map(str, numbers[:_LONGEST_RANGE])
            elif number := _NUMBER.fullmatch(part):
                yield str(int(number[1]))
            elif part:
                yield part


def _is_like_an_id(mark: str, named: Mapping[str, str]) -> bool:
    """Whether a mark that names no passage was meant as one: a short number, or a text in the form of the ids."""
    if mark.isdecimal():
        return len(mark) <= 3
    forms = {_describe_form(name) for name in named if not name.isdecimal()}
    return _describe_form(mark.casefold()) in forms


def _describe_form(name: str) -> str:
    """The form of an id: `faq-7` and `faq-99` have the same."""
    return re.sub(r"\d+", "0", name)
