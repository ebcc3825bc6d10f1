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
NEEDS_MORE = ("process", "long", "network", "browser", "container", "foreign", "slow")
# Tests by the extras that they need: with fewer extras, the lowest versions of some packages are lower.
LOWEST_ROUNDS: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("endpoints", "examples", "pii", "synthesizers", "text", "traces"), ("tests/unit", "tests/contract")),
    (("endpoints", "examples", "pii", "synthesizers", "text", "traces"), ("tests/features", "-m", "not process")),
    (("endpoints",), ("tests/unit/endpoints", "tests/unit/entities")),
    (("cli",), ("tests/unit/kernel", "tests/unit/cli", "tests/unit/report")),
    ((), ("tests/unit/engine", "tests/unit/testing")),
)
LOWEST = ".venv-lowest"
FAST = " and ".join(f"not {marker}" for marker in NEEDS_MORE)


def run(session: nox.Session, tool: str, *arguments: str) -> None:
    """Run a tool of this environment."""
    session.run(str(TOOLS / tool), *arguments, external=True)


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
    run(session, "python", "-m", "pytest", workers, "-m", FAST, "--hypothesis-profile=fast", *session.posargs)


@nox.session(name="all")
def run_all(session: nox.Session) -> None:
    """Run all tests, also those that need a package index, packages of other languages or a container."""
    run(session, "python", "-m", "pytest", "--all", *session.posargs)


@nox.session
def random(session: nox.Session) -> None:
    """Run the tests of units, features and contracts with random examples, other ones each time."""
    paths = session.posargs or ("tests/unit", "tests/features", "tests/contract", "-m", "not process")
    run(session, "python", "-m", "pytest", "--hypothesis-profile=random", *paths)


@nox.session
def lowest(session: nox.Session) -> None:
    """Run the tests of units, features and contracts with the lowest version of every declared dependency."""
    python = f"{LOWEST}/bin/python"
    run(session, "uv", "venv", "--quiet", "--no-project", "--clear", LOWEST)
    run(session, "uv", "pip", "install", "--quiet", "--python", python, "--editable", ".[dev]")
    for extras, paths in LOWEST_ROUNDS:
        install_lowest(session, python, extras)
        session.run(python, "-m", "pytest", *paths, *session.posargs, external=True)


def install_lowest(session: nox.Session, python: str, extras: tuple[str, ...]) -> None:
    """Replace the dependencies of the package with the lowest versions that it declares."""
    options = [f"--extra={extra}" for extra in extras]
    target = f"{LOWEST}/lowest.txt"
    compiling = ("pip", "compile", "--quiet", "--resolution=lowest-direct", "--python", python, *options)
    run(session, "uv", *compiling, "pyproject.toml", "--output-file", target, "--no-header", "--no-annotate")
    run(session, "uv", "pip", "install", "--quiet", "--python", python, "--requirements", target)


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
    for script in ("calibration.py", "compare_speed.py", "interventions.py", "redact_speed.py"):
        run(session, "python", f"benchmarks/{script}", "--check", *session.posargs)
