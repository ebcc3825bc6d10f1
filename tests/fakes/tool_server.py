"""An MCP server with useful tools, and with tools that misbehave. `python tool_server.py [MODE]`.

The modes `hang`, `print`, `exit` and `flood` misbehave at the start; `http PORT` serves streamable HTTP. The file in
LIST_FILE, if it exists, adds a tool to the list.
"""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Literal

# The package leads standard output elsewhere while a server runs, so that tools can print.
RAW = os.dup(1)
MODE = sys.argv[1] if len(sys.argv) > 1 else ""
if MODE == "hang":
    time.sleep(600)
if MODE == "print":
    print("Server is starting", flush=True)
if MODE == "exit":
    sys.exit("the key of the shop is missing")
if MODE == "flood":
    while True:
        os.write(RAW, b"x" * 65536)

try:
    from mcp.server.mcpserver import MCPServer
except ImportError:
    from mcp.server.fastmcp import FastMCP as MCPServer

server = MCPServer("tools")


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def search(query: str, sort: Literal["newest", "nearest"] = "newest") -> dict[str, str]:
    """Search for opening hours."""
    return {"hit": f"{query}: from 9 to 17", "sort": sort}


@server.tool()
def fail(reason: str) -> str:
    """Fail."""
    raise ValueError(reason)


@server.tool()
def variables() -> list[str]:
    """The names of all variables."""
    return sorted(os.environ)


@server.tool()
def hang(pid_file: str = "") -> str:
    """Never answer, and leave a process behind that has a session of its own."""
    if pid_file:
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
        Path(pid_file).write_text(f"{os.getpid()} {child.pid}")
    time.sleep(600)
    return ""


@server.tool()
def stop() -> str:
    """End the process."""
    os.write(2, b"out of memory\n")
    os._exit(7)


@server.tool()
def write(kind: str) -> str:
    """Write something else than messages: lines, a line without an end, or too many messages."""
    if kind == "text":
        os.write(RAW, b"loading 10%\n")
    while kind == "endless":
        os.write(RAW, b"x" * 65536)
    note = b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"%s"}}\n' % (
        b"x" * 60000
    )
    while kind == "messages":
        rest = note
        while rest:  # a signal may interrupt it
            rest = rest[os.write(RAW, rest) :]
    return "written"


@server.tool()
def large(megabytes: int) -> str:
    """A large result."""
    return "x" * (megabytes << 20)


@server.tool()
def add_tool(path: str) -> str:
    """Add a tool to the list, and to that of later processes."""
    Path(path).write_text("")
    server.add_tool(later, name="later")
    return "added"


def later() -> str:
    """A tool that is not there at first."""
    return ""


if Path(os.environ.get("LIST_FILE", "") or "-").exists():
    server.add_tool(later, name="later")
if MODE == "http":
    try:
        server.run("streamable-http", port=int(sys.argv[2]))
    except TypeError:
        server.settings.port = int(sys.argv[2])
        server.run("streamable-http")
else:
    server.run("stdio")
