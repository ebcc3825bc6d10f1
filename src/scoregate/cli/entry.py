"""The entry point: explains what to install if only the SDK is installed."""

from __future__ import annotations

import sys
from importlib.util import find_spec

_NEEDED = ("click", "jinja2", "junit_xml", "psutil", "pydantic_settings", "rich")


def main() -> None:
    """Run the command line and end the process with its exit code; 2 if required packages are missing."""
    if missing := [name for name in _NEEDED if find_spec(name) is None]:
        print(f"error: the command line needs {', '.join(missing)}", file=sys.stderr)
        print("Run: pip install 'scoregate[cli]'", file=sys.stderr)
        sys.exit(2)
    from scoregate.cli.main import main as run

    run()
