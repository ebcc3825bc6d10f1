"""Heavy packages are imported only where they are used, so that suites and commands start quickly."""

from __future__ import annotations

import subprocess
import sys

import pytest

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
    "import scoregate.ci.pipeline": ({"click", "jinja2", "junit_xml", "pydantic", "pydantic_settings", "rich"}, 700),
}


@pytest.mark.parametrize("statement", STARTS)
def test_a_start_imports_no_heavy_package(statement: str) -> None:
    script = f"import sys\n{statement}\nprint(len(sys.modules), *sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    count, *modules = done.stdout.split()
    allowed, most = STARTS[statement]
    assert HEAVY & set(modules) <= allowed
    assert int(count) <= most
