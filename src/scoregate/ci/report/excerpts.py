"""What evaluators and outputs say, cut to what a reader needs: reasons on one line, outputs as a diff."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Container, Iterator, Mapping
from difflib import SequenceMatcher
from itertools import islice
from typing import Any

from scoregate.ci.report.text import excerpt, name, one_line
from scoregate.ci.report.transcripts import transcript
from scoregate.core.conversation import Conversation
from scoregate.core.evaluation import Evaluation, Threshold

TEXT_LIMIT = 6000
_WIDTH = 140
_DIFF_LINES = 40
_CONTEXT = 2
_REASONS = 50
_APART = ("prompt", "relevant_turns")
# What a metric with a scale of its own says besides its value; the threshold stands beside the score.
_OF_SCALES = ("scale", "passes_at")
_SENTENCE_END = re.compile(r"(?<=[.!?。])\s+")


def as_text(value: Any, limit: int = TEXT_LIMIT) -> str:
    """An output or a piece of metadata as text: strings as they are, conversations as transcripts, the rest as JSON."""
    if value is None:
        return ""
    if (conversation := Conversation.read(value)) is not None:
        return transcript(conversation, limit)
    if not isinstance(value, str):
        value = json.dumps(value, ensure_ascii=False, default=str, indent=2 if limit > _WIDTH else None)
    return excerpt(value, limit)


def reasons(evaluation: Evaluation, limit: int, *, without: Container[str] = ()) -> Iterator[str]:
    """Why the score is what it is: unmet criteria, then metadata, each on a line of at most `limit` characters."""
    unmet = (assertion for assertion in evaluation.assertions or () if not assertion.passed)
    for assertion in islice(unmet, _REASONS):
        yield one_line(f"{'not met' if assertion.required else 'not met (optional)'}: {assertion.criterion}", limit)
    for key, value in islice(_items(evaluation.metadata), _REASONS):
        if value not in (None, "", [], {}) and key not in without:
            yield one_line(f"{name(str(key), 60)}: {_inline(value, limit)}", limit)


def _items(metadata: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(metadata, Mapping):
        yield from sorted(metadata.items(), key=lambda item: item[0] != "reason")
    elif metadata is not None:
        yield "metadata", metadata


def _inline(value: Any, limit: int) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return one_line(text, limit)


def why(evaluation: Evaluation, limit: int = 200) -> str:
    """The reasons on one line, without what is told elsewhere; empty where the evaluator gave none."""
    return one_line("; ".join(why_lines(evaluation, limit)), limit)


def why_lines(evaluation: Evaluation, limit: int) -> Iterator[str]:
    """The same, each reason on a line of at most `limit` characters."""
    given = evaluation.metadata if isinstance(evaluation.metadata, Mapping) else {}
    apart = (*_APART, *_OF_SCALES) if given.keys() >= {"value", "scale"} else _APART
    return reasons(evaluation, limit, without=apart)


def shown_score(score: float, threshold: Threshold | None) -> str:
    """A score with as many digits as it takes to see that it missed the threshold."""
    for digits in (3, 6, 9):
        text = f"{score:.{digits}f}".rstrip("0").rstrip(".")
        if threshold is None or threshold.holds(float(text)) == threshold.holds(score):
            return text
    return repr(score)


def diff(old: str, new: str) -> tuple[str, ...]:
    """The lines of `new` against those of `old`, each led by `+`, `-` or a space; empty where nothing differs.

    Long lines are first broken after sentences, so that a changed word marks its sentence and not the paragraph.
    """
    before, after = list(_lines(old)), list(_lines(new))
    if before == after:
        return ()
    lines = list(_hunks(before, after))
    if len(lines) > _DIFF_LINES:
        left_out = len(lines) - _DIFF_LINES
        return (*lines[:_DIFF_LINES], f"  … {left_out} more lines")
    return tuple(lines)


def _hunks(before: list[str], after: list[str]) -> Iterator[str]:
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for number, group in enumerate(matcher.get_grouped_opcodes(_CONTEXT)):
        if number:
            yield "  …"
        for tag, old_from, old_to, new_from, new_to in group:
            if tag == "equal":
                yield from (f"  {line}" for line in before[old_from:old_to])
                continue
            yield from (f"- {line}" for line in before[old_from:old_to])
            yield from (f"+ {line}" for line in after[new_from:new_to])


def _lines(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        if len(line) <= _WIDTH:
            yield line
            continue
        for sentence in _SENTENCE_END.split(line):
            yield from textwrap.wrap(sentence, _WIDTH, drop_whitespace=False) or [""]
