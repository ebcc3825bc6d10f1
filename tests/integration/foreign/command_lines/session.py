"""Runs a command beside a scripted provider, as a program: `unshare --net` gives it a network of its own.

Its argument is JSON: the command, its folder, and its variables, in which `{provider}` is the address of the provider.
It prints how the command ended, and the requests.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import struct
import subprocess
import sys
from typing import Any

from tests.features.gateway.provider import Prepared, Received, open_provider
from tests.integration.foreign.command_lines.provider import answer_agent

KEY = "sk-of-the-provider"
# The address of the outside world: nothing listens there.
_CLOSED = "http://127.0.0.1:9"
_PROXIES = {**dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY"), _CLOSED), "NO_PROXY": "127.0.0.1,localhost"}
_SET_FLAGS, _UP = 0x8914, 1
_TIMEOUT_S = 500


def main() -> None:
    """Run the command."""
    if os.environ.get("SCOREGATE_TEST_OWN_NETWORK"):
        _start_loopback()
    given = json.loads(sys.argv[1])
    with open_provider() as provider:
        provider.respond = _answer
        variables = {name: value.replace("{provider}", provider.url) for name, value in given["environment"].items()}
        done = subprocess.run(
            given["command"], cwd=given["folder"], env={**_PROXIES, **variables}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, check=False, timeout=_TIMEOUT_S,
        )  # fmt: skip
        requests = [_describe(each) for each in provider.received if each.method == "POST"]
    print(json.dumps({"exit_code": done.returncode, "output": done.stdout + done.stderr, "requests": requests}))


def _start_loopback() -> None:
    """Start the loopback of a new network, which has nothing else."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as request:
        fcntl.ioctl(request, _SET_FLAGS, struct.pack("16sh14x", b"lo", _UP))


def _answer(request: Received) -> Prepared:
    if KEY not in " ".join(request.headers.values()):
        return Prepared(b'{"error": {"message": "no key"}}', 401)
    return answer_agent(request)


def _describe(request: Received) -> dict[str, Any]:
    path = request.path.partition("?")[0]
    is_stream = "streamGenerateContent" in path or bool(json.loads(request.body).get("stream"))
    return {"path": path, "stream": is_stream, "has_key": KEY in " ".join(request.headers.values())}


if __name__ == "__main__":
    main()
