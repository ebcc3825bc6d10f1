"""Heavy packages are imported only where they are used, so that suites and commands start quickly."""

from __future__ import annotations

import subprocess
import sys

import pytest

from scoregate import __version__

HEAVY = {
    *("aiohttp", "anyio", "asyncio", "click", "dask", "filelock", "genai_prices", "httpx", "jinja2", "jsonpath_ng"),
    *("jsonschema", "junit_xml", "mcp", "multiprocessing", "numpy", "openai", "opentelemetry", "psutil", "pydantic"),
    *("pydantic_core", "pydantic_settings", "rapidfuzz", "rich", "sqlalchemy", "sqlite3", "starlette", "tomlkit"),
    *("uvicorn", "websockets"),
}
_SUITE = {"anyio", "asyncio", "pydantic_core"}
_COMMAND = {"anyio", "pydantic", "pydantic_core"}
# What a start may import of these, and how many modules of scoregate: as measured, and a tenth more. Modules of Python
# and of packages are not counted, since each version imports others.
STARTS: dict[str, tuple[set[str], int]] = {
    "import scoregate": (set(), 3),
    "import scoregate.testing.run, scoregate.testing.evaluators": (_SUITE, 72),
    "from scoregate import evaluate": (_SUITE, 54),
    "import scoregate.models": (_SUITE | {"sqlite3"}, 39),
    "import scoregate.entities, scoregate.metrics, scoregate.endpoints": (_SUITE | {"pydantic"}, 134),
    "import scoregate.offline_tests, scoregate.datasets, scoregate.judges": (_SUITE | {"pydantic"}, 120),
    "import scoregate.cli.entry": (set(), 5),
    "import scoregate.cli.main": ({"click"}, 6),
    "import scoregate.cli.run_command": (_COMMAND | {"click"}, 252),
    "import scoregate.kernel.job.pipeline": (_COMMAND, 162),
}
# What a run imports while its suites run, or never.
LATE = {
    *("scoregate.kernel.job.reports", "scoregate.kernel.report.build_view", "scoregate.kernel.report.console"),
    *(
        "scoregate.kernel.report.html",
        "scoregate.kernel.report.markdown",
        "scoregate.features.extras.repeats",
        "scoregate.features.imports.reader",
    ),
    *(
        "scoregate.features.setup.javascript",
        "scoregate.features.setup.install.plans",
        "scoregate.kernel.run.discover.other_frameworks",
    ),
    *("scoregate.kernel.run.discover.testset_documents", "scoregate.store.test_sets", "scoregate.store.verdicts"),
    *(
        "scoregate.kernel.job.baseline.rerun",
        "scoregate.kernel.job.github.client",
        "scoregate.kernel.job.publish.comment",
    ),
    *("scoregate.kernel.run.discover.skill_suites", "scoregate.kernel.types.skill_formats.formats"),
    *("scoregate.kernel.compare.comparison", "scoregate.kernel.gate", "scoregate.kernel.compare.agreement"),
    *(
        "rich",
        "ssl",
        "scoregate.cli.console",
        "scoregate.cli.progress",
        "scoregate.features.affected.choice",
        "scoregate.features.resume.interrupted_run",
    ),
    *(
        "scoregate.kernel.job.baseline.artifact",
        "scoregate.kernel.job.baseline.data_branch",
        "scoregate.features.decline.earlier_run",
    ),
}


def test_a_run_starts_suites_before_it_imports_reports() -> None:
    script = "import sys, scoregate.cli.run_command; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert LATE & set(done.stdout.split()) == set()


def test_the_version_needs_no_package_of_the_command_line() -> None:
    script = (
        "import sys; sys.argv[1:] = ['--version']; from scoregate.cli.entry import main; main(); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    line, modules = done.stdout.splitlines()
    assert line == f"scoregate, version {__version__}"
    assert HEAVY & set(modules.split()) == set()


@pytest.mark.parametrize("statement", STARTS)
def test_a_start_imports_no_heavy_package(statement: str) -> None:
    allowed, most = STARTS[statement]
    # What the allowed packages import themselves differs between their versions.
    bare = "".join(f"import {name}\n" for name in sorted(allowed))
    script = f"import sys\n{bare}bare = set(sys.modules)\n{statement}\nprint(*sys.modules.keys() - bare)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    modules = done.stdout.split()
    assert HEAVY & set(modules) <= allowed
    assert sum(name.partition(".")[0] == "scoregate" for name in modules) <= most
