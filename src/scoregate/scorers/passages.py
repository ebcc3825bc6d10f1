"""The answer and the passages of an output, the ids of passages, and the citations of an answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from scoregate.kernel.types.json_io import to_plain, to_text
from scoregate.scorers.output_texts import EXPECTED, check_field, read_text, select_field

ANSWER, CONTEXTS = "answer", "contexts"
_TEXT_KEYS = ("text", "content", "page_content")
_ID = "id"
# A Markdown link, `[text](address)`, is no citation.
_CITATION = re.compile(r"[ \t]*\[([^\[\]\n]{1,200})\](?!\()")
_SENTENCE_END = re.compile(r"(?<=[.!?])(?:[ \t]+(?!\[)|(?=\n))|\n+")
_SEPARATOR = re.compile(r"[,;]")


class Passage(NamedTuple):
    """A passage that was retrieved.

    Attributes:
        text: its text; "" if only its id is known.
        id: its id; "" without one.
    """

    text: str
    id: str


class Fields(NamedTuple):
    """Where an output has its answer and its passages.

    Attributes:
        answer: the path of the answer.
        contexts: the path of the list of passages.
    """

    answer: str = ANSWER
    contexts: str = CONTEXTS

    def read_answer(self, output: Any, scorer: str) -> str:
        """The answer of an output.

        Raises:
            ValueError: there is none, or it is not a text.
        """
        return read_text(select_field(output, self.answer), scorer, "the output", field=self.answer)

    def read_passages(self, output: Any, scorer: str) -> list[Passage]:
        """The passages of an output, each with its text.

        Raises:
            ValueError: there is no list of passages, or a passage has no text.
        """
        passages = read_passages(select_field(output, self.contexts), f"the field {self.contexts!r} of the output")
        for number, passage in enumerate(passages, 1):
            if not passage.text:
                raise ValueError(
                    f"{scorer} needs the text of each passage, and number {number} of {self.contexts!r} has none; "
                    'return texts, or objects such as {"id": "faq-7", "text": "…"}'
                )
        return passages

    def read_reference(self, expected: Any, scorer: str) -> str:
        """The expected answer: the case's `expected`, or its field that has the answer's name.

        Raises:
            ValueError: there is none, or it is not a text.
        """
        if expected is None:
            raise ValueError(f"{scorer} compares with `expected`, which this case lacks; add the expected answer")
        value = select_field(expected, self.answer, EXPECTED) if isinstance(expected, Mapping) else expected
        return read_text(value, scorer, EXPECTED)


DEFAULT_FIELDS = Fields()


def make_fields(scorer: str, field: str, contexts: str) -> Fields:
    """The paths of the answer and the passages as they were given.

    Raises:
        TypeError: one is no text, or empty.
    """
    return Fields(check_field(field, scorer) or ANSWER, check_field(contexts, scorer) or CONTEXTS)


def read_passages(value: Any, place: str) -> list[Passage]:
    """Read a list of passages: texts, or objects with a text and an id.

    Args:
        value: the list.
        place: where it is, for the error.

    Raises:
        ValueError: it is no list, or an item is neither a text nor an object.
    """
    return [_read_passage(item, f"item {number} of {place}") for number, item in enumerate(_read_list(value, place), 1)]


def read_ids(value: Any, place: str) -> list[str]:
    """The ids in a list: texts and numbers are ids, objects have one.

    Raises:
        ValueError: it is no list, or an item has no id.
    """
    return [_read_id(item, f"item {number} of {place}") for number, item in enumerate(_read_list(value, place), 1)]


def _read_list(value: Any, place: str) -> Sequence[Any]:
    plain = to_plain(value)
    if not isinstance(plain, list):
        raise ValueError(f"{place} must be a list, not {plain!r:.60}")
    return plain


def _read_passage(item: Any, place: str) -> Passage:
    if isinstance(item, str):
        return Passage(item, "")
    if isinstance(item, dict):
        text = next((item[key] for key in _TEXT_KEYS if isinstance(item.get(key), str)), "")
        return Passage(text, "" if item.get(_ID) is None else to_text(item[_ID]))
    raise ValueError(f"{place} must be a text, or an object with a text and an id, not {item!r:.60}")


def _read_id(item: Any, place: str) -> str:
    found = item.get(_ID) if isinstance(item, dict) else item
    if isinstance(found, str | int) and not isinstance(found, bool) and found != "":
        return to_text(found)
    raise ValueError(f'{place} must be an id, or an object with an "id", not {item!r:.60}')


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
    """The citations of an answer, in their order: `[2]` is the second passage, `[faq-7]` the passage with this id.

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
