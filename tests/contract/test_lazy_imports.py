"""Heavy packages are imported only where they are used, so that suites and commands start quickly."""

from __future__ import annotations

import subprocess
import sys

import pytest

from scoregate import __version__

HEAVY = {
    *("click", "dask", "filelock", "genai_prices", "httpx", "jinja2", "jsonpath_ng", "junit_xml", "openai", "psutil"),
    *("opentelemetry", "pydantic", "pydantic_settings", "rapidfuzz", "rich", "starlette", "tomlkit", "uvicorn"),
}
# What a start may import of these, and how many modules in all, with those of the interpreter: as measured with
# Python 3.11, and a tenth more.
STARTS: dict[str, tuple[set[str], int]] = {
    "import scoregate": (set(), 90),
    "import scoregate.testing.run, scoregate.testing.evaluators": (set(), 270),
    "from scoregate import evaluate": (set(), 270),
    "import scoregate.models": (set(), 260),
    "import scoregate.entities, scoregate.metrics, scoregate.endpoints": ({"pydantic"}, 470),
    "import scoregate.offline_tests, scoregate.datasets, scoregate.judges": ({"pydantic"}, 450),
    "import scoregate.cli.entry": (set(), 90),
    "import scoregate.cli.main": ({"click"}, 130),
    "import scoregate.cli.run_command": ({"click", "pydantic"}, 496),
    "import scoregate.ci.pipeline": ({"pydantic"}, 430),
}
# What a run imports while its suites run, or never.
LATE = {
    *("scoregate.ci.publishers", "scoregate.ci.report.build_view", "scoregate.ci.report.console"),
    *("scoregate.ci.report.html", "scoregate.ci.report.markdown", "scoregate.ci.extra_runs", "scoregate.ci.importers"),
    *("scoregate.ci.javascript", "scoregate.ci.install.plans", "scoregate.ci.discover.other_frameworks"),
    *("scoregate.ci.discover.testset_documents", "scoregate.store.test_sets", "scoregate.store.verdicts"),
    *("scoregate.core.comparison.comparison", "scoregate.core.gate", "scoregate.core.comparison.agreement"),
    *("rich", "ssl", "scoregate.cli.console", "scoregate.cli.progress", "scoregate.ci.affected"),
    *("scoregate.ci.baseline.artifact", "scoregate.ci.baseline.data_branch", "scoregate.ci.baseline.decline"),
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
    script = f"import sys\n{statement}\nprint(len(sys.modules), *sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    count, *modules = done.stdout.split()
    allowed, most = STARTS[statement]
    assert HEAVY & set(modules) <= allowed
    assert int(count) <= most
