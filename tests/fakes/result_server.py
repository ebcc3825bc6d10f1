"""An MCP server without the package mcp: its one tool `get` answers with the result that it is called with."""

import json
import sys

TOOL = {"name": "get", "inputSchema": {"type": "object"}}
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    parameters, method, answer = message.get("params") or {}, message["method"], {}
    if method == "initialize":
        version, info = parameters["protocolVersion"], {"name": "results", "version": "1"}
        answer["result"] = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    elif method == "tools/list":
        answer["result"] = {"tools": [TOOL]}
    elif method == "tools/call":
        answer["result"] = parameters["arguments"]
    else:
        answer["error"] = {"code": -32601, "message": "Method not found"}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)
