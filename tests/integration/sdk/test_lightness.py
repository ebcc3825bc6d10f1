"""The SDK enters users' environments: it brings in nothing heavy."""

from __future__ import annotations

import subprocess
import sys

from tests.integration.sdk.scripts import Home

HEAVY = {
    "openai", "numpy", "pydantic", "httpx", "rich", "click", "jinja2", "psutil", "junit_xml", "pydantic_settings",
    "requests", "scipy", "pandas", "yaml", "sqlite3", "filelock", "genai_prices", "opentelemetry",
    "scoregate.kernel.host", "scoregate.kernel.judge", "scoregate.kernel.run", "scoregate.kernel.report",
    "scoregate.kernel.job", "scoregate.features", "scoregate.cli",
}  # fmt: skip
LATE = {
    "json", "scoregate.kernel.types.trace", "scoregate.grading", "scoregate.store", "scoregate.testing.battle_state",
    "scoregate.engine.summary",
}  # fmt: skip


def test_importing_the_sdk_imports_nothing_heavy() -> None:
    code = "import sys, scoregate.testing, scoregate.testing.evaluators, scoregate.testing.util; print(*sys.modules)"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert HEAVY & set(process.stdout.split()) == set()


def test_importing_the_entry_point_imports_no_reports() -> None:
    code = "import sys, scoregate.testing; print(*sys.modules)"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert LATE & set(process.stdout.split()) == set()


def test_importing_the_package_imports_little_without_the_client() -> None:
    code = """
import sys
before = set(sys.modules)
import scoregate
print(*(set(sys.modules) - before))
from scoregate import Client, Judgeval
assert Client is Judgeval is scoregate.Client
print(*sys.modules)
"""
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    light, complete = (set(line.split()) for line in process.stdout.splitlines())
    assert {name for name in light if name.startswith("scoregate")} == {"scoregate", "scoregate.version"}
    assert HEAVY & light == set()
    assert HEAVY & complete == {"pydantic"}


def test_importing_entities_imports_no_endpoints_or_models() -> None:
    code = "import sys, scoregate.entities; print(*sys.modules)"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names = set(process.stdout.split())
    assert HEAVY & names == {"pydantic"}
    assert not names & {"scoregate.endpoints", "scoregate.models", "tomlkit", "websockets"}


def test_a_suite_under_a_host_imports_nothing_heavy(home: Home) -> None:
    result = home.run("""
assert run_test_suite("demo", cases(3), lambda case: case["n"], [Good(), AsyncGood()], test_case_hash=["n"]).passed
print(*sys.modules)
""")
    assert result.code == 0
    assert HEAVY & set(result.out.split()) == set()


def test_the_sdk_prints_nothing_to_the_output(home: Home) -> None:
    result = home.run("""
print("mine")
run_test_suite("demo", cases(3), lambda case: print(case["n"]), [Good()], 1, test_case_hash=["n"])
""")
    assert (result.out, result.err) == ("mine\n0\n1\n2\n", "")
