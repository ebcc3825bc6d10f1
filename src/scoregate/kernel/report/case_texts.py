"""The texts of one case in the comment: input, expected output, and the output with its differences."""

from __future__ import annotations

from typing import NamedTuple

from scoregate.kernel.report.excerpts import diff_lines
from scoregate.kernel.report.text import excerpt

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
