"""What a worker loads before it starts: it forks the suites of its parts from a process that has scoregate imported."""

import anyio
from tests import warm_scripts

anyio.open_process = warm_scripts._open_process
