"""The suite after it: looks at what the attacker has left behind, and leaves the same."""

import contextlib
import json
import os
import time
from pathlib import Path

observations = {"user": os.getuid(), "home": sorted(os.listdir(os.environ["HOME"])), "alive": []}  # noqa: PTH208
attacker = json.loads(Path("attacker-user").read_text())
for name in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208
    with contextlib.suppress(OSError, StopIteration):
        status = Path(f"/proc/{name}/status").read_text().splitlines()
        state = next(line.split()[1] for line in status if line.startswith("State:"))
        uid = int(next(line.split()[1] for line in status if line.startswith("Uid:")))
        if uid == attacker and state not in "ZX":
            observations["alive"].append(int(name))
size = Path("beat").stat().st_size if Path("beat").exists() else 0
time.sleep(0.5)
observations["beats"] = size != (Path("beat").stat().st_size if Path("beat").exists() else 0)
for name in ("hostile", "full"):
    with contextlib.suppress(OSError):
        observations[name] = len(Path("/dev/shm", name).read_bytes())
Path("later.json").write_text(json.dumps(observations))
