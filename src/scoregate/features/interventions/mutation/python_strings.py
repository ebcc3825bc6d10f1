"""The texts in Python code that were sent to a model, and their parts."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Collection, Iterator, Sequence

from scoregate.features.interventions.mutation.markdown import find_text_parts
from scoregate.features.interventions.mutation.operators import Change, apply_changes
from scoregate.features.interventions.mutation.parts import Part, Span

_SHORTEST = 12
_LITERAL = re.compile(
    r"#[^\n]*|(?P<prefix>[A-Za-z]{0,2})(?P<quote>\"\"\"|'''|\"|')(?P<body>(?:[^\\]|\\.)*?)(?P=quote)", re.DOTALL
)
# What programs put values into: fields of templates, of `str.format`, of f-strings, of `%`.
_FIELD = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{[^{}]*\}|%\(\w+\)\w|%[a-z]|\$\w+|\$\{\w+\}", re.DOTALL)


class PythonFile:
    """A file of Python code.

    Args:
        text: the file.
        requests: texts that were sent to a model.

    Raises:
        ValueError: it is not Python code; the message is the reason.
    """

    def __init__(self, text: str, requests: Collection[str]) -> None:
        self._text = text
        self._requests = "\0".join(" ".join(each.split()) for each in sorted(set(requests)))
        tree = _parse(text)
        self._lines = [0, *(each.end() for each in re.finditer(r"\r\n|\r|\n", text))]
        self.parts = sorted(
            (part for node in _find_strings(tree) for part in self._find_parts(node)),
            key=lambda each: (each.span[0], -each.span[1]),
        )
        self._shape = _dump_shape(tree)

    def is_valid(self, changes: Sequence[Change]) -> bool:
        """Whether the code with these changes differs from it only in texts."""
        try:
            return _dump_shape(_parse(apply_changes(self._text, changes))) == self._shape
        except ValueError:
            return False

    def _find_parts(self, node: ast.expr) -> Iterator[Part]:
        """The parts of a text; of one that is written in several literals, those of each."""
        span = self._find_place(node.lineno, node.col_offset), self._find_place(node.end_lineno, node.end_col_offset)
        literals = [each for each in _LITERAL.finditer(self._text, *span) if each["quote"]]
        for literal in literals:
            body = literal.span("body")
            is_raw = "r" in literal["prefix"].lower()
            inner = find_text_parts(self._text, body) if "\n" in literal["body"] else []
            inner = [each for each in inner if self._was_sent(each.span, is_raw=is_raw)]
            if any(each.removed for each in inner):
                yield from inner
            elif self._has_sent(_evaluate(literal)):
                whole = literal.span()
                yield Part(whole, whole, body, whole, deleted='""', empty='""', siblings=f"text {span[0]}")

    def _find_place(self, line: int | None, column: int | None) -> int:
        """The character of a line, from 1, and a column in bytes."""
        start = self._lines[(line or 1) - 1]
        return start + len(self._text[start : start + (column or 0)].encode()[: column or 0].decode(errors="ignore"))

    def _was_sent(self, span: Span, *, is_raw: bool) -> bool:
        source = self._text[slice(*span)]
        return (is_raw or "\\" not in source) and self._has_sent(source)

    def _has_sent(self, text: str) -> bool:
        """Whether the longest piece of a text between its fields was sent."""
        piece = max((" ".join(each.split()) for each in _FIELD.split(text)), key=len)
        return len(piece) >= _SHORTEST and piece in self._requests


def _parse(text: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the user's code
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"it can't be read as Python: {error!s:.200}") from None


def _find_strings(node: ast.AST) -> Iterator[ast.expr]:
    """The texts of the code. The parts of an f-string have no reliable places before Python 3.12."""
    pending = [node]
    while pending:
        each = pending.pop()
        if isinstance(each, ast.JoinedStr) or (isinstance(each, ast.Constant) and isinstance(each.value, str)):
            yield each
        else:
            pending += ast.iter_child_nodes(each)


def _evaluate(literal: re.Match[str]) -> str:
    """The text of a literal; of an f-string, its source."""
    if "f" in literal["prefix"].lower():
        return literal["body"]
    try:
        return str(ast.literal_eval(literal[0]))
    except (SyntaxError, ValueError):
        return ""


class _WithoutTexts(ast.NodeTransformer):
    """Replaces all texts by empty ones. It changes the tree."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        return ast.Constant("") if isinstance(node.value, str) else node

    def visit_JoinedStr(self, _: ast.JoinedStr) -> ast.Constant:
        return ast.Constant("")


def _dump_shape(tree: ast.Module) -> str:
    return ast.dump(_WithoutTexts().visit(tree))
