"""The entry point: explains what to install if only the SDK is installed."""

from __future__ import annotations

import sys
from contextlib import suppress

from scoregate.version import __version__

_NEEDED = ("click", "jinja2", "junit_xml", "psutil", "rich")


def main() -> None:
    """Run the command line and end the process with its exit code; 2 if required packages are missing."""
    if sys.argv[1:] == ["--version"]:
        # As the command line prints it, in half of the time. That one handles errors, such as a closed pipe.
        with suppress(OSError):
            print(f"scoregate, version {__version__}", flush=True)
            return
    from importlib.util import find_spec

    if missing := [name for name in _NEEDED if find_spec(name) is None]:
        print(f"error: the command line needs {', '.join(missing)}", file=sys.stderr)
        print("Run: pip install 'scoregate[cli]'", file=sys.stderr)
        sys.exit(2)
    from scoregate.cli.main import main as run

    run()
