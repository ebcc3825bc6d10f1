"""The tools of MCP servers that settings name: each server is started or called once, at the end of a run."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import anyio
from anyio import to_thread

from scoregate.errors import McpServerError, MissingExtra
from scoregate.features.coverage.lists.schemas import read_document
from scoregate.features.coverage.lists.tools import ToolDefinition
from scoregate.kernel.host.isolation import kill_account
from scoregate.kernel.host.user_ids import new_identity, process_rights, with_home

_COMMAND = "mcp:"
_ADDRESSES = ("http://", "https://")
_LONGEST_NAME = 100
_START_S, _LONGEST_S = 30.0, 60.0


def names_server(reference: str) -> bool:
    """Whether an entry of `coverage_tools` is a server, and no file."""
    return reference.startswith((_COMMAND, *_ADDRESSES))


async def list_server_tools(reference: str, root: Path, environ: Mapping[str, str]) -> list[ToolDefinition]:
    """The tools that a server lists. A server that was started is killed with everything that it started.

    Args:
        reference: `mcp:` and a command, which runs as suites do, without keys; or an address.
        root: the project, where the command runs.
        environ: the host's environment, which says as which user suites run.

    Raises:
        ValueError: the server can't be reached, takes too long, or has no tools.
    """
    try:
        with anyio.fail_after(_LONGEST_S):
            listed = await _list_tools(reference, root, environ)
    except TimeoutError:
        raise ValueError(f"the MCP server didn't list its tools within {_LONGEST_S:g} s") from None
    except (McpServerError, MissingExtra) as error:
        # Its advice on time is for the argument of `mcp_server`; there is no such setting here.
        advice = "Is it an MCP server?" if getattr(error, "kind", "") == "timeout" else error.advice
        raise ValueError(f"{error.message}{f'. {advice}' if advice else ''}") from None
    if not listed:
        raise ValueError("the MCP server lists no tools")
    from scoregate.mcp_servers.tool_list import find_repeated

    if repeated := find_repeated(each.name for each in listed):
        raise ValueError(f"the MCP server lists two tools with the name {repeated:.100}")
    return listed


async def _list_tools(reference: str, root: Path, environ: Mapping[str, str]) -> list[ToolDefinition]:
    from scoregate.mcp_servers.definition import make_definition
    from scoregate.mcp_servers.session import open_session

    is_address = reference.startswith(_ADDRESSES)
    server = reference if is_address else shlex.split(reference.removeprefix(_COMMAND))
    definition = make_definition(server, folder=root, timeout=_START_S)
    words = (Path(each).name if n == 0 else each for n, each in enumerate(definition.command))
    shown = definition.name if is_address else " ".join(words)[:_LONGEST_NAME]
    identity = None if is_address else new_identity(environ)
    with tempfile.TemporaryDirectory(prefix="scoregate-", ignore_cleanup_errors=True) as scratch:
        home = dict(with_home(identity, {}, Path(scratch)))
        try:
            async with open_session(replace(definition, env=home, name=shown), process_rights(identity)) as session:
                tools = read_document({"tools": await session.list_tools()})
        finally:
            if identity is not None and identity.shared is not None:
                with anyio.CancelScope(shield=True):
                    await to_thread.run_sync(partial(kill_account, identity.uid, identity.gid))
    return [replace(tool, path=definition.name, line=0) for tool in tools]
