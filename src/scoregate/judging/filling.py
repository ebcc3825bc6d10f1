"""Prompts with placeholders, `{{name}}`: what takes their place is data between fences, and nothing in it is read."""

from __future__ import annotations

import re
from collections.abc import Mapping

from scoregate.core.utf8 import whole
from scoregate.judging.fence import fence_of

_PLACEHOLDER = re.compile(r"\{\{[ \t]*(\w(?:[\w .-]*\w)?)[ \t]*\}\}")
_PRELUDE = "Every line that begins or ends a block of data in this message starts with this fence:"


def placeholders(prompt: str) -> tuple[str, ...]:
    """The names that a prompt asks for, each once, in their order.

    A name begins and ends with a letter, a digit or `_`, and may have spaces, `.` and `-` in between; other text
    between braces is left as it is.
    """
    return tuple(dict.fromkeys(_PLACEHOLDER.findall(prompt)))


def filled(prompt: str, blocks: Mapping[str, str], *, more: Mapping[str, str] | None = None) -> str:
    """The prompt with a block of data in the place of each placeholder.

    Args:
        blocks: texts by name, which nobody vouches for. more: those that follow the prompt, by what they are.

    Raises:
        KeyError: the prompt asks for a name that is not there.
    """
    used = {name: whole(blocks[name]) for name in placeholders(prompt)}
    after = {name: whole(text) for name, text in (more or {}).items()}
    if not used and not after:
        return prompt
    fence = fence_of([*used.values(), *after.values()])
    asked = _PLACEHOLDER.sub(lambda found: _block(fence, found[1], used[found[1]]), whole(prompt))
    rest = "".join(f"\n{_block(fence, name, text)}" for name, text in after.items())
    return f"{_PRELUDE} {fence}\n\n{asked}{rest}"


def _block(fence: str, name: str, text: str) -> str:
    return f"\n{fence} BEGIN {name}\n{text}\n{fence} END {name}\n"
