"""The parts of Markdown and of prompts in plain text: sections, items of lists, paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from scoregate.features.interventions.mutation.parts import Part, Span, find_removed_lines
from scoregate.kernel.types.records import record

_LINE = re.compile(
    r"(?P<indent>[ \t]*)(?:(?P<blank>\r?$)|(?P<fence>`{3,}|~{3,})|(?P<heading>#{1,6}(?=[ \t]))"
    # A line that only separates: a rule, a tag, a statement of a template.
    r"|(?P<rule>(?:([-*_=])(?:[ \t]*\6){1,}|</?[A-Za-z][\w-]*>|\{%.*%\}|\{\{[#/].*\}\})[ \t]*\r?$)"
    r"|(?P<item>(?:[-*+]|\d{1,9}[.)])[ \t]+(?=\S))|(?P<text>))",
    re.MULTILINE,
)
_DEEPEST_ITEM = 40  # columns; each level repeats the text of those below it
_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n(?:.*\n)*?---[ \t]*\r?(?:\n|\Z)")
_DESCRIPTION = re.compile(r"^description:[ \t]*(\S.*(?:\n[ \t]+\S.*)*)", re.MULTILINE)
_OPENING = re.compile(r"\{%-?\s*(?:if|for|block|macro|call|filter|raw|with)\b|\{\{#|^[ \t]*<[A-Za-z][\w-]*>\s*$", re.M)
_CLOSING = re.compile(r"\{%-?\s*end|\{\{/|^[ \t]*</[A-Za-z][\w-]*>\s*$", re.M)


@record
class _Line:
    """A line. `level` is that of a heading; `content` is where the text after the mark starts."""

    start: int
    end: int
    kind: str
    indent: int
    content: int
    level: int = 0


def find_markdown_parts(text: str) -> list[Part]:
    """The parts of a file. Of front matter only the description is one."""
    front = _FRONT_MATTER.match(text)
    if not front:
        return find_text_parts(text, (0, len(text)))
    parts = []
    if description := _DESCRIPTION.search(text, 0, front.end()):
        removed = find_removed_lines(text, *description.span(), front.span())
        value = description.span(1)
        parts.append(Part(description.span(), removed, value, value, empty='""'))
    return parts + find_text_parts(text, (front.end(), len(text)))


def find_text_parts(text: str, within: Span) -> list[Part]:
    """The parts of a piece of a text, in the order of their places."""
    lines = [*_read_lines(text, within)]
    for at in range(1, len(lines)):
        if lines[at].kind == "rule" and lines[at - 1].kind == "text" and (at == 1 or lines[at - 2].kind != "text"):
            lines[at - 1] = _underline(text, lines[at - 1], lines[at])
    while lines and lines[-1].kind == "blank":
        lines.pop()
    found = [*_Parts(text, within, lines).find()]
    whole = text[slice(*within)].strip()
    is_whole = [len(text[slice(*each.span)].strip()) == len(whole) for each in found]
    if sum(bool(each.removed) for each in found) > 1:
        found = [each for each, drop in zip(found, is_whole, strict=True) if not drop]
    return sorted(found, key=lambda each: (each.span[0], -each.span[1]))


def _read_lines(text: str, within: Span) -> Iterator[_Line]:
    """The lines with their kinds. The lines of a fenced block are all of the kind "fence"."""
    start, last = within
    fence, fence_indent = "", 0
    while start < last:
        end = text.find("\n", start, last)
        end = last if end < 0 else end
        found = _LINE.match(text, start, end)
        kind = (found and found.lastgroup) or "text"
        content = found.end() if found else start
        indent = len(text[start : found.end("indent") if found else start].expandtabs(4))
        mark = found[kind] if found else ""
        kind = "text" if kind == "item" and indent > _DEEPEST_ITEM else kind
        if fence:
            is_closed = kind == "fence" and mark.startswith(fence) and not text[start:end].strip().strip(fence[0])
            yield _Line(start, end, "fence", fence_indent, start)
            fence = "" if is_closed else fence
        else:
            fence, fence_indent = (mark, indent) if kind == "fence" else ("", 0)
            yield _Line(start, end, kind, indent, content, mark.count("#") if kind == "heading" else 0)
        start = end + 1


def _underline(text: str, line: _Line, below: _Line) -> _Line:
    """The line as a heading, if the one below underlines it."""
    mark = text[below.start : below.end].strip()
    if mark.strip(mark[0]) or mark[0] not in "=-":
        return line
    return _Line(line.start, below.end, "heading", line.indent, line.content, 1 if mark[0] == "=" else 2)


class _Parts:
    """Finds the parts of lines."""

    def __init__(self, text: str, within: Span, lines: Sequence[_Line]) -> None:
        self._text = text
        self._within = within
        self._lines = lines

    def find(self) -> Iterator[Part]:
        """Sections, items, and paragraphs with the fenced blocks between them."""
        section, inside, at = -1, 0, 0
        while at < len(self._lines):
            line, end = self._lines[at], at + 1
            if line.kind == "heading":
                section = at
                yield self._make_section(at)
            elif line.kind == "item":
                last = self._find_item_end(at)
                inside = max(inside, last)
                yield self._make_item(at, last)
            elif line.kind in ("text", "fence"):
                end = self._find_block_end(at)
                if at >= inside:
                    yield self._make_block(at, end, section)
            at = end

    def _make_section(self, first: int) -> Part:
        """A heading and what follows, up to the next heading that isn't below it."""
        heading = self._lines[first]
        end = first + 1
        while end < len(self._lines) and not 0 < self._lines[end].level <= heading.level:
            end += 1
        span = self._find_span(heading.start, first, end)
        prose = self._find_span(heading.content, first, first + 1)
        inner = (prose[1], span[1]) if span[1] > prose[1] else None
        return self._make(span, (heading.start, span[1]), prose, inner, f"section {heading.level}")

    def _make_item(self, first: int, end: int) -> Part:
        """An item with its nested items. Its span is without its mark, so that numbers stay when two are swapped."""
        line = self._lines[first]
        own = next((at for at in range(first + 1, end) if self._lines[at].kind in ("item", "fence")), end)
        span = self._find_span(line.content, first, end)
        prose = self._find_span(line.content, first, own)
        return self._make(span, (line.start, span[1]), prose, span, f"item {line.indent}")

    def _make_block(self, first: int, end: int, section: int) -> Part:
        """A paragraph or a fenced block; one that is all of its section, or introduces what follows, isn't deleted."""
        line = self._lines[first]
        start = line.end - len(self._text[line.start : line.end].lstrip())
        span = self._find_span(start, first, end)
        is_section = section >= 0 and self._fills_section(first, end, section)
        is_intro = self._text[span[1] - 1] == ":" and end < len(self._lines)
        prose = span if line.kind == "text" else None
        lines = None if is_section or is_intro else (line.start, span[1])
        return self._make(span, lines, prose, None, "block")

    def _fills_section(self, first: int, end: int, section: int) -> bool:
        before = first - 1
        while before > section and self._lines[before].kind in ("blank", "rule"):
            before -= 1
        while end < len(self._lines) and self._lines[end].kind == "blank":
            end += 1
        is_last = end == len(self._lines) or 0 < self._lines[end].level <= self._lines[section].level
        return before == section and is_last

    def _make(self, span: Span, lines: Span | None, prose: Span | None, inner: Span | None, siblings: str) -> Part:
        content = self._text[slice(*span)]
        if lines and len(_OPENING.findall(content)) == len(_CLOSING.findall(content)):
            removed = find_removed_lines(self._text, *lines, self._within)
            return Part(span, removed, prose, inner, siblings=siblings)
        return Part(span, None, prose)

    def _find_span(self, start: int, first: int, end: int) -> Span:
        """From a place to the last line before `end` that isn't blank."""
        last = end - 1
        while last > first and self._lines[last].kind == "blank":
            last -= 1
        return start, start + len(self._text[start : self._lines[last].end].rstrip())

    def _find_item_end(self, first: int) -> int:
        """The first line after an item: one that isn't indented more, and doesn't continue a paragraph of it."""
        indent, end = self._lines[first].indent, first + 1
        while end < len(self._lines):
            line, before = self._lines[end], self._lines[end - 1].kind
            continues = line.kind == "text" and before in ("item", "text")
            if line.kind == "heading" or (line.kind != "blank" and line.indent <= indent and not continues):
                break
            end += 1
        return end

    def _find_block_end(self, first: int) -> int:
        end, kind = first + 1, self._lines[first].kind
        while end < len(self._lines) and self._lines[end].kind == kind:
            end += 1
        return end
