"""Frameworks that send telemetry run in a network namespace that has loopback alone."""

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Sequence
from typing import NoReturn

_LOOPBACK_ALONE = ("unshare", "--user", "--map-root-user", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh")
SILENT = {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "YES",
    "DEEPEVAL_DISABLE_DOTENV": "1",
    "DEEPEVAL_FILE_SYSTEM": "READ_ONLY",
    "RAGAS_DO_NOT_TRACK": "true",
    "SCOREGATE_CACHE": "off",
}


def restart_isolated(script: str, options: Sequence[str] = ()) -> NoReturn:
    """Replace this process by one in a network namespace; without one where the machine has none.

    Args:
        script: the file of the benchmark, which gets the option `--isolated`.
        options: its other options.
    """
    command = [sys.executable, script, "--isolated", *options]
    if shutil.which("unshare") and subprocess.run([*_LOOPBACK_ALONE, "true"], check=False).returncode == 0:
        command = [*_LOOPBACK_ALONE, *command]
    os.execvp(command[0], command)


def name_network() -> str:
    """Return what the frameworks can reach."""
    names = [name for _, name in socket.if_nameindex()]
    if names == ["lo"]:
        return "loopback alone, in a namespace of its own"
    return f"NOT isolated, as this machine has no `unshare --net`; telemetry is off by {', '.join(SILENT)}"
