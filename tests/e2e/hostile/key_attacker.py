"""The suite that attacks the model gateway."""

import importlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "hostile"))
for module in ("reading", "gateway"):
    importlib.import_module(module)
importlib.import_module("harness").run_attempts()
Path("attacker-done").touch()
