"""What a worker loads before it starts: the process that forks the suites of commands forks those of its parts."""

import os
import socket
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

import anyio
from tests import warm_scripts

if handle := os.environ.pop(warm_scripts.SUITES_VARIABLE, ""):
    requests = warm_scripts.Server(None, socket.socket(fileno=int(handle)))
    warm_scripts.server = lambda *_: requests
    anyio.open_process = warm_scripts._open_process
