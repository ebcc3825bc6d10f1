"""The SDK enters users' environments: it brings in nothing heavy."""

from __future__ import annotations

import subprocess
import sys

from tests.integration.sdk.scripts import Home

HEAVY = {
    "openai", "numpy", "pydantic", "httpx", "rich", "click", "jinja2", "psutil", "junit_xml", "pydantic_settings",
    "requests", "scipy", "pandas", "yaml", "sqlite3", "filelock", "genai_prices", "opentelemetry",
    "scoregate.ci", "scoregate.cli",
}  # fmt: skip
LATE = {
    "json", "scoregate.core.trace", "scoregate.grading", "scoregate.store", "scoregate.testing.battle_state",
    "scoregate.engine.summary",
}  # fmt: skip


def test_importing_the_sdk_imports_nothing_heavy() -> None:
    code = "import sys, scoregate.testing, scoregate.testing.evaluators, scoregate.testing.util; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert HEAVY & set(done.stdout.split()) == set()


def test_importing_the_entry_point_imports_no_reports() -> None:
    code = "import sys, scoregate.testing; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert LATE & set(done.stdout.split()) == set()


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
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    light, whole = (set(line.split()) for line in done.stdout.splitlines())
    assert {name for name in light if name.startswith("scoregate")} == {"scoregate", "scoregate.version"}
    assert HEAVY & light == set()
    assert HEAVY & whole == {"pydantic"}


def test_importing_entities_imports_no_endpoints_or_models() -> None:
    code = "import sys, scoregate.entities; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found = set(done.stdout.split())
    assert HEAVY & found == {"pydantic"}
    assert not found & {"scoregate.endpoints", "scoregate.models", "tomlkit", "websockets"}


def test_a_suite_under_a_host_imports_nothing_heavy(home: Home) -> None:
    found = home.run("""
assert run_test_suite("demo", cases(3), lambda case: case["n"], [Good(), AsyncGood()], test_case_hash=["n"]).passed
print(*sys.modules)
""")
    assert found.code == 0
    assert HEAVY & set(found.out.split()) == set()


def test_the_sdk_prints_nothing_to_the_output(home: Home) -> None:
    found = home.run("""
print("mine")
run_test_suite("demo", cases(3), lambda case: print(case["n"]), [Good()], 1, test_case_hash=["n"])
""")
    assert (found.out, found.err) == ("mine\n0\n1\n2\n", "")
