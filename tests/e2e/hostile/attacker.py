"""The suite that attacks."""

import importlib
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "hostile"))
while not Path("victim-runs").exists():
    time.sleep(0.05)
# In this order: what lasts comes last.
for module in ("reading", "writing", "host"):
    importlib.import_module(module)
importlib.import_module("harness").run_attempts()
Path("attacker-done").touch()
