"""An MCP server with useful tools, and with tools that misbehave. `python tool_server.py [MODE]`.

It speaks the protocol itself over standard input and output, as the import of the package `mcp` takes longer than the
tests. With the mode `package` it uses the package, also for streamable HTTP: `http PORT`. The modes `hang`, `print`,
`exit` and `flood` misbehave at the start. The file in LIST_FILE, if it exists, adds a tool to the list.
"""

import inspect
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, get_args

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


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def search(query: str, sort: Literal["newest", "nearest"] = "newest") -> dict[str, str]:
    """Search for opening hours."""
    return {"hit": f"{query}: from 9 to 17", "sort": sort}


def fail(reason: str) -> str:
    """Fail."""
    raise ValueError(reason)


def variables() -> list[str]:
    """The names of all variables."""
    return sorted(os.environ)


def hang(pid_file: str = "") -> str:
    """Never answer, and leave a process behind that has a session of its own."""
    if pid_file:
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
        Path(pid_file).write_text(f"{os.getpid()} {child.pid}")
    time.sleep(600)
    return ""


def stop() -> str:
    """End the process."""
    os.write(2, b"out of memory\n")
    os._exit(7)


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


def large(megabytes: int) -> str:
    """A large result."""
    return "x" * (megabytes << 20)


def add_tool(path: str) -> str:
    """Add a tool to the list, and to that of later processes."""
    Path(path).write_text("")
    TOOLS[later.__name__] = later
    return "added"


def later() -> str:
    """A tool that is not there at first."""
    return ""


_FUNCTIONS = (add, search, fail, variables, hang, stop, write, large, add_tool)
TOOLS: dict[str, Callable[..., Any]] = {function.__name__: function for function in _FUNCTIONS}
_TYPES = {int: "integer", str: "string", list: "array", dict: "object"}


def serve() -> None:
    """Answer the messages of standard input."""
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            answer = {"jsonrpc": "2.0", "id": message["id"], **_answer(message["method"], message.get("params") or {})}
            print(json.dumps(answer), flush=True)


def _answer(method: str, parameters: dict[str, Any]) -> dict[str, Any]:
    if method == "initialize":
        version, info = parameters["protocolVersion"], {"name": "tools", "version": "1"}
        return {"result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}}
    if method == "tools/list":
        return {"result": {"tools": list(map(_describe, TOOLS.values()))}}
    if method == "tools/call":
        return {"result": _call(parameters["name"], parameters.get("arguments") or {})}
    return {"error": {"code": -32601, "message": "Method not found"}}


def _describe(function: Callable[..., Any]) -> dict[str, Any]:
    """A tool as the package lists it."""
    signature = inspect.signature(function)
    fields = {each.name: _schema(each.annotation) for each in signature.parameters.values()}
    required = [each.name for each in signature.parameters.values() if each.default is each.empty]
    result = _schema(signature.return_annotation)
    if result["type"] != "object":
        result = {"type": "object", "properties": {"result": result}, "required": ["result"]}
    return {
        "name": function.__name__,
        "description": function.__doc__,
        "inputSchema": {"type": "object", "properties": fields, "required": required},
        "outputSchema": result,
    }


def _schema(annotation: Any) -> dict[str, Any]:
    values = [each for each in get_args(annotation) if isinstance(each, str)]
    kind = "string" if values else _TYPES[getattr(annotation, "__origin__", annotation)]
    return {"type": kind, **({"enum": values} if values else {})}


def _call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        result = TOOLS[name](**arguments)
    except Exception as error:
        text = {"type": "text", "text": f"Error executing tool {name}: {error}"}
        return {"content": [text], "isError": True}
    text = result if isinstance(result, str) else json.dumps(result)
    structured = result if isinstance(result, dict) else {"result": result}
    return {"content": [{"type": "text", "text": text}], "structuredContent": structured, "isError": False}


def serve_with_package() -> None:
    """Answer with the package `mcp`, over the standard streams or streamable HTTP."""
    try:
        from mcp.server.mcpserver import MCPServer
    except ImportError:  # version 1
        from mcp.server.fastmcp import FastMCP as MCPServer

    server = MCPServer("tools")
    for function in TOOLS.values():
        server.add_tool(function)
    if MODE == "package":
        server.run("stdio")
        return
    try:
        server.run("streamable-http", port=int(sys.argv[2]))
    except TypeError:
        server.settings.port = int(sys.argv[2])
        server.run("streamable-http")


if Path(os.environ.get("LIST_FILE", "") or "-").exists():
    TOOLS[later.__name__] = later
if MODE in ("package", "http"):
    serve_with_package()
else:
    serve()
