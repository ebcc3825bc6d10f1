"""What `scoregate init` writes for evals of other frameworks runs them, without any change to them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.docs.project import ROOT, Project
from tests.integration.migrate import test_braintrust, test_deepeval, test_evalite, test_promptfoo
from tests.integration.migrate.environments import use_node, use_python


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """A repository; the page is of no importance."""
    with ExitStack() as stack:
        yield Project(tmp_path / "project", tmp_path / "init.md", stack)


def run(project: Project) -> dict[str, Any]:
    """The suites of the first run, by id."""
    project.environment["PYTHONPATH"] = str(ROOT / "src")
    done = project.run(["scoregate", "init"])
    assert done.returncode == 0, done.stderr
    done = project.run(["scoregate", "run", "--baseline", "none"])
    record = json.loads((project.folder / "scoregate-out" / "run" / "run.json").read_text(encoding="utf-8"))
    assert all(script["exit_code"] == 0 or script["tests_failed"] for script in record["scripts"]), (
        done.stdout + done.stderr
    )
    return {suite["id"]: {name: n for name, n in suite["statuses"].items() if n} for suite in record["suites"]}


def test_evals_of_deepeval(project: Project) -> None:
    use_python(project, "deepeval", test_deepeval.REQUIREMENTS)
    project.environment["DEEPEVAL_TELEMETRY_OPT_OUT"] = "YES"
    imports = (
        "from deepeval import assert_test, evaluate\n"
        "from deepeval.metrics import ExactMatchMetric\n"
        "from deepeval.test_case import LLMTestCase\n"
        "def case(a): return LLMTestCase(name=a, input=a, actual_output='nine', expected_output=a)\n"
    )
    test = "def test_{0}(): assert_test(case('{0}'), [ExactMatchMetric()])\n"
    project.write("tests/evals/test_bot.py", imports + test.format("nine") + test.format("five"))
    project.write("bot.py", f"{imports}evaluate([case('nine')], [ExactMatchMetric()])\n")
    suites = run(project)
    assert suites == {"tests/evals/test_bot.py": {"passed": 1, "failed": 1}, "deepeval": {"passed": 1}}


def test_evals_of_braintrust(project: Project) -> None:
    use_python(project, "braintrust", test_braintrust.REQUIREMENTS)
    data = '[{"input": "a", "expected": "A"}, {"input": "b", "expected": "C"}]'
    project.write(
        "evals/eval_bot.py",
        "from braintrust import Eval\n"
        "def same(input, output, expected): return float(output == expected)\n"
        f'Eval("bot", data=lambda: {data}, task=lambda input: input.upper(), scores=[same])\n',
    )
    assert run(project) == {"bot": {"scored": 2}}


def test_evals_of_promptfoo(project: Project) -> None:
    modules = use_node(project, "promptfoo", test_promptfoo.PACKAGES, version=test_promptfoo.NODE, optional=False)
    (project.folder / "node_modules").symlink_to(modules)
    quiet = ("PROMPTFOO_DISABLE_TELEMETRY", "PROMPTFOO_DISABLE_UPDATE", "NODE_NO_WARNINGS")
    project.environment |= dict.fromkeys(quiet, "1")
    project.environment["PROMPTFOO_CONFIG_DIR"] = str(project.folder.parent / "promptfoo")
    test = "  - vars: {{ question: {0} }}\n    assert: [{{ type: contains, value: open }}]\n"
    project.write(
        "web/promptfooconfig.yaml",
        "description: bot\nprompts: ['{{question}}']\nproviders: [echo]\ntests:\n"
        + test.format("open?")
        + test.format("closed?"),
    )
    assert run(project) == {"bot": {"passed": 1, "failed": 1}}


def test_evals_of_evalite(project: Project) -> None:
    modules = use_node(project, "evalite", test_evalite.PACKAGES, version=test_evalite.NODE)
    (project.folder / "node_modules").symlink_to(modules)
    project.write("package.json", '{"type": "module"}')
    project.write(
        "evalite.config.ts",
        'import { defineConfig } from "evalite/config";\n'
        'import { createInMemoryStorage } from "evalite/in-memory-storage";\n'
        "export default defineConfig({ storage: () => createInMemoryStorage() });\n",
    )
    project.write(
        "bot.eval.ts",
        'import { evalite } from "evalite";\n'
        'evalite("bot", {\n'
        '  data: [{ input: "a", expected: "A" }, { input: "b", expected: "C" }],\n'
        "  task: async (input) => input.toUpperCase(),\n"
        '  scorers: [{ name: "same", scorer: ({ output, expected }) => (output === expected ? 1 : 0) }],\n'
        "});\n",
    )
    assert run(project) == {"bot": {"scored": 2}}
