"""Sessions for those who work on scoregate: `.venv/bin/nox -s fast`; `nox --list` shows all.

They use the environment that nox itself runs in, the one that `pip install -e '.[dev]'` fills.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import nox

nox.options.default_venv_backend = "none"
nox.options.sessions = ["check", "fast"]
nox.needs_version = ">=2024.10"

TOOLS = Path(sys.executable).parent
NEEDS_MORE = ("process", "network", "browser", "container", "foreign", "slow")
FAST = " and ".join(f"not {marker}" for marker in NEEDS_MORE)


def run(session: nox.Session, tool: str, *arguments: str, **environment: str) -> None:
    """Run a tool of this environment, with these variables."""
    session.run(str(TOOLS / tool), *arguments, env=environment, external=True)


@nox.session
def check(session: nox.Session) -> None:
    """Check style, formatting, spelling and types."""
    run(session, "ruff", "check", ".")
    run(session, "ruff", "format", "--check", ".")
    run(session, "codespell")
    run(session, "mypy")


@nox.session
def fast(session: nox.Session) -> None:
    """Run the tests that need nothing but this process and git, in about a minute, with fewer generated examples."""
    # One worker more, as in other runs, would cost more for its imports than it gains.
    workers = f"--numprocesses={os.cpu_count()}"
    run(session, "python", "-m", "pytest", workers, "-m", FAST, *session.posargs, SCOREGATE_TEST_FAST="1")


@nox.session
def test(session: nox.Session) -> None:
    """Run all tests."""
    run(session, "python", "-m", "pytest", *session.posargs)


@nox.session
def coverage(session: nox.Session) -> None:
    """Measure which lines and branches of the package the fast tests run, and write htmlcov/."""
    run(session, "python", "-m", "pytest", "-m", FAST, "--cov", *session.posargs)
    run(session, "coverage", "html", "--quiet")


@nox.session
def docs(session: nox.Session) -> None:
    """Build the pages of the documentation into site/."""
    run(session, "zensical", "build", "--clean", *session.posargs)


@nox.session
def bench(session: nox.Session) -> None:
    """Run the benchmarks that need no other framework: short runs that fail where a limit is exceeded."""
    for script in ("calibration.py", "compare_speed.py", "redact_speed.py"):
        run(session, "python", f"benchmarks/{script}", "--check", *session.posargs)
