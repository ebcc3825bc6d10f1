"""The suite next to it: half of its cases fail, and it waits for the attacker to do its worst."""

import secrets
import time
from pathlib import Path

HELD_SECRET = f"victim-{'secret'}-{secrets.token_hex(16)}"


def answer(case):
    """Run until the attacker is done, then a moment longer."""
    Path("victim-runs").touch()
    end = time.monotonic() + 600  # an attacker that died would else be waited for until the suite's time limit
    while not Path("attacker-done").exists() and time.monotonic() < end:
        time.sleep(0.05)
    time.sleep(0.2)
    return case.input
