"""The answer and the passages of an output, and the ids of passages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from scoregate.kernel.types.json_io import to_plain, to_text
from scoregate.scorers.output_texts import EXPECTED, check_field, read_text, select_field

ANSWER, CONTEXTS = "answer", "contexts"
_TEXT_KEYS = ("text", "content", "page_content")
_ID = "id"


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
        raise ValueError(f"{place} must be a list of passages or of their ids, not {plain!r:.60}")
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
    if isinstance(found, float) and found.is_integer():  # pandas has such ids where cells are empty
        found = int(found)
    if isinstance(found, str | int) and not isinstance(found, bool) and found != "":
        return to_text(found)
    raise ValueError(f'{place} must be an id, or an object with an "id", not {item!r:.60}')
