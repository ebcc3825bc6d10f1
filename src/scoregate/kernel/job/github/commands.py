"""Workflow commands: lines in the log that the runner executes, and the file of outputs."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping

_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY = {**_DATA, ":": "%3A", ",": "%2C"}
# Characters that control a terminal or are invisible; files and titles have none.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
# A single carriage return ends a line for the runner, and it ignores white space before a command.
_LEADING = re.compile(r"(?<![^\r\n])([^\S\r\n]*):(?=:)")


def command(name: str, message: str, **properties: object) -> str:
    """A command on one line, its parts escaped: `::error file=a.py,line=3::what happened`.

    Control characters are removed from its properties.
    """
    visible = {key: _CONTROL.sub("", str(value)) for key, value in properties.items() if value}
    pairs = ",".join(f"{key}={_escape(value, _PROPERTY)}" for key, value in visible.items())
    return harmless_marks(f"::{name}{' ' if pairs else ''}{pairs}::{_escape(message, _DATA)}")


def harmless(text: str) -> str:
    """Text for the log without commands: those of both syntaxes are disabled."""
    return harmless_marks(_LEADING.sub("\\1:\u200b", text))


def harmless_marks(text: str) -> str:
    """Text without `##[`, which is a command anywhere in a line."""
    return text.replace("##[", "##\u200b[")


def outputs_text(outputs: Mapping[str, str]) -> str:
    """The lines that set a step's outputs; no value can end its block, or begin another one."""
    return "".join(_block(name, value) for name, value in outputs.items())


def _block(name: str, value: str) -> str:
    end = f"scoregate_{secrets.token_hex(16)}"
    return f"{name}<<{end}\n{value}\n{end}\n"


def _escape(text: str, codes: Mapping[str, str]) -> str:
    return "".join(codes.get(char, char) for char in text)
