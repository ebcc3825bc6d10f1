"""An MCP server without the package, which sends what a package refuses to send. `python raw_tool_server.py MODE`.

The mode `version` answers with a version of the protocol that no client knows, `twice` lists a tool twice, and `nan`
sends NaN.
"""

import json
import sys

MODE = sys.argv[1]
TOOL = {"name": "read", "inputSchema": {"type": "object"}}
RESULTS = {
    "initialize": {
        "protocolVersion": "1999-01-01" if MODE == "version" else "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "raw", "version": "1"},
    },
    "tools/list": {"tools": [TOOL] * (2 if MODE == "twice" else 1)},
    "tools/call": {"content": [], "structuredContent": {"values": [1.5, float("nan")]}},
}

for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    known = message["method"] in RESULTS
    answer = {"result": RESULTS[message["method"]]} if known else {"error": {"code": -32601, "message": "unknown"}}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)
