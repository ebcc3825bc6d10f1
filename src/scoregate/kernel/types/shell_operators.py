"""Operators of a shell in a command line that no shell runs."""

from __future__ import annotations

import re

_OPERATOR = re.compile(r"&&|\|\||>>|\$\(|[|;&<>`\n]")
_QUOTED_OPERATOR = re.compile(r"\$\(|`")


def find_shell_operator(command: str) -> tuple[str, int] | None:
    """The first operator that a shell would act on, and its position, from 1; None without one.

    In single quotes, and after a backslash, there is none. In double quotes, a shell still runs `$(…)` and backticks.

    Args:
        command: the command line.
    """
    start = len(command) - len(command.lstrip())
    text = command.rstrip()
    if text[start : start + 1] == "!" and text[start + 1 : start + 2].isspace():
        return "!", start + 1
    position, quote = start, ""
    while position < len(text):
        char = text[position]
        if char == "\\" and quote != "'":
            position += 2
            continue
        if char in "'\"" and quote in ("", char):
            quote = "" if quote else char
        elif quote != "'" and (match := (_QUOTED_OPERATOR if quote else _OPERATOR).match(text, position)):
            return match[0], position + 1
        position += 1
    return None
