"""The process of an MCP server: messages line by line within limits, and the end of everything that it started."""

from __future__ import annotations

import os
import subprocess
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from secrets import token_hex
from typing import Any, NamedTuple, NoReturn

import anyio
from anyio.abc import Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from scoregate.agents.process import MARK_VARIABLE, keep_last, kill_processes
from scoregate.errors import McpServerError
from scoregate.mcp_servers.definition import INHERITED_VARIABLES, ServerDefinition

LONGEST_MESSAGE = 8 * 1024 * 1024
MOST_BYTES = 64 * 1024 * 1024
_SHOWN = 300
_END_S = 1.0


class MessageStreams(NamedTuple):
    """What a session reads messages from and writes them to."""

    read: Any
    write: Any


@asynccontextmanager
async def start_server(
    server: ServerDefinition,
    parse: Callable[[bytes], Any],
    dump: Callable[[Any], str],
    rights: Mapping[str, Any] | None = None,
) -> AsyncIterator[MessageStreams]:
    """Start a server for the length of the block. At the end, it and everything that it started is killed.

    A failure of the server cancels the block, and is raised in a group at its end.

    Args:
        server: the server.
        parse: reads a message from a line.
        dump: writes a message as a line.
        rights: further arguments of `open_process`, such as the user; None for none.

    Raises:
        McpServerError: it can't be started, ended, wrote something else than messages, or wrote too much.
    """
    mark = token_hex(16)
    child = await _open(server, mark, rights or {})
    errors: deque[bytes] = deque(maxlen=64)
    try:
        async with anyio.create_task_group() as tasks:
            # No buffer, so that a fast server can't fill the memory.
            received, read = anyio.create_memory_object_stream[Any](0)
            write, sent = anyio.create_memory_object_stream[Any](0)
            assert child.stderr is not None
            tasks.start_soon(keep_last, child.stderr, errors)
            tasks.start_soon(_Reader(server, child, errors, parse).read, received)
            tasks.start_soon(_write, child, sent, dump)
            with received, read, write, sent:
                yield MessageStreams(read, write)
            tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await _end(child, mark)


async def _open(server: ServerDefinition, mark: str, rights: Mapping[str, Any]) -> Process:
    inherited = {name: os.environ[name] for name in INHERITED_VARIABLES if name in os.environ}
    try:
        return await anyio.open_process(
            server.command,
            cwd=server.folder,
            env={**inherited, **server.env, MARK_VARIABLE: mark},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            **rights,
        )
    except (OSError, ValueError) as error:
        raise McpServerError(
            f"the MCP server {server.name} can't be started: {getattr(error, 'strerror', None) or error}",
            advice="Check its command: the program, and its arguments as a list of words.",
            kind="configuration_error",
        ) from None


class _Reader:
    """Passes each message of a server on. Whatever is no message, or too much, fails."""

    def __init__(
        self, server: ServerDefinition, child: Process, errors: deque[bytes], parse: Callable[[bytes], Any]
    ) -> None:
        self._server, self._child, self._errors, self._parse = server, child, errors, parse

    async def read(self, received: MemoryObjectSendStream[Any]) -> None:
        """Read until the server ends.

        Raises:
            McpServerError: always, as a server must not end before its client.
        """
        assert self._child.stdout is not None
        rest, total = bytearray(), 0
        async for chunk in self._child.stdout:
            total += len(chunk)
            rest += chunk
            if b"\n" in chunk:
                *lines, last = rest.split(b"\n")
                rest = bytearray(last)
                for line in lines:
                    await self._pass_on(bytes(line), received)
            if total > MOST_BYTES or len(rest) > LONGEST_MESSAGE:
                self._fail(
                    f"wrote more than {MOST_BYTES >> 20} MB"
                    if total > MOST_BYTES
                    else f"wrote a message of more than {LONGEST_MESSAGE >> 20} MB"
                )
        with anyio.move_on_after(_END_S):
            await self._child.wait()
        code = self._child.returncode
        text = " ".join(b"".join(self._errors)[-_SHOWN:].decode("utf-8", "replace").split())
        outcome = "closed its standard output" if code is None else f"ended with exit code {code}"
        self._fail(f"{outcome}{f': {text}' if text else ''}", kind="network_error")

    async def _pass_on(self, line: bytes, received: MemoryObjectSendStream[Any]) -> None:
        if not line.strip():
            return
        if len(line) > LONGEST_MESSAGE:
            self._fail(f"wrote a message of more than {LONGEST_MESSAGE >> 20} MB")
        try:
            message = self._parse(line)
        except ValueError:
            shown = " ".join(line[:_SHOWN].decode("utf-8", "replace").split())
            self._fail(
                f"wrote a line to its standard output that is not a message of MCP: {shown!r}",
                advice="Standard output is for messages only; print logs to standard error.",
                kind="json_parsing_error",
            )
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):  # the session is at its end
            await received.send(message)

    def _fail(self, what: str, *, advice: str = "", kind: str = "unexpected_error") -> NoReturn:
        raise McpServerError(f"the MCP server {self._server.name} {what}", advice=advice, kind=kind)


async def _write(child: Process, sent: MemoryObjectReceiveStream[Any], dump: Callable[[Any], str]) -> None:
    assert child.stdin is not None
    # The reader reports a server that ended.
    with suppress(OSError, anyio.ClosedResourceError, anyio.BrokenResourceError):
        async for message in sent:
            await child.stdin.send(dump(message).encode("utf-8", "replace") + b"\n")


async def _end(child: Process, mark: str) -> None:
    """Close the server's input, which asks it to end, and kill what is left."""
    assert child.stdin is not None
    with suppress(OSError, anyio.ClosedResourceError, anyio.BrokenResourceError):
        await child.stdin.aclose()
    with anyio.move_on_after(_END_S):  # a server may save something when its input ends
        await child.wait()
    kill_processes(child.pid, mark)
    with anyio.move_on_after(_END_S):
        await child.wait()
        await child.aclose()
