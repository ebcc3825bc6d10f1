"""The commands and outputs that a runner reads from a step's log and files: its grammars, ported from its source."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

COMMANDS = {
    "add-mask", "add-matcher", "add-path", "debug", "echo", "endgroup", "error", "group", "notice", "remove-matcher",
    "save-state", "set-env", "set-output", "stop-commands", "warning",
}  # fmt: skip
_LINES = re.compile(r"\r\n|\r|\n")
_DATA = {"%0D": "\r", "%0A": "\n", "%25": "%"}
_PROPERTY = {"%3A": ":", "%2C": ",", **_DATA}


@dataclass(frozen=True)
class Command:
    """A command that the runner obeys."""

    name: str
    properties: dict[str, str]
    message: str


def parse_commands(log: str) -> list[Command]:
    """Every command in a log, in either grammar; it is read as .NET reads lines."""
    parsed = (parse_new_grammar(line) or parse_old_grammar(line) for line in _LINES.split(log))
    return [command for command in parsed if command is not None]


def parse_new_grammar(line: str) -> Command | None:
    """`::name key=value,key=value::data` at the start of a line, white space aside."""
    line = line.lstrip()
    end = line.find("::", 2)
    if not line.startswith("::") or end < 0:
        return None
    return make_known_command(line[2:end], line[end + 2 :], ",", _DATA)


def parse_old_grammar(line: str) -> Command | None:
    """`##[name key=value;key=value]data` anywhere in a line."""
    start = line.find("##[")
    end = line.find("]", start)
    return None if start < 0 or end < 0 else make_known_command(line[start + 3 : end], line[end + 1 :], ";", _DATA)


def make_known_command(head: str, data: str, between: str, codes: dict[str, str]) -> Command | None:
    name, _, rest = head.strip().partition(" ")
    if name.lower() not in COMMANDS:
        return None
    pairs = (pair.split("=", 1) for pair in rest.split(between) if "=" in pair)
    return Command(
        name.lower(), {key.strip(): unescape(value, _PROPERTY) for key, value in pairs}, unescape(data, codes)
    )


def unescape(text: str, codes: dict[str, str]) -> str:
    for code, character in codes.items():
        text = text.replace(code, character)
    return text


def parse_outputs(text: str) -> dict[str, str]:
    """Parse the file of outputs. A runner fails the step if it can't be read."""
    assert text == "" or text.endswith("\n"), "EOF marker missing new line"
    lines, outputs = iter(text.split("\n")), {}
    for line in lines:
        if not line:
            continue
        equals, arrows = line.find("="), line.find("<<")
        if arrows < 0 or 0 <= equals < arrows:
            assert equals > 0, f"invalid format: {line}"
            outputs[line[:equals]] = line[equals + 1 :]
            continue
        name, end = line[:arrows], line[arrows + 2 :]
        assert name, "a name is missing"
        assert end, "a delimiter is missing"
        outputs[name] = "\n".join(read_until(lines, end))
    return outputs


def read_until(lines: Iterator[str], end: str) -> Iterator[str]:
    for line in lines:
        if line == end:
            return
        yield line
    raise AssertionError("matching delimiter not found")
