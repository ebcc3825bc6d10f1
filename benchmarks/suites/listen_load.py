"""The client of the servers that are measured, in a process of its own."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path


async def client(address: str) -> str:
    """Post everything to the address and return the JSON that the client prints."""
    script = Path(__file__).with_name("listen_client.py")
    env = {**os.environ, "AUTOBLOCKS_CLI_SERVER_ADDRESS": address}
    process = await asyncio.create_subprocess_exec(sys.executable, str(script), env=env, stdout=subprocess.PIPE)
    output, _ = await process.communicate()
    if process.returncode:
        raise SystemExit(f"the client exited {process.returncode}")
    return output.decode().strip()
