"""Excerpts of outputs and reasons: values as text, reasons on one line, outputs as a diff."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Container, Iterator, Mapping
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import islice
from typing import Any, NamedTuple

from scoregate.kernel.report.text import display_name, excerpt, make_visible, one_line
from scoregate.kernel.types.conversation import Conversation, EndReason
from scoregate.kernel.types.evaluation import Evaluation, Threshold
from scoregate.kernel.types.media import show_references
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.text import truncate_middle

_FINDINGS, _FINDING = 10, 200
_ENDINGS = {
    EndReason.GOAL: "the user finished",
    EndReason.IMPOSSIBLE: "the user gave up",
    EndReason.MAX_TURNS: "no turns left",
    EndReason.TOOL_LIMIT: "too many tool calls",
    EndReason.LOOP: "the conversation looped",
    EndReason.TIMEOUT: "timeout",
    None: "stopped by an error",
}
_GOALS = {True: "goal achieved", False: "goal not achieved", None: ""}


def format_transcript(conversation: Conversation, limit: int) -> str:
    """The whole conversation with invisible characters as escapes, in at most `limit` characters (at least 4,000)."""
    remarks = [
        describe_conversation(conversation),
        *(one_line(each, _FINDING) for each in conversation.findings[:_FINDINGS]),
    ]
    end = "\n".join(f"({line})" for line in remarks)
    turns = (
        replace(turn, user=_visible_excerpt(turn.user, limit), assistant=_visible_excerpt(turn.assistant, limit))
        for turn in conversation.turns
    )
    text = make_visible(Conversation(tuple(turns)).text(limit - len(end) - 1))
    return excerpt(f"{text}\n{end}" if text else end, limit)


def describe_conversation(conversation: Conversation) -> str:
    """Length and end of a conversation: `3 turns, goal not achieved, no turns left`."""
    met = conversation.goal_achieved
    why = "" if met and conversation.ended is EndReason.GOAL else _ENDINGS[conversation.ended]
    parts = (number_format.count(len(conversation.turns), "turn"), _GOALS[met], why)
    return ", ".join(part for part in parts if part)


def _visible_excerpt(text: str, limit: int) -> str:
    return make_visible(truncate_middle(text, 4 * limit))


TEXT_LIMIT = 6000
_WIDTH = 140
_DIFF_LINES, _BLOCK = 40, 8
_CONTEXT = 2
_REASONS = 50
_HIDDEN_METADATA = ("prompt", "relevant_turns")
# Metadata of metrics with a scale of their own; the threshold is shown next to the score.
_SCALE_METADATA = ("scale", "passes_at")
_MEDIA = '"sha256:'  # text without it has no image and no audio
_SENTENCE_END = re.compile(r"(?<=[.!?。])\s+")


def format_value(value: Any, limit: int = TEXT_LIMIT) -> str:
    """Format an output or metadata: strings as they are, conversations as transcripts, the rest as JSON."""
    if value is None:
        return ""
    if (conversation := Conversation.read(value)) is not None:
        return format_transcript(conversation, limit)
    indent = 2 if limit > _WIDTH else None
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str, indent=indent)
    if _MEDIA in text and not isinstance(value, str):
        value = show_references(value)
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str, indent=indent)
    return excerpt(text, limit)


def list_reasons(evaluation: Evaluation, limit: int, *, without: Container[str] = ()) -> Iterator[str]:
    """The reasons of a score: unmet criteria, then metadata, each on a line of at most `limit` characters."""
    unmet = (assertion for assertion in evaluation.assertions or () if not assertion.passed)
    for assertion in islice(unmet, _REASONS):
        yield one_line(f"{'not met' if assertion.required else 'not met (optional)'}: {assertion.criterion}", limit)
    items: list[tuple[Any, Any]] = [("metadata", evaluation.metadata)]
    if isinstance(evaluation.metadata, Mapping):
        items = sorted(evaluation.metadata.items(), key=lambda item: item[0] != "reason")
    for key, value in items[:_REASONS]:
        if value not in (None, "", [], {}) and key not in without:
            shown = show_references(value)
            text = shown if isinstance(shown, str) else json.dumps(shown, ensure_ascii=False, default=str)
            yield one_line(f"{display_name(str(key), 60)}: {one_line(text, limit)}", limit)


def summarize_reasons(evaluation: Evaluation, limit: int = 200) -> str:
    """The reasons on one line, without metadata that is shown elsewhere; empty if there are none."""
    return one_line("; ".join(reason_lines(evaluation, limit)), limit)


def reason_lines(evaluation: Evaluation, limit: int) -> Iterator[str]:
    """The same reasons, each on a line of at most `limit` characters."""
    metadata = evaluation.metadata if isinstance(evaluation.metadata, Mapping) else {}
    hidden = (*_HIDDEN_METADATA, *_SCALE_METADATA) if metadata.keys() >= {"value", "scale"} else _HIDDEN_METADATA
    return list_reasons(evaluation, limit, without=hidden)


def format_score(score: float, threshold: Threshold | None) -> str:
    """A score with enough digits to see whether it meets the threshold."""
    for digits in (3, 6, 9):
        text = f"{score:.{digits}f}".rstrip("0").rstrip(".")
        if threshold is None or threshold.holds(float(text)) == threshold.holds(score):
            return text
    return repr(score)


def diff_lines(old: str, new: str) -> tuple[str, ...]:
    """A diff of two texts, each line with `+`, `-` or a space; empty if they are equal.

    Long lines are split into sentences first, so that a changed word marks its sentence, not the paragraph.
    """
    before, after = list(_split_lines(old)), list(_split_lines(new))
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
            yield from _mark_block("-", before[old_from:old_to])
            yield from _mark_block("+", after[new_from:new_to])


def _mark_block(sign: str, lines: list[str]) -> Iterator[str]:
    """The first lines of a block, so that a long one leaves space for what replaces it."""
    yield from (f"{sign} {line}" for line in lines[:_BLOCK])
    if (hidden := len(lines) - _BLOCK) > 0:
        yield f"{sign} … {number_format.count(hidden, 'more line')}"


def _split_lines(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        if len(line) <= _WIDTH:
            yield line
            continue
        for sentence in _SENTENCE_END.split(line):
            yield from textwrap.wrap(sentence, _WIDTH, drop_whitespace=False) or [""]


_MAX_INPUT, _MAX_OUTPUT = 600, 1200


class CaseTexts(NamedTuple):
    """The texts of a case, each of a limited length; empty if unknown.

    `diff` holds the lines in which the output differs from the baseline's, with few lines around them, each with `+`,
    `-` or a space. Without a difference, `output` holds the beginning of the output.
    """

    input: str = ""
    expected: str = ""
    output: str = ""
    diff: tuple[str, ...] = ()
    same_output: bool = False


def build_case_texts(question: str, expected: str, output: str, base_output: str) -> CaseTexts:
    """Build the texts of a case.

    Args:
        question: the input, without the expected output if that is known.
        expected: the expected output; empty without one.
        output: the output.
        base_output: the output in the baseline; empty if unknown.
    """
    diff = diff_lines(base_output, output) if base_output else ()
    return CaseTexts(
        excerpt(question, _MAX_INPUT),
        excerpt(expected, _MAX_INPUT),
        "" if diff else excerpt(output, _MAX_OUTPUT),
        diff,
        same_output=bool(base_output) and not diff,
    )
