"""The JSON object of an answer that may have other text: reasoning, a code fence, a sentence.

An object is taken only if no other reading is possible. A wrong reading would be a wrong score, and a refused one costs
one more call.
"""

from __future__ import annotations

import json
import re
from bisect import bisect
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

_FENCE = re.compile(r"```[a-zA-Z]*\s*(.*?)\s*```", re.DOTALL)
_REASONING_TAG = re.compile(r"<(/?)(?:think|thinking|thought|thoughts|reasoning|reflection|scratchpad)>", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?:]\s|\n")
_DOUBT = re.compile(
    r"\b(?:not|no longer|cannot|never|wrong|incorrect|instead|wait|actually|but|however|correction|rather|would|if|"
    r"example|or)\b|n['’]t\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
# Each start is read to its first fault, so thousands of braces would take seconds.
_MOST_STARTS = 1_000


class JsonPart(NamedTuple):
    """A JSON object in a text, from `start` to `end`."""

    start: int
    end: int
    value: Mapping[str, Any]


def read_whole_object(text: str) -> str | None:
    """The JSON object that is all of a text, or of a text in one code fence; None if there is more or less.

    Raises:
        ValueError: a key occurs twice.
    """
    stripped = text.strip("\ufeff \t\r\n")
    fenced = _FENCE.fullmatch(stripped)
    for candidate in (stripped, fenced[1] if fenced else ""):
        try:
            value = _DECODER.decode(candidate)
        except (json.JSONDecodeError, RecursionError):
            continue
        return candidate if isinstance(value, dict) else None
    return None


def find_object(text: str, schema: Mapping[str, Any]) -> str | None:
    """The one JSON object of a schema within a text; None if there is none.

    Reasoning in tags counts only if the answer has nothing else, and ends with the object.

    Args:
        text: the answer.
        schema: the JSON schema of the object, with `properties`.

    Raises:
        ValueError: several objects, or the words around the object, allow another reading.
    """
    visible, reasoning = _split_reasoning(text)
    is_answered = bool(visible.strip())
    place = visible if is_answered else reasoning
    names = set(schema.get("properties", ()))
    parts = [part for part in _find_objects(place) if names & part.value.keys()]
    if not parts:
        return None
    first, last = parts[0], parts[-1]
    if any(part.value != first.value for part in parts):
        raise ValueError("it has several different objects")
    before, after = place[: first.start], place[last.end :]
    if not is_answered and after.strip("` \t\r\n"):
        raise ValueError("its only object is within the reasoning, which goes on")
    if _allows_another_reading(before, after, first.value, schema):
        raise ValueError("the words around its object leave open whether that is the answer")
    return place[first.start : first.end]


def _split_reasoning(text: str) -> tuple[str, str]:
    """The text without the reasoning in tags, and the reasoning alone. Both keep the positions of all characters."""
    objects = list(_find_objects(text))
    starts = [each.start for each in objects]
    tags = []
    for tag in _REASONING_TAG.finditer(text):
        before = bisect(starts, tag.start()) - 1
        # A tag within an object is text of that object.
        if before < 0 or objects[before].end <= tag.start():
            tags.append(tag)
    is_reasoning = bytearray(len(text))
    depth = opened_at = 0
    for tag in tags:
        is_reasoning[tag.start() : tag.end()] = b"\2" * len(tag[0])
        if not tag[1]:
            opened_at = opened_at if depth else tag.end()
            depth += 1
        else:
            # Some templates open the reasoning in the prompt, so that the answer has only the closing tag.
            start = opened_at if depth else 0
            depth = max(depth - 1, 0)
            is_reasoning[start : tag.start()] = b"\1" * (tag.start() - start)
    if depth:
        is_reasoning[opened_at:] = b"\1" * (len(text) - opened_at)
    visible, reasoning = (
        "".join(c if mark == wanted or c == "\n" else " " for c, mark in zip(text, is_reasoning, strict=True))
        for wanted in (0, 1)
    )
    return visible, reasoning


def _find_objects(text: str) -> Iterator[JsonPart]:
    """The outermost JSON objects in a text, in their order.

    Raises:
        ValueError: a key occurs twice, or the text has too many braces.
    """
    position = 0
    for _ in range(_MOST_STARTS):
        if (start := text.find("{", position)) < 0:
            return
        try:
            value, position = _DECODER.raw_decode(text, start)
        except (json.JSONDecodeError, RecursionError):
            position = start + 1
        else:
            yield JsonPart(start, position, value)
    raise ValueError("it has too many braces")


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"it has the key {next(name for name in names if names.count(name) > 1)!r:.60} twice")
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_refuse_duplicates)


def _allows_another_reading(before: str, after: str, value: Mapping[str, Any], schema: Mapping[str, Any]) -> bool:
    """Whether the words around an object doubt it, or the words after it name another answer.

    Deliberation before the object may name other answers. What counts there is the sentence that the object ends.
    """
    if _DOUBT.search(_SENTENCE_END.split(before)[-1]) or _DOUBT.search(after):
        return True
    given = {each for each in value.values() if isinstance(each, str | bool | int | float)}
    words = {word for word in _list_choices(schema) if word not in given}
    words |= {"true" if each is False else "false" for each in given if isinstance(each, bool)}
    if any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", after, re.IGNORECASE) for word in words):
        return True
    numbers = {float(each) for each in given if isinstance(each, int | float) and not isinstance(each, bool)}
    return bool(numbers) and any(float(number) not in numbers for number in _NUMBER.findall(after))


def _list_choices(schema: Any) -> Iterator[str]:
    """The texts that a schema lets choose from."""
    if isinstance(schema, list):
        for item in schema:
            yield from _list_choices(item)
    elif isinstance(schema, dict):
        yield from (each for each in schema.get("enum", ()) if isinstance(each, str))
        for item in schema.values():
            yield from _list_choices(item)
