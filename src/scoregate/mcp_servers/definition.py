"""How an MCP server is reached: a command that it is started with, or an address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from urllib.parse import urlsplit

from scoregate.kernel.types.text import is_positive_number

# A server needs these to find programs, its caches and temporary files. Everything else, keys above all, is named.
INHERITED_VARIABLES = (
    *("HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"),
    *("APPDATA", "LOCALAPPDATA", "PATHEXT", "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE"),
)


@dataclass(frozen=True, slots=True)
class ServerDefinition:
    """How a server is reached. `make_definition` checks it.

    Attributes:
        name: the name in messages and records.
        command: the program and its arguments, which speaks over standard input and output.
        url: the address of a server with streamable HTTP, instead of a command.
        env: the variables of the command, besides `INHERITED_VARIABLES`.
        headers: headers of each request.
        folder: where the command runs; None for the working directory.
        timeout: the seconds that the server may take to start, and for each request.
    """

    name: str
    command: tuple[str, ...] = ()
    url: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    folder: str | None = None
    timeout: float = 30.0


def make_definition(
    server: str | Sequence[str],
    *,
    name: str = "",
    env: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    folder: str | Path | None = None,
    timeout: float = 30.0,
) -> ServerDefinition:
    """Check how a server is reached.

    Args:
        server: an address with http or https, or the program and its arguments.
        name: the name of the server; default: its address, or a word of the command.
        env: variables of the command.
        headers: headers of each request to an address.
        folder: where the command runs.
        timeout: the seconds to start, and for each request.

    Raises:
        ValueError: something is missing or has a wrong form.
    """
    if not is_positive_number(timeout):
        raise ValueError(f"timeout must be a number of seconds over 0, not {timeout!r:.60}")
    where = None if folder is None else str(folder)
    if isinstance(server, str):
        parts = urlsplit(server)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(
                f"an MCP server is an address with http or https, or a list of words of a command, not {server!r:.100}"
            )
        if env:
            raise ValueError("env is for a server that is started; a server with an address takes headers")
        shown = f"{parts.hostname}{f':{parts.port}' if parts.port else ''}{parts.path}"
        return ServerDefinition(name or shown, (), server, {}, dict(headers or {}), where, timeout)
    words = tuple(str(word) for word in server)
    if not words or not words[0] or any("\0" in word for word in words):
        raise ValueError("the command of an MCP server must name a program")
    if headers:
        raise ValueError("headers are for a server with an address; a server that is started takes env")
    return ServerDefinition(name or _name_command(words), words, "", dict(env or {}), {}, where, timeout)


def _name_command(words: Sequence[str]) -> str:
    """The part of a command that most likely names the server: the first argument that is no option."""
    named = next((word for word in words[1:] if not word.startswith("-")), words[0])
    return named if named.startswith("@") else PurePath(named).name
