"""What the runner reads: commands in the log, and the file of outputs."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping

_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY = {**_DATA, ":": "%3A", ",": "%2C"}
# What steers a terminal or is not seen: no file and no title has any.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
# A lone carriage return ends a line for the runner, and it passes over any white space before a command.
_LEADING = re.compile(r"(?<![^\r\n])([^\S\r\n]*):(?=:)")


def command(name: str, message: str, **properties: object) -> str:
    """A command on one line, its parts escaped: `::error file=a.py,line=3::what happened`.

    Control characters are left out of its properties.
    """
    shown = {key: _CONTROL.sub("", str(value)) for key, value in properties.items() if value}
    pairs = ",".join(f"{key}={_escaped(value, _PROPERTY)}" for key, value in shown.items())
    return harmless_marks(f"::{name}{' ' if pairs else ''}{pairs}::{_escaped(message, _DATA)}")


def harmless(text: str) -> str:
    """Text for the log in which the runner finds no command; commands of both grammars are broken."""
    return harmless_marks(_LEADING.sub("\\1:\u200b", text))


def harmless_marks(text: str) -> str:
    """Text without `##[`, which the runner takes for a command anywhere in a line."""
    return text.replace("##[", "##\u200b[")


def outputs_text(outputs: Mapping[str, str]) -> str:
    """The lines that set a step's outputs; no value can end its own block, or begin another."""
    return "".join(_block(name, value) for name, value in outputs.items())


def _block(name: str, value: str) -> str:
    end = f"scoregate_{secrets.token_hex(16)}"
    return f"{name}<<{end}\n{value}\n{end}\n"


def _escaped(text: str, codes: Mapping[str, str]) -> str:
    return "".join(codes.get(char, char) for char in text)
