"""What operators do to the parts of a text."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import TypeAlias

from scoregate.features.interventions.mutation.parts import Part, Span
from scoregate.kernel.types.records import record


class Operator(StrEnum):
    """How a part of a file is changed."""

    DELETE = "delete"
    EMPTY = "empty"
    NEGATE = "negate"
    SWAP = "swap"
    NUMBER = "number"


@record
class Change:
    """What an operator does to a part of a text.

    Attributes:
        operator: the operator.
        parts: the part, or both that are swapped.
        span: what is shown: the part, or the sentence that changes.
        edits: the replaced parts of the text, in order, with their new text.
    """

    operator: Operator
    parts: tuple[Part, ...]
    span: Span
    edits: tuple[tuple[int, int, str], ...]

    def apply(self, text: str) -> str:
        """What is shown, after the edits; empty if it is deleted."""
        if self.operator is Operator.DELETE:
            return ""
        pieces, last = list[str](), self.span[0]
        for start, end, new in self.edits:
            pieces += [text[last:start], new]
            last = end
        return "".join((*pieces, text[last : self.span[1]]))


def make_changes(text: str, parts: Sequence[Part], operators: Collection[Operator]) -> Iterator[Change]:
    """Every change of the text that one of the operators makes to one part, or to two neighbours."""
    for operator, make in _MAKERS.items():
        if operator in operators:
            yield from (each for each in make(text, parts) if any(text[a:b] != new for a, b, new in each.edits))


def apply_changes(text: str, changes: Sequence[Change]) -> str:
    """The text with changes that don't overlap."""
    pieces, last = [], 0
    for start, end, new in sorted(edit for change in changes for edit in change.edits):
        pieces += [text[last:start], new]
        last = end
    return "".join((*pieces, text[last:]))


def _delete(_: str, parts: Sequence[Part]) -> Iterator[Change]:
    for part in parts:
        if part.removed:
            yield Change(Operator.DELETE, (part,), part.span, ((*part.removed, part.deleted),))


def _empty(_: str, parts: Sequence[Part]) -> Iterator[Change]:
    for part in parts:
        if part.removed and part.inner:
            yield Change(Operator.EMPTY, (part,), part.span, ((*part.inner, part.empty),))


# Between neighbours: a comma, and the mark of the second item.
_GAP = re.compile(r"[\s,]*(?:(?:[-*+]|\d+[.)])[ \t]+)?")


def _swap(text: str, parts: Sequence[Part]) -> Iterator[Change]:
    last: dict[str, Part] = {}
    for part in parts:
        if not part.removed or not part.siblings:
            continue
        before, last[part.siblings] = last.get(part.siblings), part
        if before and before.span[1] <= part.span[0] and _GAP.fullmatch(text, before.span[1], part.span[0]):
            one, two = before.span, part.span
            edits = (*one, text[slice(*two)]), (*two, text[slice(*one)])
            yield Change(Operator.SWAP, (before, part), (one[0], two[1]), edits)


_SENTENCE = re.compile(r"\S.*?(?:[.!?](?=\s)|(?=\n[ \t\r]*\n)|\Z)", re.DOTALL)


def _find_sentences(text: str, part: Part) -> Iterator[tuple[Span, Span]]:
    """The sentences of a part's own, each with what is shown for it: all of the part if there is only one."""
    if part.prose:
        sentences = [each.span() for each in _SENTENCE.finditer(text, *part.prose)]
        is_alone = len(sentences) == 1
        yield from (((part.span[0], each[1]) if is_alone else each, each) for each in sentences)


_OPPOSITES = {
    "must not": "must",
    "mustn't": "must",
    "must": "must not",
    "should not": "should",
    "shouldn't": "should",
    "should": "should not",
    "shall not": "shall",
    "shall": "shall not",
    "may not": "may",
    "may": "may not",
    "cannot": "can",
    "can not": "can",
    "can't": "can",
    "will not": "will",
    "won't": "will",
    "always": "never",
    "never": "always",
    "do not": "",
    "don't": "",
    "at least": "at most",
    "at most": "at least",
    "avoid": "prefer",
    "prefer": "avoid",
    "not allowed": "allowed",
    "allowed": "not allowed",
    "not required": "required",
    "required": "not required",
}
_VERBS = (
    "add|answer|apologi[sz]e|ask|assume|be|begin|call|check|choose|cite|confirm|describe|end|ensure|escalate|explain|"
    "follow|format|give|greet|ignore|include|keep|limit|list|make|mention|offer|output|provide|quote|refer|refuse|"
    "reject|reply|respond|return|show|speak|start|state|stay|stop|suggest|summari[sz]e|thank|translate|treat|use|"
    "verify|write"
)
_WORDS = "|".join(sorted(map(re.escape, _OPPOSITES), key=len, reverse=True)).replace("'", "['’]").replace(r"\ ", r"\s+")
_OPPOSITE = re.compile(rf"\b(?:{_WORDS})\b", re.IGNORECASE)
_IMPERATIVE = re.compile(rf"[\W_]*\b({_VERBS})\b", re.IGNORECASE)


def _negate(text: str, parts: Sequence[Part]) -> Iterator[Change]:
    """The first instruction of each sentence is negated; sentences without one are left out."""
    for part in parts:
        for shown, (start, end) in _find_sentences(text, part):
            if found := _OPPOSITE.search(text, start, end):
                yield Change(Operator.NEGATE, (part,), shown, (_negate_expression(text, found, end),))
            elif found := _IMPERATIVE.match(text, start, end):
                verb = found[1]
                prefix = "DO NOT " if verb.isupper() else "Do not " if verb[0].isupper() else "do not "
                new = prefix + (verb if verb.isupper() else verb.lower())
                yield Change(Operator.NEGATE, (part,), shown, ((*found.span(1), new),))


def _negate_expression(text: str, found: re.Match[str], end: int) -> tuple[int, int, str]:
    """The edit that replaces an expression by its opposite, in the same case."""
    word, (start, stop) = found[0], found.span()
    opposite = _OPPOSITES[" ".join(word.lower().replace("’", "'").split())]
    if not opposite:  # "Do not share" becomes "Share"
        while stop < end and text[stop].isspace():
            stop += 1
        following = text[stop : stop + 1] if stop < end else ""
        return start, stop + len(following), following.upper() if word[0].isupper() else following
    is_upper = word.isupper()
    return start, stop, opposite.upper() if is_upper else opposite.capitalize() if word[0].isupper() else opposite


# Dates, times, versions and names with digits come first, so that no number is found inside them.
_NUMBER = re.compile(
    r"\d+(?:[-/.:]\d+){2,}\w*|\d{1,2}:\d{2}\w*|[^\W\d][\w.-]*|\\.|\d+[^\W\d]\w*|"
    r"(?P<number>-?(?:\d{1,3}(?:,\d{3})+|\d{1,9})(?:\.\d{1,9})?)(?![\w]|[.-]\d)|\d+"
)


def _change_numbers(text: str, parts: Sequence[Part]) -> Iterator[Change]:
    for part in parts:
        for shown, sentence in _find_sentences(text, part):
            for found in _NUMBER.finditer(text, *sentence):
                if found["number"]:
                    edit = (*found.span(), _change_number(found["number"]))
                    yield Change(Operator.NUMBER, (part,), shown, (edit,))


def _change_number(number: str) -> str:
    """Twice a number, or one more than 0 and 1, with as many digits after the point."""
    decimals = len(number.partition(".")[2])
    value = float(number.replace(",", ""))
    value = value + 1 if value in (0, 1) else 2 * value
    return f"{value:{',' if ',' in number else ''}.{decimals}f}"


_Maker: TypeAlias = Callable[[str, Sequence[Part]], Iterator[Change]]
_MAKERS: Mapping[Operator, _Maker] = {
    Operator.DELETE: _delete,
    Operator.EMPTY: _empty,
    Operator.NEGATE: _negate,
    Operator.SWAP: _swap,
    Operator.NUMBER: _change_numbers,
}
